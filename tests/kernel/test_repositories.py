"""What is asked of git once, and what is read from an index without git."""

from __future__ import annotations

import subprocess

import pytest

from loopwright.kernel import git, git_index
from loopwright.kernel.git import Repositories

LINK = (0o160000).to_bytes(4, "big")
WHO = ("-c", "user.name=a", "-c", "user.email=a@b")


def run(folder, *arguments):
    return subprocess.run(["git", *WHO, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path):
    run(tmp_path, "init", "-q")
    (tmp_path / "a.txt").write_text("a\n")
    run(tmp_path, "add", ".")
    run(tmp_path, "commit", "-qm", "one")
    return tmp_path


def test_head_is_read_when_asked_for_and_settings_once(repository, monkeypatch):
    repositories, asked = Repositories(), []
    carried = git._carried_settings
    monkeypatch.setattr(git, "_carried_settings", lambda folder: asked.append(folder) or carried(folder))
    first = repositories.discover(repository)
    run(repository, "commit", "-q", "--allow-empty", "-m", "two")
    assert repositories.known(repository) == first
    second = repositories.discover(repository)
    assert second.head != first.head
    assert second.settings == first.settings
    assert asked == [repository]


def test_a_folder_without_a_repository_is_asked_about_once(tmp_path):
    repositories = Repositories()
    assert repositories.known(tmp_path) is None
    run(tmp_path, "init", "-q")
    assert repositories.known(tmp_path) is None
    assert repositories.discover(tmp_path) is not None


@pytest.mark.parametrize("version", ["2", "4"])
def test_an_index_tells_what_it_does_not_contain_only_if_it_has_whole_paths(repository, version):
    run(repository, "update-index", "--index-version", version)
    index = repository / ".git" / "index"
    assert git_index.may_contain(index, b"a.txt")
    assert git_index.may_contain(index, b"secret/") == (version == "4")


def test_a_split_index_tells_nothing(repository):
    run(repository, "update-index", "--split-index")
    assert git_index.may_contain(repository / ".git" / "index", b"secret/")


def test_a_submodule_is_found_by_its_mode(repository):
    commit = run(repository, "rev-parse", "HEAD").strip()
    run(repository, "update-index", "--add", "--cacheinfo", f"160000,{commit},inner")
    assert git_index.may_contain(repository / ".git" / "index", LINK)


def test_a_missing_index_tells_nothing(tmp_path):
    assert git_index.may_contain(tmp_path / "index", b"secret/")
