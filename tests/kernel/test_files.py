"""Durable files: the old bytes or the new ones, never something in between."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from loopwright.errors import StorageFailed
from loopwright.kernel import files, locks
from loopwright.kernel.locks import is_held, locked, try_lock


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(tmp_path, monkeypatch):
    path = tmp_path / "state"
    files.write_durably(path, b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            with pytest.raises(StorageFailed, match="No space left"):
                files.write_durably(path, b"new")
        assert path.read_bytes() == b"old"
        assert [p.name for p in tmp_path.iterdir()] == ["state"]


def test_several_files_are_durable_with_one_sync_of_each_folder(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(Path(f"/proc/self/fd/{handle}").readlink()))
    paths = {tmp_path / "a" / name: name.encode() for name in ("one", "two", "three")} | {tmp_path / "b" / "x": b"x"}
    files.write_all_durably(paths)
    assert {path: path.read_bytes() for path in paths} == paths
    assert len(synced) == 6
    assert synced[-2:] == [tmp_path / "a", tmp_path / "b"]


def test_a_file_that_can_be_restored_is_synced_only_where_it_could_be_cut_in_two(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    files.create_restorably(tmp_path / "small", b"x" * 4096)
    assert not synced
    files.create_restorably(tmp_path / "large", b"x" * 4097)
    assert len(synced) == 1
    assert [files.is_blank(data) for data in (b"", b"\0\0", b"\0X", b"\n")] == [True, True, False, False]


def test_a_name_that_is_taken_costs_no_write(tmp_path, monkeypatch):
    (tmp_path / "taken").symlink_to("nowhere")
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", lambda *_: pytest.fail("something was written"))
        assert not files.create_exclusively(tmp_path / "taken", b"x")
    monkeypatch.setattr(os.path, "lexists", lambda _: False)  # another process takes the name at this moment
    assert not files.create_exclusively(tmp_path / "taken", b"x")


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_a_mode_that_is_given_is_exact_and_without_one_the_umask_decides(tmp_path, umask):
    before = os.umask(umask)
    try:
        files.write_durably(tmp_path / "exact", b"", mode=0o640)
        files.write_durably(tmp_path / "usual", b"")
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("exact", "usual")]
    assert modes == [0o640, 0o666 & ~umask]


@pytest.mark.parametrize(
    "write",
    [
        lambda path: files.write_durably(path, b"", mode=0o640),
        lambda path: files.create_exclusively(path, b"", mode=0o640),
        files.make_private_folder,
    ],
)
def test_a_mode_holds_from_the_first_moment(tmp_path, monkeypatch, write):
    """Also before `chmod` makes it independent of the umask."""
    monkeypatch.setattr(os, "fchmod", lambda *_: None)
    monkeypatch.setattr(Path, "chmod", lambda *_: None)
    before = os.umask(0)
    try:
        write(tmp_path / "new")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 in (0o640, 0o700)


def test_only_plain_files_of_a_bounded_size_are_read(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "large").write_bytes(b"x" * ((1 << 20) + 1))
    assert files.read_regular_file(tmp_path / "file", most=5) == b"12345"
    for name, problem in (
        ("large", "[Errno 27] larger than 1 MiB"),
        ("fifo", "[Errno 22] a fifo, not a file"),
        (".", "[Errno 22] a folder, not a file"),
    ):
        with pytest.raises(OSError) as refused:  # noqa: PT011 -- the whole text is compared
            files.read_regular_file(tmp_path / name, most=1 << 20)
        assert str(refused.value) == f"{problem}: '{tmp_path / name}'"


def test_only_one_of_many_creates_a_file(tmp_path):
    path = tmp_path / "once"
    won = []
    threads = [
        threading.Thread(target=lambda n=n: won.append(n) if files.create_exclusively(path, b"%d" % n) else None)
        for n in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert path.read_bytes() == b"%d" % won[0]


def test_a_tree_with_locked_folders_and_links_is_removed_and_the_links_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    (outside / "precious").write_text("x")
    tree = tmp_path / "tree"
    (tree / "locked" / "deep").mkdir(parents=True)
    (tree / "locked" / "deep" / "file").write_text("x")
    (tree / "link").symlink_to(outside)
    (tree / "locked").chmod(0)
    files.remove_tree(tree)
    assert not tree.exists()
    assert (outside / "precious").exists()


def test_paths_are_shown_without_control_characters_or_broken_text():
    assert files.shown(b"caf\xe9\n") == "caf\\xe9\\n"
    assert files.shown("plain") == "plain"
    assert files.shown(7) == "7", "an open file"


def test_testing_a_lock_does_not_block_it(tmp_path):
    path = tmp_path / "lock"
    path.touch()
    is_over = threading.Event()

    def look():
        while not is_over.is_set():
            is_held(path)

    lookers = [threading.Thread(target=look) for _ in range(3)]
    for one in lookers:
        one.start()
    for _ in range(2000):
        lock = try_lock(path)
        assert lock is not None
        lock.release()
    is_over.set()
    for one in lookers:
        one.join()
    assert not is_held(path)
    assert not is_held(tmp_path / "none" / "lock")
    assert not (tmp_path / "none").exists()


def test_the_first_holder_of_a_lock_after_a_restart_is_told(tmp_path, monkeypatch):
    path, boot = tmp_path / "lock", tmp_path / "boot_id"
    monkeypatch.setattr(locks, "_BOOT", boot)

    def is_first():
        with locks.locked_first(path) as first:
            return first

    boot.write_text("one\n")
    assert [is_first(), is_first()] == [True, False]
    boot.write_text("two\n")
    with suppress(RuntimeError), locks.locked_first(path):
        raise RuntimeError
    assert [is_first(), is_first()] == [True, False], "a block that failed does not count"
    boot.unlink()
    assert [is_first(), is_first()] == [True, True], "without a boot id, every block is the first"


def test_a_lock_is_held_until_it_is_released(tmp_path):
    path = tmp_path / "lock"
    held = try_lock(path)
    assert held is not None
    assert try_lock(path) is None
    assert is_held(path)
    held.release()
    assert not is_held(path)


def test_a_lock_is_released_once(tmp_path):
    held = try_lock(tmp_path / "lock")
    held.release()
    other = os.open(tmp_path / "lock", os.O_RDONLY)  # gets the same number
    held.release()
    os.close(other)


def test_a_lock_whose_file_was_removed_meanwhile_is_taken_again(tmp_path, monkeypatch):
    path, removed = tmp_path / "lock", []

    def remove_first(handle, operation, real=fcntl.flock):
        real(handle, operation)
        if not removed:
            removed.append(path.unlink())

    monkeypatch.setattr(fcntl, "flock", remove_first)
    held = try_lock(path)
    assert is_held(path)
    held.release()


@pytest.mark.parametrize("times", [2, 100, 101])
def test_a_folder_that_other_processes_remove_is_made_again(tmp_path, monkeypatch, times):
    failures = iter([FileNotFoundError(2, "No such file or directory")] * times)

    def remove_again(*arguments, real=os.open):
        for failure in failures:
            raise failure
        return real(*arguments)

    monkeypatch.setattr(os, "open", remove_again)
    if times < 101:
        try_lock(tmp_path / "lock").release()
    else:
        with pytest.raises(StorageFailed, match=f"can't write {tmp_path}/lock: No such file"):
            try_lock(tmp_path / "lock")


def test_many_writers_lose_no_update(tmp_path):
    path = tmp_path / "counter"
    files.write_durably(path, b"0")

    def count():
        for _ in range(25):
            with locked(tmp_path / "lock"):
                files.write_durably(path, b"%d" % (int(path.read_bytes()) + 1))

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() == b"200"


def test_parts_of_untrusted_files_are_read_without_following_links(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "fifo")
    assert files.read_head(tmp_path / "file", 5) == (b"12345", False)
    assert files.read_head(tmp_path / "file", 4) == (b"1234", True)
    for name in ("link", "fifo", "."):
        with pytest.raises(OSError, match=r"symbolic|not a file") as refused:
            files.read_head(tmp_path / name, 5)
        assert Path(refused.value.filename) == tmp_path / name
    assert sorted(files.list_folder(tmp_path)) == ["fifo", "file", "link"]
    (tmp_path / "folder").symlink_to(tmp_path)
    for name in ("folder", "file"):
        with pytest.raises(NotADirectoryError):
            files.list_folder(tmp_path / name)


def test_a_file_is_overwritten_in_place_and_never_through_a_link(tmp_path):
    path = tmp_path / "file"
    files.overwrite(path, b"long content")
    inode = path.stat().st_ino
    files.overwrite(path, b"short")
    assert (path.read_bytes(), path.stat().st_ino) == (b"short", inode)
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(StorageFailed):
        files.overwrite(tmp_path / "link", b"x")
    assert path.read_bytes() == b"short"


def test_a_damaged_file_goes_to_the_next_free_name(tmp_path):
    path = tmp_path / "journal"
    assert files._free_name(path).name == "journal.damaged-1"
    (tmp_path / "journal.damaged-1").symlink_to("nowhere")
    path.write_bytes(b"one")
    assert files.copy_aside(path).name == "journal.damaged-2"
    assert path.read_bytes() == b"one"
    assert files.set_aside(path).name == "journal.damaged-3"
    assert not path.exists()
    assert (tmp_path / "journal.damaged-2").read_bytes() == (tmp_path / "journal.damaged-3").read_bytes() == b"one"


def test_a_folder_full_of_damaged_copies_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(os.path, "lexists", lambda _: True)
    with pytest.raises(StorageFailed, match=f"too many damaged copies next to {tmp_path}"):
        files.set_aside(tmp_path)


def test_temporary_files_of_dead_processes_are_removed(tmp_path, reaped, monkeypatch):
    mark = "0123456789ab"
    dead, alive = f".a.{reaped}.{mark}.tmp", f".a.{os.getpid()}.{mark}.tmp"
    kept = {alive, f".a.{reaped}.tmp", f".a.{reaped}.{mark}.tmp2", f"a.{reaped}.{mark}.tmp", "outside"}
    for name in (dead, *kept):
        (tmp_path / name).write_text("x")
    (tmp_path / f".folder.{reaped}.{mark}.tmp").mkdir()
    (tmp_path / f".folder.{reaped}.{mark}.tmp" / "file").touch()
    (tmp_path / f".link.{reaped}.{mark}.tmp").symlink_to(tmp_path / "outside")
    files.remove_stale_temporaries(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == kept
    monkeypatch.setattr(Path, "glob", lambda *_: [tmp_path / dead])  # another process removed it meanwhile
    files.remove_stale_temporaries(tmp_path)


def test_a_process_is_asked_for_without_a_signal(monkeypatch):
    signals = []
    before = signal.signal(signal.SIGHUP, lambda number, _: signals.append(number))
    try:
        assert files._is_alive(os.getpid())
    finally:
        signal.signal(signal.SIGHUP, before)
    assert signals == []


@pytest.fixture
def reaped():
    """The id of a process that has ended."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


