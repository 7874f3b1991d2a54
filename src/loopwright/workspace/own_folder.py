"""Creates the `.loopwright` folder together with the chosen layout, atomically. Standard library only, for the hook.

A `.loopwright` folder without a config means the unified layout. So a folder that appears before its config, briefly or
after a crash, would turn an interop workspace into a unified one.
"""

from __future__ import annotations

import os

from loopwright.workspace import names


def make_own_folder(root: str, flavour: str) -> bool:
    """Create the folder with config and ignore rules; False if the folder exists."""
    own = os.path.join(root, names.OWN_FOLDER)
    if os.path.lexists(own):
        return False
    temporary = f"{own}.{os.getpid()}.{os.urandom(6).hex()}.tmp"
    config = os.path.basename(names.CONFIG)
    files = {config: names.config_text(flavour), ".gitignore": names.OWN_RULES}
    os.makedirs(temporary)
    try:
        for name, text in files.items():
            with open(os.path.join(temporary, name), "xb") as stream:
                stream.write(text.encode())
        # The ignore rules can be written again after a power cut. The chosen layout can't, so it is synced.
        for path in (os.path.join(temporary, config), temporary):
            _sync(path)
        os.rename(temporary, own)
    except OSError:
        for name in files:
            if os.path.lexists(os.path.join(temporary, name)):
                os.unlink(os.path.join(temporary, name))
        os.rmdir(temporary)
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
