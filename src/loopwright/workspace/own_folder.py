"""Makes the workspace's own folder and the choice of layout in one step. Standard library only: the hook uses it.

Without a config a folder of ours means the unified layout. So a folder that appears before its config, for a moment or
after a crash, would turn an interop workspace into a unified one.
"""

from __future__ import annotations

import os

from loopwright.workspace import names


def make_own_folder(root: str, flavour: str) -> bool:
    """Make the folder with config and ignore rules in it; False where it exists."""
    own = os.path.join(root, names.OWN_FOLDER)
    if os.path.lexists(own):
        return False
    unborn = f"{own}.{os.getpid()}.{os.urandom(6).hex()}.tmp"
    config = os.path.basename(names.CONFIG)
    files = {config: names.config_text(flavour), ".gitignore": names.OWN_RULES}
    os.makedirs(unborn)
    try:
        for name, text in files.items():
            with open(os.path.join(unborn, name), "xb") as stream:
                stream.write(text.encode())
        # Loopwright writes lost ignore rules again. A lost choice can not be restored.
        for path in (os.path.join(unborn, config), unborn):
            _sync(path)
        os.rename(unborn, own)
    except OSError:
        for name in files:
            if os.path.lexists(os.path.join(unborn, name)):
                os.unlink(os.path.join(unborn, name))
        os.rmdir(unborn)
        if not os.path.lexists(own):
            raise
        return False  # another process was faster
    return True


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