def test_what_an_untrusted_process_put_at_a_path_is_removed(tmp_path):
    (tmp_path / "outside").write_text("x")
    parent = tmp_path / "parent"
    (parent / "folder" / "inner").mkdir(parents=True)
    (parent / "link").symlink_to(tmp_path)
    (parent / "file").touch()
    for name in ("folder", "link", "file", "missing"):
        files.clear_path(parent / name)
    assert list(parent.iterdir()) == []
    assert (tmp_path / "outside").exists()


def test_a_private_folder_is_for_its_owner_only(tmp_path):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True, mode=0o755)
    files.make_private_folder(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (OSError(28, "No space left on device"), "can't write /a/b: No space left on device", "free some space"),
        (OSError(13, "Permission denied", "/c"), "can't write /c: Permission denied", "check the owner"),
        (OSError("odd"), "can't write /a/b: OSError", "check that path, then run `loopwright doctor`"),
    ],
)
def test_an_error_of_the_system_names_the_path_and_what_to_do(error, message, hint):
    with pytest.raises(StorageFailed) as failed, files.storage(Path("/a/b")):
        raise error
    assert failed.value.message == message
    assert failed.value.hint.startswith(hint)


@pytest.mark.parametrize(
    ("mode", "kind"),
    [(0o010644, "fifo"), (0o140644, "socket"), (0o020644, "device"), (0o060644, "device"), (0o100644, None),
     (0o040755, None)],
)  # fmt: skip
def test_special_files_have_a_kind(mode, kind):
    assert files.special_kind(mode) == kind


