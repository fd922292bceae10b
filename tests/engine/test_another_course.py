"""The engine grades a course about something else, with nothing of attention there to import."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder import __version__
from tests.conftest import ROOT
from tests.helpers.terminal import autograder_here

SOLUTIONS = {
    "b1_sorting": {
        "ranks": "def ranks(x):\n    return np.argsort(np.argsort(x))",
        "median": "def median(x):\n    return float(np.sort(x)[[(len(x) - 1) // 2, len(x) // 2]].mean())",
    },
    "b2_chance": {"normalised": "def normalised(counts):\n    return counts / counts.sum()"},
}
SUITES = {
    "ranks": '''
@pytest.mark.exercise("ranks")
class TestRanks:
    def test_values(self, student, reference):
        """Each number's place in order."""
        for x in (np.array([3.0, 1.0, 2.0]), np.array([0.5, -1.0, 7.0, 2.0])):
            expect.equal(expect.array(student.ranks(x)), reference.ranks(x), "Which place has the smallest?")
''',
    "median": '''
from ..shared_hidden_tests import MIDDLE

@pytest.mark.exercise("median")
class TestMedian:
    @pytest.mark.weight(2)
    def test_odd(self, student):
        """The middle one of three."""
        expect.close(student.median(np.array([9.0, 1.0, 4.0])), 4.0, MIDDLE)

    def test_even(self, student):
        """Halfway between the two in the middle."""
        expect.close(student.median(np.array([9.0, 1.0, 4.0, 2.0])), 3.0, "How many are in the middle?")
''',
    "normalised": '''
@pytest.mark.exercise("normalised")
class TestNormalised:
    def test_sum(self, student, reference):
        """Chances add up to one."""
        x = np.array([1.0, 2.0, 5.0])
        expect.close(student.normalised(x), reference.normalised(x), "What do yours add up to?")
