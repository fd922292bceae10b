"""nbgrader's gradebook on a real PostgreSQL server."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.helpers.classes import class_of
from tests.helpers.small_course import NAME, nbgrader, said_by
from tests.helpers.terminal import grade

pytestmark = pytest.mark.slow


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture
def database(tmp_path):
    """The address of an empty database. Without PostgreSQL, the test fails in CI and is skipped elsewhere."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found and not os.environ.get("CI"):
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    folder = Path("/tmp") / f"autograder-postgresql-{os.getpid()}"
    folder.mkdir(mode=0o777)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.getuid() == 0 else []
        if user:
            shutil.chown(folder, "postgres", "postgres")
        server, port = found[-1].parent, free_port()

        def call(*words):
            subprocess.run([*user, *words], check=True, capture_output=True, cwd=folder)

        call(server / "initdb", "--pgdata", folder / "data", "--username", "teacher", "--auth", "trust")
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
        call(server / "pg_ctl", "--pgdata", folder / "data", "--wait", "-o", options, "-l", folder / "log", "start")
        stack.callback(call, server / "pg_ctl", "--pgdata", folder / "data", "--mode", "immediate", "stop")
        call(server / "createdb", "--host", "127.0.0.1", "--port", str(port), "--username", "teacher", "gradebook")
        yield f"postgresql+psycopg2://teacher@127.0.0.1:{port}/gradebook"


@pytest.mark.catalogue
def test_class_is_graded_and_regraded_in_postgresql(tmp_path, database):
    course = class_of(tmp_path / "course", 10, config=f"c.CourseDirectory.db_url = {database!r}\n")
    done, out, _ = grade(course, "--gradebook", "--jobs", "2", "--quiet", "--feedback")
    assert done.returncode == 1, out
    assert "9 graded, 1 could not be graded" in out
    assert not (course.root / "gradebook.db").exists()
    assert len(list((course.root / "feedback").glob("*/*/*.html"))) == 9
    with Gradebook(database) as book:
        scores = {one.student.id: one.score for one in book.assignment_submissions(NAME)}
    assert len(scores) == 9
    assert [scores[f"student-{n:02}"] for n in (0, 3, 6)] == [3] * 3
    assert "0 graded, 9 unchanged" in said_by(course, "grade", "--gradebook", "--quiet", code=1)
    for words in (("autograde", NAME, "--student", "student-00", "--force"), ("export",)):
        nbgrader(course, *words)
    assert "student-00" in (course.root / "grades.csv").read_text()
