"""One hook at a time per session: a file that is made exclusively, and taken over when its process is gone."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

# A hook gives itself much less; whatever held a lock for longer is gone, though its number may be in use again.
_LONGEST_S = 120


class SessionLock:
    """A lock file that names its process."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._is_ours = False

    def __enter__(self) -> Self:
        self._is_ours = self._create() or (self._is_stale() and self._take_over())
        return self

    def __exit__(self, *problem: object) -> None:
        if self._is_ours:
            _remove(self._path)

    @property
    def is_ours(self) -> bool:
        """Whether we may go on."""
        return self._is_ours

    def _create(self) -> bool:
        # Made whole beside it and linked: nobody ever sees a lock without its process in it.
        draft = f"{self._path}.{os.getpid()}"
        try:
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            # Left by a dead process that had our number.
            _remove(draft)
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            try:
                os.write(handle, b"%d\n" % os.getpid())
            finally:
                os.close(handle)
            os.link(draft, self._path)
        except FileExistsError:
            return False
        finally:
            _remove(draft)
        return True

    def _is_stale(self) -> bool:
        try:
            found = os.lstat(self._path)
        except FileNotFoundError:
            return True
        if os.path.islink(self._path):
            return True  # never made by us, and never followed
        if abs(time.time() - found.st_mtime) > _LONGEST_S:
            return True
        holder = self._holder()
        return holder != "" and not is_alive(holder)

    def _holder(self) -> str:
        try:
            handle = os.open(self._path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            return ""
        try:
            return os.read(handle, 64).decode("ascii", "replace").partition("\n")[0].strip()
        except OSError:
            return ""
        finally:
            os.close(handle)

    def _take_over(self) -> bool:
        # Two may find the same stale lock: whoever moves it away goes on, the other finds a new one or none.
        aside = f"{self._path}.{os.getpid()}.stale"
        try:
            os.rename(self._path, aside)
        except FileNotFoundError:
            return self._create()
        except OSError:
            return False
        if os.path.isdir(aside) and not os.path.islink(aside):
            os.rmdir(aside)
        else:
            _remove(aside)
        return self._create()


def is_alive(pid: str) -> bool:
    """Whether a process of this number is there; what is no number is nobody's."""
    if not pid.isdecimal() or len(pid) > 9:
        return False
    if os.name == "nt":
        return True  # asking would be a signal there; the lock's age decides
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
