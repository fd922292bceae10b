"""Otter-Grader on the same notebooks and the same hidden tests, only for the benchmark.

`otter run` grades one notebook, without its containers: it executes the notebook in a Jupyter kernel and runs test
files there. Each of our tests becomes one of its test cases, with the same points. A case runs the suite in the kernel,
on the student's own names: no sandbox, no limits, no follow-through.

    otter = Otter(folder)                        its own environment, which sees this one's packages
    otter.convert(course, "a1_...")              the assignment's tests, as it wants them
    otter.command(notebook, "a1_...")            what grades one notebook, in the environment `otter.around()`
    otter.points()                               by exercise, of the notebook graded last
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.course.assignments import Assignment, Course
from autograder.testing.hidden_tests import Suite
from autograder.testing.plan import Recording

ROOT = Path(__file__).resolve().parents[1]
VERSION = "7.0.0"
HEAD = """
OK_FORMAT = False

from otter.test_files import test_case
from tools.otter import must_pass

name, points = {name!r}, None
"""
CASE = """
@test_case(name={test!r}, points={points!r}, hidden=True)
def {test}(env):
    must_pass(env, {root!r}, {assignment!r}, {name!r}, {test!r})
"""


class Otter:
    """An environment with Otter-Grader, and what it grades with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        python = f"python{sys.version_info.major}.{sys.version_info.minor}"
        ours = sysconfig.get_path("purelib")
        seen = folder / "venv" / "lib" / python / "site-packages" / "ours.pth"
        seen.write_text(f"import site; site.addsitedir({ours!r})\n")
        pip = [folder / "venv" / "bin" / "python", "-m", "pip", "install", "--quiet", f"otter-grader=={VERSION}"]
        subprocess.run(pip, check=True)
        kernel = [folder / "venv" / "bin" / "python", "-m", "ipykernel", "install", "--sys-prefix", "--name", "python3"]
        subprocess.run(kernel, check=True, capture_output=True)

    def convert(self, course: Course, name: str) -> None:
        """Write the assignment's hidden tests in Otter-Grader's form."""
        with zipfile.ZipFile(self._zip(name), "w") as file:
            file.writestr("otter_config.json", json.dumps({"lang": "python", "show_hidden": True}))
            for exercise, text in _test_files(course.assignment(name)).items():
                file.writestr(f"tests/{exercise}.py", text)

    def command(self, notebook: Path, name: str) -> tuple[str, ...]:
        """What grades one notebook."""
        otter = str(self.folder / "venv" / "bin" / "otter")
        return otter, "run", str(notebook), "-a", str(self._zip(name)), "-o", str(self.folder), "--no-logo"

    def around(self) -> dict[str, str]:
        """The environment variables that it takes."""
        here = f"{self.folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "PATH": here, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}

    def points(self) -> dict[str, float]:
        """By exercise, of the notebook graded last."""
        earned: dict[str, float] = defaultdict(float)
        for one in json.loads((self.folder / "results.json").read_text())["tests"]:
            earned[one["name"].split()[0]] += one.get("score", 0)
        return dict(earned)

    def _zip(self, name: str) -> Path:
        return self.folder / f"{name}.zip"


def _test_files(assignment: Assignment) -> dict[str, str]:
    """A test file for each exercise, by its name."""
    texts = {}
    suite = Suite(assignment.suites)
    for exercise in assignment.exercises:
        tests = [test for test in suite.tests if test.exercise == exercise.name]
        total = sum(test.weight for test in tests)
        texts[exercise.name] = HEAD.format(name=exercise.name) + "".join(
            CASE.format(
                test=test.name.split("::")[-1],
                points=exercise.points * test.weight / total,
                root=str(assignment.root),
                assignment=assignment.name,
                name=exercise.name,
            )
            for test in tests
        )
    return texts


def must_pass(env: dict[str, Any], root: str, assignment: str, exercise: str, test: str) -> None:
    """In the kernel, which is one notebook's: raise `AssertionError` if an exercise in `env` does not pass the test."""
    if exercise not in _judged:
        _judged[exercise] = _judge(env, Course(Path(root)).assignment(assignment), exercise)
    said = _judged[exercise][test]
    assert not said, said


_judged: dict[str, dict[str, str]] = {}  # by exercise and test: what it says; nothing if it passes


def _judge(env: dict[str, Any], assignment: Assignment, name: str) -> dict[str, str]:
    from autograder.judge.judging import judge
    from autograder.testing.local import Here

    wanted = [exercise for exercise in assignment.exercises if exercise.name == name]
    (result,) = judge(_material(assignment.root, assignment.name), Here(dict(env)), wanted)
    return {test.name: "" if test.state == "passed" else test.message or "not passed" for test in result.tests}


@functools.cache
def _material(root: Path, assignment: str) -> Any:
    from autograder.judge.process import material_of

    return replace(material_of(Course(root).assignment(assignment)), recording=Recording(), hypotheses=None)
