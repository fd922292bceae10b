"""Python or a place below a symlinked folder: bubblewrap 0.12 mounts nothing below a link in the sandbox."""

from __future__ import annotations

import subprocess

import pytest

from cellcage.backends import bubblewrap
from cellcage.machine import backend

BUBBLEWRAP = backend("bubblewrap")
READ = "import sys; print(open(sys.argv[1]).read())"

pytestmark = pytest.mark.skipif(BUBBLEWRAP.why_not() is not None, reason="bubblewrap does not work here")


def read(places, path):
    done = subprocess.run([*BUBBLEWRAP.command(places), READ, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def course(tmp_path):
    """A folder that is also reached by a link to the folder above it."""
    folder = tmp_path / "data" / "course"
    folder.mkdir(parents=True)
    (folder / "suite").write_text("secret")
    (tmp_path / "home").symlink_to("data")
    return tmp_path / "home" / "course"


def test_place_is_there_by_its_name_and_where_it_really_is(course):
    assert read([course], course / "suite") == read([course], course.resolve() / "suite") == "secret"


def test_place_below_a_link_that_is_itself_in_the_sandbox(course, tmp_path, monkeypatch):
    shown = tmp_path / "shown"
    shown.mkdir()
    (shown / "link").symlink_to(tmp_path / "data")
    monkeypatch.setattr(bubblewrap, "SYSTEM", (*bubblewrap.SYSTEM, str(shown)))
    for place in (shown / "link" / "course", shown / "link"):
        assert read([place], shown / "link" / "course" / "suite") == "secret"


def test_notebooks_see_a_place_by_neither_name(course):
    hidden = BUBBLEWRAP.policy(trusted=False, places=[course], scratch="", user=0).hidden
    assert set(hidden) == {str(course.parent), str(course.parent.resolve())}