def test_every_file_and_every_folder_of_a_tree_is_synced(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(Path(f"/proc/self/fd/{handle}").readlink()))
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "one").touch()
    (tmp_path / "a" / "b" / "two").touch()
    files.sync_tree(tmp_path / "a")
    assert set(synced) == {tmp_path / "a", tmp_path / "a/b", tmp_path / "a/one", tmp_path / "a/b/two"}
    (tmp_path / "a" / "link").symlink_to("one")
    with pytest.raises(StorageFailed):
        files.sync_tree(tmp_path / "a")


def test_a_tree_that_rmtree_cannot_remove_is_removed_level_by_level(tmp_path, monkeypatch):
    def fail(_):
        raise RecursionError

    monkeypatch.setattr("shutil.rmtree", fail)
    tmp_path.chmod(0o755)
    (tmp_path / "outside").write_text("x")
    deepest = tmp_path / "tree" / "/".join(["deep"] * 50)
    deepest.mkdir(parents=True)
    for folder in (deepest, deepest.parent, tmp_path / "tree"):
        (folder / "file").touch()
        (folder / "link").symlink_to(tmp_path)
        (folder / "empty").mkdir()
    files.remove_tree(tmp_path / "tree")
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert tmp_path.stat().st_mode & 0o777 == 0o755, "a link was followed"
    (tmp_path / "link").symlink_to(tmp_path)
    files.remove_tree(tmp_path / "link")
    files.remove_tree(tmp_path / "missing")
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]


