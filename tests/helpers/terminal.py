"""`autograder` as a person or a script calls it."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.conftest import ROOT


def autograder(*words, cwd=ROOT):
    """The command, run to its end."""
    return python("-m", "autograder", *words, cwd=cwd)


def python(*words, cwd):
    """Python with these words, run to its end."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "140"}
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=environment)


def grade(course, *words, wait=True):
    """`autograder grade` in a course: process, output, errors; or the running process."""
    command = [sys.executable, "-m", "autograder", "grade", *words]
    process = subprocess.Popen(
        command, cwd=course.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    return (process, *process.communicate(timeout=240)) if wait else process
