"""A course that other users can write to is not used for notebooks below it. Common set-ups still work."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from types import SimpleNamespace

import nbformat
import pytest

from autograder.authoring.sample_class import fill
from autograder.course.owners import other_writer
from tests.conftest import ROOT
from tests.helpers.terminal import autograder_here, python

NAME = "a1_scaled_dot_product"
OTHER = 12345  # an unknown user
IN_A_NOTEBOOK = "from autograder import check\ndef softmax(x):\n    return x\ncheck('softmax')"
NOT_USED = "is not used as a course: others can write there."
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")


@pytest.fixture
def shared(tmp_path):
    """A folder with a notebook, inside a course whose visible tests leave a marker file."""
    folder = tmp_path / "shared"
    exercise = folder / "content" / NAME / "softmax"
    exercise.mkdir(parents=True)
    (exercise / "visible_tests.py").write_text(f"import os\nos.mknod({str(tmp_path / 'acted')!r})\n")
    (folder / "content" / "course.toml").touch()
    (exercise / "hint.toml").write_text('section = "1. Softmax"\n')
    (folder / "source").mkdir()
    (folder / "nbgrader_config.py").touch()
    (folder / "mine").mkdir()
    nbformat.write(fill(ROOT / "assignments" / NAME / "scaled_dot_product.ipynb", {}), folder / "mine" / "a1.ipynb")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def in_a_notebook(folder):
    return python("-c", IN_A_NOTEBOOK, cwd=folder)


def from_elsewhere(folder):
    """The command, which uses only a course that is named."""
    return autograder_here("check", folder / "mine" / "a1.ipynb", "--course", folder)


def has_run(shared):
    return (shared.parent / "acted").exists()


PLACES = pytest.mark.parametrize(
    "place", ["", "content", f"content/{NAME}", f"content/{NAME}/softmax/visible_tests.py"]
)


@pytest.mark.slow
@pytest.mark.parametrize("check", [lambda folder: in_a_notebook(folder / "mine"), from_elsewhere])
def test_own_course_is_used(shared, check, shared_sandbox):
    done = check(shared)
    assert has_run(shared), done.stdout + done.stderr
    assert NOT_USED not in done.stdout + done.stderr


@pytest.mark.slow
def test_course_that_everybody_can_write_is_reported_and_not_used(shared):
    shared.chmod(0o777)
    done = in_a_notebook(shared / "mine")
    assert not has_run(shared)
    output = " ".join(done.stdout.split())
    assert f"{shared}/content {NOT_USED} {shared} can be written by everybody (chmod o-w {shared})." in output
    assert "softmax" in output  # from the installed course
    assert "Traceback" not in done.stderr


@PLACES
def test_folders_above_and_files_inside_are_checked(shared, place):
    assert other_writer(shared / "content") is None
    (shared / place).chmod(0o777)
    assert other_writer(shared / "content").path == shared / place
    (shared / place).chmod(0o755)
    if os.getuid() == 0:
        os.chown(shared / place, OTHER, OTHER)
        assert other_writer(shared / "content").path == shared / place


@needs_root
def test_sticky_bit_is_safe_above_the_course_but_not_on_it(shared):
    shared.chmod(0o1777)
    assert other_writer(shared / "content") is None
    os.chown(shared / "content", OTHER, OTHER)
    assert other_writer(shared / "content").path == shared / "content"
    os.chown(shared / "content", 0, 0)
    (shared / "content").chmod(0o1777)
    assert other_writer(shared / "content").path == shared / "content"


def test_dangling_link_is_accepted(shared):
    """Editors create such links as locks next to open files."""
    (shared / "content" / NAME / ".#visible_tests.py").symlink_to("nobody@nowhere:1")
    assert other_writer(shared / "content") is None


USERS = {"root": (0, 0), "ana": (1000, 1000), "ben": (1001, 100), "jovyan": (1002, 100)}


@pytest.mark.parametrize(
    ("user", "group", "groups", "users", "is_safe"),
    [
        ("ana", 1000, {1000: ("ana", [])}, ["root", "ana", "ben"], True),  # Debian and Ubuntu, umask 002
        ("ana", 1000, {1000: ("ana", ["ben"])}, ["root", "ana", "ben"], False),  # ben is a member
        ("jovyan", 100, {100: ("users", [])}, ["root", "jovyan"], True),  # Jupyter's images
        ("jovyan", 100, {100: ("users", [])}, ["root", "ben", "jovyan"], False),  # another user shares the group
        ("ana", 0, {0: ("root", [])}, ["root", "ana"], True),  # OpenShift: any user id, and group 0
    ],
)
def test_group_without_other_members_is_safe(shared, monkeypatch, user, group, groups, users, is_safe):
    number, first = USERS[user]
    entries = {name: SimpleNamespace(pw_name=name, pw_uid=u, pw_gid=g) for name, (u, g) in USERS.items()}
    by_number = {entries[name].pw_uid: entries[name] for name in {*users, *([user] if users else [])}}
    monkeypatch.setattr(os, "geteuid", lambda: number)
    monkeypatch.setattr(os, "getegid", lambda: first)
    monkeypatch.setattr(pwd, "getpwall", lambda: [entries[name] for name in users])
    monkeypatch.setattr(pwd, "getpwuid", by_number.__getitem__)
    monkeypatch.setattr(grp, "getgrgid", lambda g: SimpleNamespace(gr_name=groups[g][0], gr_mem=groups[g][1]))
    real = os.stat

    def owned(path, **options):
        """Pretend that this user and group own the folders, with umask 002."""
        found = real(path, **options)
        if not str(path).startswith(str(shared)):
            return found
        return SimpleNamespace(st_mode=found.st_mode | stat.S_IWGRP, st_uid=number, st_gid=group)

    monkeypatch.setattr("autograder.course.owners.Path.stat", lambda path, **options: owned(path, **options))
    assert (other_writer(shared / "content") is None) == is_safe


def test_windows_has_no_owner_check(shared, monkeypatch):
    shared.chmod(0o777)
    monkeypatch.delattr(os, "geteuid")
    assert other_writer(shared / "content") is None
