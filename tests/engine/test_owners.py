"""A course that others can write to is not run for being found above a notebook; honest set-ups stay usable."""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import stat
from types import SimpleNamespace

import nbformat
import pytest

from autograder.authoring.sample_class import fill
from autograder.cli import check_notebook
from autograder.course.owners import other_writer
from tests.conftest import ROOT
from tests.helpers.terminal import autograder_here, python

NAME = "a1_scaled_dot_product"
OTHER = 12345  # a user who is nobody here
IN_A_NOTEBOOK = "from autograder import check\ndef softmax(x):\n    return x\ncheck('softmax')"
NOT_USED = "is not used as a course: others can write there."
takes_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")


@pytest.fixture
def shared_sandbox(sandbox, monkeypatch):
    """The command's checks run in this session's sandbox."""
    monkeypatch.setattr(check_notebook, "open_sandbox", lambda: contextlib.nullcontext(sandbox.students))


@pytest.fixture
def shared(tmp_path):
    """A folder with a course whose check leaves a marker, and below it a folder with a notebook."""
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
    """The notebook's own folder is never looked into, so the current folder is another one."""
    (folder / "elsewhere").mkdir()
    return autograder_here("check", folder / "mine" / "a1.ipynb", cwd=folder / "elsewhere")


def acts(shared):
    return (shared.parent / "acted").exists()


ACCEPTED = pytest.mark.parametrize("check", [lambda folder: in_a_notebook(folder / "mine"), from_elsewhere])
PLACES = pytest.mark.parametrize(
    "place", ["", "content", f"content/{NAME}", f"content/{NAME}/softmax/visible_tests.py"]
)


@pytest.mark.slow
@ACCEPTED
def test_a_course_of_ones_own_is_used(shared, check, shared_sandbox):
    done = check(shared)
    assert acts(shared), done.stdout + done.stderr
    assert NOT_USED not in done.stdout + done.stderr


@pytest.mark.slow
@ACCEPTED
def test_what_everybody_can_write_is_passed_over_and_that_is_said(shared, check, shared_sandbox):
    shared.chmod(0o777)
    done = check(shared)
    assert not acts(shared)
    said = " ".join(done.stdout.split())
    assert f"{shared}/content {NOT_USED} {shared} can be written by everybody (chmod o-w {shared})." in said
    assert "softmax" in said  # by what came with the kit
    assert "Traceback" not in done.stderr


@PLACES
def test_what_is_in_it_counts_as_the_way_to_it_does(shared, place):
    assert other_writer(shared / "content") is None
    (shared / place).chmod(0o777)
    assert other_writer(shared / "content").path == shared / place
    (shared / place).chmod(0o755)
    if os.getuid() == 0:
        os.chown(shared / place, OTHER, OTHER)
        assert other_writer(shared / "content").path == shared / place


@takes_root
def test_a_folder_with_the_sticky_bit_is_safe_on_the_way_and_unsafe_as_the_place(shared):
    shared.chmod(0o1777)
    assert other_writer(shared / "content") is None
    os.chown(shared / "content", OTHER, OTHER)
    assert other_writer(shared / "content").path == shared / "content"
    os.chown(shared / "content", 0, 0)
    (shared / "content").chmod(0o1777)
    assert other_writer(shared / "content").path == shared / "content"


def test_a_link_to_nothing_is_no_danger(shared):
    """Such as the lock that an editor leaves beside the file that is open."""
    (shared / "content" / NAME / ".#visible_tests.py").symlink_to("nobody@nowhere:1")
    assert other_writer(shared / "content") is None


USERS = {"root": (0, 0), "ana": (1000, 1000), "ben": (1001, 100), "jovyan": (1002, 100)}


@pytest.mark.parametrize(
    ("user", "group", "groups", "users", "is_safe"),
    [
        ("ana", 1000, {1000: ("ana", [])}, ["root", "ana", "ben"], True),  # Debian and Ubuntu, umask 002
        ("ana", 1000, {1000: ("ana", ["ben"])}, ["root", "ana", "ben"], False),  # ben was let in
        ("jovyan", 100, {100: ("users", [])}, ["root", "jovyan"], True),  # Jupyter's images
        ("jovyan", 100, {100: ("users", [])}, ["root", "ben", "jovyan"], False),  # a machine with more users
        ("ana", 0, {0: ("root", [])}, ["root", "ana"], True),  # OpenShift: any number, and group 0
    ],
)
def test_a_group_is_safe_if_nobody_else_is_in_it(shared, monkeypatch, user, group, groups, users, is_safe):
    number, first = USERS[user]
    entries = {name: SimpleNamespace(pw_name=name, pw_uid=u, pw_gid=g) for name, (u, g) in USERS.items()}
    by_number = {entries[name].pw_uid: entries[name] for name in {*users, *([user] if users else [])}}
    monkeypatch.setattr(os, "geteuid", lambda: number)
    monkeypatch.setattr(os, "getegid", lambda: first)
    monkeypatch.setattr(pwd, "getpwall", lambda: [entries[name] for name in users])
    monkeypatch.setattr(pwd, "getpwuid", by_number.__getitem__)
    monkeypatch.setattr(grp, "getgrgid", lambda g: SimpleNamespace(gr_name=groups[g][0], gr_mem=groups[g][1]))
    real = os.stat

    def owned(path, **how):
        """As if this user owned the folders here, in that group, with the umask 002."""
        found = real(path, **how)
        if not str(path).startswith(str(shared)):
            return found
        return SimpleNamespace(st_mode=found.st_mode | stat.S_IWGRP, st_uid=number, st_gid=group)

    monkeypatch.setattr("autograder.course.owners.Path.stat", lambda path, **how: owned(path, **how))
    assert (other_writer(shared / "content") is None) == is_safe


def test_on_windows_nobody_is_asked(shared, monkeypatch):
    shared.chmod(0o777)
    monkeypatch.delattr(os, "geteuid")
    assert other_writer(shared / "content") is None