''',
}
HEAD = "import numpy as np\nimport pytest\n\nfrom autograder.testing import expect\n"
MISTAKES = """import numpy as np

from autograder.testing.catalogue import Catalogue

mistake = Catalogue()


@mistake("order-not-ranks", hint="Is the first number where the smallest is, or how many are smaller?")
def ranks(x):
    return np.argsort(x)
"""


def write_notebook(path, name, code_of):
    cells = [new_code_cell("import numpy as np", id="imports")]
    for exercise in SOLUTIONS[name]:
        data = {"schema_version": 3, "task": False}
        solution = data | {"grade": False, "solution": True, "locked": False, "grade_id": exercise}
        check = data | {"grade": True, "solution": False, "locked": True, "grade_id": f"test-{exercise}", "points": 3}
        cells.append(new_code_cell(code_of(exercise), id=exercise, metadata={"nbgrader": solution}))
        cells.append(new_code_cell(f'check("{exercise}")', id=f"c-{exercise}", metadata={"nbgrader": check}))
    path.parent.mkdir(parents=True)
    nbformat.write(new_notebook(cells=cells), path)


@pytest.fixture
def kit(tmp_path):
    """The kit without its course."""
    folder, left_out = tmp_path / "kit", shutil.ignore_patterns("attention")
    shutil.copytree(ROOT / "autograder", folder / "autograder", ignore=left_out)
    return folder


def with_kit(kit, words, cwd):
    """A command with nothing but that kit to import."""
    return subprocess.run(
        words, cwd=cwd, env=os.environ | {"PYTHONPATH": str(kit)}, capture_output=True, text=True, check=False
    )


@pytest.fixture
def elsewhere(kit, tmp_path):
    """That kit, and another course beside it, whose solutions import the course's package."""
    course = tmp_path / "course"
    course.mkdir()
    (course / "nbgrader_config.py").write_text("")
    for name, solved in SOLUTIONS.items():
        stem = name.partition("_")[2]
        write_notebook(course / "source" / name / f"{stem}.ipynb", name, solved.__getitem__)
        (course / "solutions" / name).mkdir(parents=True)
        text = "import numpy as np\n\nfrom content.drawing import plot\n\n\n" + "\n\n\n".join(solved.values())
        (course / "solutions" / name / f"{stem}.py").write_text(text + "\n")
        for exercise in solved:
            folder = course / "content" / name / exercise
            folder.mkdir(parents=True)
            (folder / "hidden_tests.py").write_text(HEAD + SUITES[exercise])
    (course / "content" / "__init__.py").touch()
    (course / "content" / "drawing.py").write_text("plot = print\n")
    (course / "content" / "b1_sorting" / "shared_hidden_tests.py").write_text(
        'MIDDLE = "Which one is in the middle?"\n'
    )
    (course / "content" / "b1_sorting" / "ranks" / "mistakes.py").write_text(MISTAKES)
    (course / "content" / "course.toml").write_text('[names]\nnp = "numpy"\n')
    return kit, course


@pytest.mark.slow
def test_a_course_about_something_else_is_graded(elsewhere):
    kit, course = elsewhere
    wrong = {"ranks": "def ranks(x):\n    return np.argsort(x)", "median": "def median(x):\n    return float(x.mean())"}
    for name, solved in SOLUTIONS.items():
        notebook = f"{name.partition('_')[2]}.ipynb"
        write_notebook(course / "submitted" / "ana" / name / notebook, name, solved.__getitem__)
        write_notebook(course / "submitted" / "ben" / name / notebook, name, lambda e, s=solved: wrong.get(e, s[e]))
    command = [sys.executable, "-P", "-m", "autograder", "grade", "submitted", "--json", "marks.json"]
    done = with_kit(kit, command, course)
    assert done.returncode == 0, done.stdout + done.stderr
    reports = {(r["student"], r["assignment"]): r for r in json.loads((course / "marks.json").read_text())}
    assert {key: report["score"] for key, report in reports.items()} == {
        ("ana", "b1_sorting"): 6, ("ana", "b2_chance"): 3, ("ben", "b1_sorting"): 0, ("ben", "b2_chance"): 3,
    }  # fmt: skip
    ranks, _ = reports["ben", "b1_sorting"]["exercises"]
    assert ranks["diagnosis"] == "order-not-ranks"


GUIDE = (ROOT / "docs" / "your-own-course.md").read_text()


@pytest.mark.catalogue
@pytest.mark.slow
def test_the_guides_commands_make_a_course_that_is_in_order_and_grades(kit, tmp_path):
    """Every command of the page, in one terminal, with that kit."""
    lines = [line for block in re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL) for line in block.splitlines()]
    assert sum(line.startswith("autograder grade") for line in lines) == 2
    script = f'set -e\nautograder() {{ {sys.executable} -P -m autograder "$@"; }}\n' + "\n".join(lines)
    done = with_kit(kit, ["bash", "-c", script], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("in order:") == 3
    assert "source, a1_first: 3 / 3" in done.stdout
    assert "assignments, a1_first: 0 / 3" in done.stdout
    assert "a2_chance: in order: 2 exercises, 6 points by tests" in done.stdout
    course = tmp_path / "statistics"
    for path in re.findall(r"^\| `(\S+)`", GUIDE, re.MULTILINE):
        assert (course / path).is_file() or path.endswith(("picture.toml", "shared_hidden_tests.py")), path
    again = [sys.executable, "-P", "-m", "autograder", "dev"]
    done = with_kit(kit, [*again, "sync"], course)
    assert "in step with source/" in done.stdout
    done = with_kit(kit, [*again, "new-assignment", "a2_chance", "other"], course)
    assert (done.returncode, "there is an assignment 'a2_chance' already" in done.stderr) == (2, True)
    # In the course's own folders, and in what the page says students get.
    code = "from autograder import check, hint\ndef spread(X): return X\ncheck('spread'); hint('spread')"
    (course / "dist").mkdir()
    with zipfile.ZipFile(course / "dist" / f"sandboxed_autograder-{__version__}-py3-none-any.whl", "w") as engine:
        engine.writestr("autograder/__init__.py", "")
    with zipfile.ZipFile(course / "dist" / f"cellcage-{__version__}-py3-none-any.whl", "w") as sandbox:
        sandbox.writestr("cellcage/__init__.py", "")
    pip = [sys.executable, "-m", "pip", "--quiet"]
    done = with_kit(kit, [*pip, "wheel", "--no-deps", "--wheel-dir", "dist", "./statistics_course"], course)
    assert done.returncode == 0, done.stderr
    done = with_kit(kit, [*again, "dist", "dist"], course)
    assert done.returncode == 0, done.stderr
    students = shutil.move(course / "dist", tmp_path / "students")
    done = with_kit(kit, [*pip, "install", "--no-deps", "--target", kit, *students.glob("statistics*.whl")], students)
    assert done.returncode == 0, done.stderr
    package = kit / "statistics_course"
    given = {str(path.relative_to(package)) for path in package.rglob("*.*") if "__pycache__" not in path.parts}
    exercises = ("a1_first/row_centred", "a2_chance/normalised", "a2_chance/spread")
    files = {f"{one}/{file}" for one in exercises for file in ("visible_tests.py", "hint.toml")}
    assert given == files | {"__init__.py", "course.toml"}
    assert (students / "first.ipynb").is_file() and (students / "CONTENTS.txt").is_file()
    for folder in (course / "source" / "a2_chance", students):
        done = with_kit(kit, [sys.executable, "-P", "-c", code], folder)
        assert "spread: 0 of 1 visible tests pass" in done.stdout, done.stdout + done.stderr
        assert "spread: hint 1 of 3" in done.stdout
    done = with_kit(kit, [*again[:-1], "check", "source/a1_first/first.ipynb"], course)
    assert "row_centred: 1 of 1 visible tests pass" in done.stdout, done.stdout + done.stderr
    unknown = "from autograder import check\ncheck('spraed')"
    done = with_kit(kit, [sys.executable, "-P", "-c", unknown], students)
    assert "there is no exercise 'spraed'; did you mean spread?" in done.stderr
    # What was handed in is not looked into.
    handed_in = course / "submitted" / "mallory"
    shutil.copytree(package, handed_in / "statistics_course")
    checks = handed_in / "statistics_course" / "a2_chance" / "spread" / "visible_tests.py"
    checks.write_text(f"{checks.read_text()}\nraise SystemExit('mine')")
    done = with_kit(kit, [sys.executable, "-P", "-c", code], handed_in)
    assert "spread: 0 of 1 visible tests pass" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["full"], "is there already; name a folder that is empty"),
        (["submitted/course"], "is among submissions"),
        (["fresh", "1_first", "mean"], "'1_first' is no name for Python"),
        (["fresh", "a1_first", "lambda"], "'lambda' is no name for Python"),
    ],
)
def test_where_a_course_cannot_begin_a_line_says_why_and_nothing_is_written(tmp_path, words, said):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    done = autograder_here("dev", "new-course", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "thesis.tex"]