def test_a_lock_knows_whether_it_was_used_since_the_machine_started(tmp_path, monkeypatch):
    path, boot = tmp_path / "lock", tmp_path / "boot_id"
    monkeypatch.setattr(locks, "_BOOT", boot)
    assert not locks.was_used_since_boot(path)
    boot.write_text("one\n")
    assert not locks.was_used_since_boot(path)
    with locks.locked_first(path):
        assert not locks.was_used_since_boot(path)
    assert locks.was_used_since_boot(path)
    boot.write_text("two\n")
    assert not locks.was_used_since_boot(path)


def test_a_folder_can_be_the_lock(tmp_path):
    with locks.locked_folder(tmp_path):
        assert is_held(tmp_path)
    assert not is_held(tmp_path)
    with locks.locked_folder(tmp_path / "missing"):
        assert not (tmp_path / "missing").exists()


def test_a_lock_whose_file_is_a_link_is_refused(tmp_path):
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    for use in (try_lock, is_held):
        with pytest.raises(StorageFailed):
            use(tmp_path / "lock")
    assert not (tmp_path / "elsewhere").exists()


def test_a_new_file_is_durable_and_so_is_its_name(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(Path(f"/proc/self/fd/{handle}").readlink()))
    assert files.create_exclusively(tmp_path / "new", b"x")
    assert [synced[0].parent, synced[1]] == [tmp_path, tmp_path]
    assert files._TEMPORARY.fullmatch(synced[0].name), "a name that is removed after a crash"
    files.replace_without_sync(tmp_path / "new", b"y")
    assert (tmp_path / "new").read_bytes() == b"y"
    assert len(synced) == 2


def test_access_to_a_folder_is_restored_if_any_of_it_is_missing(tmp_path, monkeypatch):
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o755)
    files.restore_access(folder)
    assert folder.stat().st_mode & 0o777 == 0o755
    asked = []
    monkeypatch.setattr(os, "access", lambda *arguments: asked.append(arguments))
    files.restore_access(folder)
    assert asked == [(folder, os.R_OK | os.W_OK | os.X_OK)]
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_is_open_to_all_but_for_the_umask(tmp_path):
    before = os.umask(0o022)
    try:
        files.make_folder(tmp_path / "folder")
    finally:
        os.umask(before)
    assert (tmp_path / "folder").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize("make", [lambda path: try_lock(path).release(), lambda path: files.overwrite(path, b"")])
def test_a_new_file_is_no_program(tmp_path, make):
    before = os.umask(0)
    try:
        make(tmp_path / "file")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666
