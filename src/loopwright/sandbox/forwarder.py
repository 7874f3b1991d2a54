"""Inside a sandbox without a network: forwards connections to the one socket that leads out, then runs the command.

Runs as a program: forwarder.py FOLDER PROXY-PORT PORTS COMMAND ARGUMENT…, with the standard library only. FOLDER holds
the socket. Connections to PROXY-PORT are forwarded unchanged. Connections to each of PORTS (separated by commas) become
a request for that port of the host. The forwarder is not a security boundary: the agent may end it. It ends with the
sandbox.
"""

import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress

SOCKET = "network"
CANT_LISTEN = 125
_LOOPBACK = "127.0.0.1"
_CHUNK = 1 << 16
_RETRY_S = 0.1


def pump(source: "socket.socket", target: "socket.socket") -> None:
    """Forward one direction until it ends. A broken connection ends the other one, so that no thread keeps waiting."""
    try:
        while data := source.recv(_CHUNK):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for broken in (source, target):
            with suppress(OSError):
                broken.shutdown(socket.SHUT_RDWR)


def forward(connection: "socket.socket", port: int) -> None:
    """Forward one connection to `port` on the host; 0 if the client itself names its target."""
    with connection, suppress(OSError, RuntimeError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as out:
        out.connect(SOCKET)
        if port and not has_tunnel(out, f"{_LOOPBACK}:{port}"):
            return
        back = threading.Thread(target=pump, args=(out, connection), daemon=True)
        back.start()
        pump(connection, out)
        back.join()


def has_tunnel(out: "socket.socket", address: str) -> bool:
    """Request a tunnel, and return whether it was granted. Reads exactly the head of the answer."""
    out.sendall(f"CONNECT {address} HTTP/1.1\r\nhost: {address}\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        piece = out.recv(1)
        if not piece:
            return False
        head += piece
    return head.split(b" ", 2)[1:2] == [b"200"]


def listen(port: int) -> "socket.socket":
    """Listen on a port of the sandbox's own loopback interface."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((_LOOPBACK, port))
    listener.listen(64)
    return listener


def serve(listener: "socket.socket", port: int) -> None:
    """Forward every connection to one port."""
    while True:
        try:
            connection, _ = listener.accept()
            threading.Thread(target=forward, args=(connection, port), daemon=True).start()
        except (OSError, RuntimeError):
            # Too many connections at once. Try again later.
            time.sleep(_RETRY_S)


def main() -> int:
    """Listen, fork a child that forwards, and become the command."""
    folder, proxy, ports, command = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    try:
        listeners = [(listen(proxy), 0), *((listen(int(port)), int(port)) for port in ports.split(",") if port)]
    except OSError as problem:
        sys.stderr.write(f"loopwright: can't listen in the sandbox: {problem}\n")
        return CANT_LISTEN
    if os.fork() == 0:  # noqa: TID251 -- a separate program that runs inside the sandbox
        # A socket path must be short, so the child connects from inside the socket's folder.
        os.chdir(folder)
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):  # readers of the command's output must not wait for this process
            os.dup2(silent, stream)
        threads = [threading.Thread(target=serve, args=arguments) for arguments in listeners]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return 0
    for listener, _ in listeners:
        listener.close()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, os.environ)  # noqa: TID251, S606 -- becomes the command
    except OSError as problem:
        sys.stderr.write(f"{command[0]}: {problem.strerror}\n")
        return 127


if __name__ == "__main__":
    sys.exit(main())
