"""The guides' commands on a hub with two students and two instructors.

Each of them is a real user of this machine, so the kernel decides who can read what.
"""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.authoring.sample_class import fill
from tests.conftest import ROOT
from tests.helpers.pages import commands
from tests.helpers.places import Machine
from tests.helpers.small_course import EXERCISE, NAME, NOTEBOOK, WRITTEN, WRONG, small_course

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user"),
]
BY_EXCHANGE = (
    "nbgrader release_assignment",
    "nbgrader collect",
    "autograder grade --gradebook",
    "nbgrader generate_feedback",
    "nbgrader release_feedback",
)
CENTRED = f"def {EXERCISE}(X):\n    return X - X.mean(axis=-1, keepdims=True)"


def accounts(count):
    """Ordinary users of this machine."""
    found = [one for one in pwd.getpwall() if one.pw_uid not in (0, 65534)]
    if len(found) < count:
        pytest.skip(f"this machine has fewer than {count} ordinary accounts")
    return sorted(found, key=lambda one: one.pw_uid)[:count]


class Hub:
    """A machine with an exchange, a course and users."""

    def __init__(self, folder):
        self.machine, self.folder = Machine(folder), folder
        self.exchange, self.homes, self.config = folder / "exchange", folder / "home", folder / "etc"
        templates = "share/jupyter/nbconvert"  # templates of the pages
        shutil.copytree(Path(sys.prefix, templates), self.machine.environment / templates)
        self.exchange.mkdir()
        self.exchange.chmod(0o1777)
        self.machine.scratch.chmod(0o1777)
        self.config.mkdir()
        shutil.copy(ROOT / "images" / "nbgrader_config.py", self.config)
        self.teacher, self.second, self.ada, self.ben = accounts(4)
        self.group = self.teacher.pw_gid
        for one in (self.teacher, self.second, self.ada, self.ben):
            home = self.homes / one.pw_name
            home.mkdir(parents=True)
            os.chown(home, one.pw_uid, -1)
            home.chmod(0o700)
        self.course = folder / "course"

    def run(self, user, line, cwd=None, fails=False):
        """Runs a shell command as a user; gives its output. Instructors share a group."""
        program, _, words = line.partition(" ")
        if program in ("nbgrader", "autograder"):
            line = f"{self.machine.python} -m {program} {words}"
        group = self.group if user in (self.teacher, self.second) else user.pw_gid
        home = self.homes / user.pw_name
        environment = {
            "HOME": home, "LD_LIBRARY_PATH": self.machine.base / "lib",
            "PYTHONPATH": self.machine.kit, "JUPYTER_CONFIG_PATH": self.config,
            "NBGRADER_EXCHANGE": self.exchange, "NBGRADER_COURSE": "small", "PYTHONWARNINGS": "ignore",
        }  # fmt: skip
        become = ("setpriv", f"--reuid={user.pw_uid}", f"--regid={group}", "--clear-groups")
        variables = (shlex.quote(f"{name}={value}") for name, value in environment.items())
        words = (*become, "env", *variables, "sh", "-c", shlex.quote(f"umask 007; {line}"))
        done = self.machine.call(cwd or home, *words)
        output = done.stdout + done.stderr
        assert (done.returncode != 0) == fails, f"{user.pw_name}: {line}\n{output}"
        return output


@pytest.fixture
def hub(tmp_path):
    hub = Hub(tmp_path)
    made = small_course(hub.course, "\nc.CourseDirectory.groupshared = True\n", written=True)
    config = made.root / "nbgrader_config.py"
    config.write_text("".join(line for line in config.read_text().splitlines(True) if "course_id" not in line))
    for place in (made.root, *made.root.rglob("*")):
        os.chown(place, hub.teacher.pw_uid, hub.group)
        place.chmod(0o2770 if place.is_dir() else 0o660)
    return hub


def hand_in(hub, user, code, command_line):
    """Fills in the fetched notebook and submits it."""
    path = hub.homes / user.pw_name / NAME / NOTEBOOK
    nbformat.write(fill(path, {EXERCISE: code, WRITTEN: "Rows differ."}), path)
    return hub.run(user, command_line)


@pytest.mark.catalogue
def test_a_term_with_two_students_and_two_instructors(hub):
    course, teacher, second, ada, ben = hub.course, hub.teacher, hub.second, hub.ada, hub.ben
    fetch, submit, get = (line.replace("a1_scaled_dot_product", NAME) for line in commands("student"))
    release, collect, grade, *give = (
        line.replace("a1_scaled_dot_product", NAME) for line in commands("instructor") if line.startswith(BY_EXCHANGE)
    )
    hub.run(teacher, release, course)
    for student in (ada, ben):
        hub.run(student, fetch)
    hand_in(hub, ada, WRONG, submit)
    hand_in(hub, ben, CENTRED, submit)

    # No student sees the other's submission, not even its name.
    inbound = hub.exchange / "small" / "inbound"
    assert "Permission denied" in hub.run(ben, f"ls {inbound}", fails=True)
    assert {path.name.split("+")[0] for path in inbound.iterdir()} == {ada.pw_name, ben.pw_name}
    assert all(len(path.name.split("+")[3]) == 12 for path in inbound.iterdir())  # 72 random bits
    for path in (course / "gradebook.db", course / "source" / NAME / NOTEBOOK, hub.homes / ada.pw_name / NAME):
        assert "Permission denied" in hub.run(ben, f"cat {path}", fails=True)
    assert "not permitted" in hub.run(ben, f"mv {inbound.parent} {hub.exchange}/gone", fails=True)

    hub.run(teacher, collect, course)
    output = hub.run(teacher, grade, course)
    assert "2 graded, 0 could not be graded" in output
    for line in give:
        hub.run(teacher, line, course)
    pages = {}
    for student in (ada, ben):
        hub.run(student, get)
        (page,) = (hub.homes / student.pw_name / NAME / "feedback").rglob("*.html")
        pages[student.pw_name] = page.read_text()
    assert f"{EXERCISE}: 0.3 of 3 points" in pages[ada.pw_name]
    assert f"{EXERCISE}: 3 of 3 points" in pages[ben.pw_name]
    assert "Permission denied" in hub.run(ben, f"ls {inbound.parent / 'feedback'}", fails=True)

    # The second instructor continues with the same gradebook and history.
    hand_in(hub, ada, CENTRED, submit)
    hub.run(second, f"{collect} --update", course)
    assert "1 graded, 1 unchanged" in hub.run(second, grade, course)
    assert "another submission, 3 points" in hub.run(second, f"autograder why {ada.pw_name} {NAME}", course)
