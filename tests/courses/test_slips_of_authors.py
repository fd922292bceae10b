"""`dev check` and `dev sync` report an author's slips with file, cell and advice, without a traceback."""

from __future__ import annotations

import contextlib

import nbformat
import pytest

from autograder.authoring import course_check
from autograder.authoring.generated_files import sync
from autograder.authoring.problems import once
from autograder.authoring.sample_class import fill, hand_in
from autograder.course import loading
from autograder.course.assignments import Course
from autograder.errors import CourseError
from autograder.nbgrader import api
from autograder.submission import grade_id
from autograder.testing import functions
from tests.courses.own import IMPORTS, course_of, exercise
from tests.helpers.selection import one_in
from tests.helpers.small_course import command, said_by

pytestmark = pytest.mark.slow
NAME, FOLDER = "a1_means", "means_course/a1_means/mean"
NOTEBOOK, SCRIPT = f"source/{NAME}/{NAME}.ipynb", f"solutions/{NAME}/{NAME}.py"
SOLUTION = '''\
def mean(numbers):
    """The mean of some numbers."""
    ### BEGIN SOLUTION
    return sum(numbers) / len(numbers)
    ### END SOLUTION
'''
HIDDEN = """
import pytest

from autograder.testing import cases, expect


@pytest.mark.exercise("mean")
class TestMean:
    test_two = cases("Of two.", [([1, 3], 2)], "Divided by what?")
"""
MISTAKES = """
from autograder.testing import Catalogue

mistake = Catalogue()


@mistake("sum", hint="Divided by what?")
def mean(numbers):
    return sum(numbers)


@mistake("halved", hint="Divided by what?")
def mean(numbers):
    return sum(numbers) / 3
"""
LOOPS = '''
    def test_loops(self, student):
        """It never ends."""
        while True:
            pass
'''
RAISES = '''
    def test_raises(self, student):
        """A mistake in the test itself."""
        expect.close(student.mean([1, 3])["mean"], 2)
'''
TUPLE = '''
    def test_tuple(self, student):
        """An assert of a tuple."""
        assert (student.mean([1, 3]) == 3, "Divided by what?")
'''
PASSES = '''
    def test_passes(self, student):
        """It passes a generator."""
        import random

        import numpy as np

        expect.close(student.mean(np.random.default_rng(1)), 2)
'''
RIGHT = '\n\n@mistake("right", hint="?")\ndef mean(numbers):\n    return sum(numbers) / max(len(numbers), 1)\n'
ENDLESS = "while True:\n    pass\n"
FILES = {"mean/hidden_tests.py": HIDDEN, "mean/visible_tests.py": HIDDEN, "mean/mistakes.py": MISTAKES}


@pytest.fixture
def course(tmp_path):
    return course_of(tmp_path / "means", NAME, IMPORTS + exercise("mean", SOLUTION), FILES)


@pytest.fixture
def problems(course, monkeypatch):
    """A function that lists all blocking problems; grading in the sandbox is left to other tests."""
    monkeypatch.setattr(course_check, "stubs_and_solutions", lambda *_: ())

    def problems():
        found = course_check._all(Course(course.root).assignment(NAME), None)
        return [str(one).replace(f"{course.root}/", "") for one in once(list(found)) if one.blocks]

    return problems


BEFORE = "    test_two"


@pytest.mark.parametrize(
    ("file", "old", "new", "where", "what"),
    one_in(3, [
        ("mistakes.py", MISTAKES, MISTAKES + ENDLESS, "mistakes.py", "its code ran for more than 2 seconds"),
        ("hidden_tests.py", HIDDEN, HIDDEN + ENDLESS, "hidden_tests.py", "its code ran for more than 2 seconds"),
        ("hidden_tests.py", BEFORE, f"{LOOPS}\n{BEFORE}", "mistakes.py", "mistake 'sum' ran for more than 2 seconds"),
        ("visible_tests.py", BEFORE, f"{LOOPS}\n{BEFORE}", "visible_tests.py", "it ran for more than 2 seconds"),
        ("hidden_tests.py", BEFORE, f"{RAISES}\n{BEFORE}", "hidden_tests.py: 'mean, test_raises'",
         "it could not judge the mistake 'sum' (TypeError: "),
        ("hidden_tests.py", BEFORE, f"{RAISES.replace('student)', 'tmp_path)')}\n{BEFORE}",
         "hidden_tests.py", "take `student` and `reference`; this one asks for `tmp_path`"),
        ("hidden_tests.py", BEFORE, f"    @pytest.mark.weight('3')\n{RAISES[1:]}\n{BEFORE}",
         "hidden_tests.py", "its weight is '3'; it should be a number"),
        ("hidden_tests.py", BEFORE, f"    @pytest.mark.weight(-1)\n{RAISES[1:]}\n{BEFORE}",
         "hidden_tests.py", "its weight is -1; it should be a number above 0"),
        ("hidden_tests.py", BEFORE, f"{TUPLE}\n{BEFORE}", "hidden_tests.py: 'line 12'",
         "`assert (student.mean([1, 3]) == 3, 'Divided by what?')` always holds. Write the message without"),
        ("visible_tests.py", BEFORE, f"{TUPLE}\n{BEFORE}", "visible_tests.py: 'line 12'", "always holds. Write the"),
        ("hidden_tests.py", "([1, 3], 2)", '("INFO")', "hidden_tests.py",
         "the case 'INFO' of 'Of two.': it should be (arguments, wanted) or (arguments,)"),
        ("hidden_tests.py", "([1, 3], 2)", "([1], 3, 2)", "hidden_tests.py", "Is a comma or a parenthesis missing?"),
        ("hidden_tests.py", BEFORE, f"{PASSES}\n{BEFORE}", "hidden_tests.py: 'mean, test_passes'",
         "mean gets a Generator, which cannot be passed to the student's code; pass a seed"),
        ("mistakes.py", "import Catalogue", "import Catalog", "mistakes.py",
         "it cannot be loaded (ImportError: cannot import name 'Catalog'"),
        ("mistakes.py", "\n\n@mistake(\"halved", "\n\n@mistak(\"halved", "mistakes.py",
         "it cannot be loaded (NameError: name 'mistak' is not defined; line 12)"),
        ("mistakes.py", MISTAKES, "from autograder.testing import Catalogue\n", "mistakes.py", "has no `mistake = Cat"),
        ("mistakes.py", MISTAKES, MISTAKES + RIGHT, "mistakes.py: mistake 'right'", "accept it. Add a test"),
        ("hint.toml", "", "nudge = What?", "hint.toml", "it is not TOML (Invalid value (at line 1, column 9))."),
        ("hint.toml", "", 'nudgge = "?"', "hint.toml: 'mean'", "there is no 'nudgge' in a hint"),
    ]),
)  # fmt: skip
def test_slip_in_a_file_is_reported_with_its_place(course, problems, monkeypatch, file, old, new, where, what):
    monkeypatch.setattr(loading, "LOADING_SECONDS", 2.0)
    monkeypatch.setattr(course_check, "SUITE_SECONDS", 2.0)
    path = course.folder / NAME / "mean" / file
    text = path.read_text() if old else ""
    assert old in text
    path.write_text(text.replace(old, new) if old else new)
    first, *others = problems()
    assert first.startswith(f"{FOLDER}/{where}: ") and what in first, first
    assert first.count(FOLDER) == 1 and first[-1] in ".?"
    assert not [one for one in others if "test_raises" in one]


def edit(course, name, change):
    notebook = nbformat.read(course.root / NOTEBOOK, as_version=4)
    change(notebook, next(cell for cell in notebook.cells if grade_id(cell) == name))
    nbformat.write(notebook, course.root / NOTEBOOK)


MARKED = "### BEGIN SOLUTION\nsecret = 42\n### END SOLUTION"
ASSERTS, LOOP = "\nassert mean([1, 3]) == 2", f"\n{ENDLESS}"


@pytest.mark.parametrize(
    ("name", "change", "where", "what"),
    one_in(3, [
        ("test-mean", lambda _, cell: cell.update(source=cell.source + ASSERTS), f"{NOTEBOOK}: cell 'test-mean'",
         'it does not end in check("mean"), so the hidden tests in mean/ are not used. Let it end so'),
        ("mean", lambda notebook, cell: notebook.cells.remove(cell), f"{NOTEBOOK}: cell 'test-mean'",
         "no cell of its exercise comes before it. Name the cell"),
        ("mean", lambda _, cell: cell.update(source=cell.source.replace("    ### BEGIN SOLUTION\n", "")),
         f"{NOTEBOOK}: cell 'mean'", "### BEGIN SOLUTION and ### END SOLUTION do not come in pairs. Write"),
        ("mean", lambda notebook, cell: notebook.cells.insert(0, nbformat.v4.new_code_cell(ASSERTS, id="early")),
         SCRIPT, "the solution does not run at `assert mean([1, 3]) == 2` (NameError: name 'mean'"),
        ("mean", lambda _, cell: cell.update(source=cell.source + LOOP), SCRIPT, "code ran for more than 2 seconds"),
        ("mean", lambda _, cell: cell.update(source=cell.source.replace("return sum", "while sum(numbers): sum")),
         f"{FOLDER}/visible_tests.py: 'mean, test_two'", "no answer after 1 seconds. Does a loop never end"),
        ("mean", lambda notebook, _: notebook.cells.append(nbformat.v4.new_code_cell(MARKED, id="marked")),
         f"{NOTEBOOK}: cell '### BEGIN SOLUTION'",
         "it has ### BEGIN SOLUTION, and nbgrader does not know it as an answer. Say what the cell is in the Create"),
        ("mean", lambda _, cell: cell.metadata.nbgrader.update(schema_version=2), NOTEBOOK,
         "its nbgrader metadata are of an older version. Run `nbgrader update "),
        ("mean", lambda notebook, cell: notebook.cells.append(nbformat.from_dict({**cell, "id": "other"})),
         f"{NOTEBOOK}: cell 'mean'", "2 cells have this id. Give each its own"),
    ]),
)  # fmt: skip
def test_slip_in_the_notebook_is_reported_with_its_cell(course, problems, monkeypatch, name, change, where, what):
    edit(course, name, change)
    monkeypatch.setattr(loading, "LOADING_SECONDS", 2.0)
    monkeypatch.setattr(functions, "COURSE_SECONDS", 1.0)
    with contextlib.suppress(CourseError):  # with the same message
        list(sync(Course(course.root)))
    first, *others = problems()
    assert not others, others
    assert first.startswith(f"{where}: ") and what in first, first


def test_slip_in_course_settings_is_reported_in_one_line(course):
    (course.folder / "course.toml").write_text('[nmes]\nnp = "numpy"\n')
    assert command(course, "dev", "check") == (
        2,
        "autograder: means_course/course.toml: there is no 'nmes'; it may have names, early, ready_made, words, "
        "contact, help, solutions_after_green",
    )  # fmt: skip


OF_NONE = """\
    test_one = cases("Of one.", [([5], 5)], "Divided by what?")
    test_none = cases("Of none.", [([],)], "What is the mean of nothing?")
"""
IDLE = '''
    def test_idle(self, student):
        """It compares an answer with itself."""
        got = student.mean([1, 3])
        expect.close(got, got)
'''
DRAWN = '''
    def test_drawn(self, student, reference):
        """It draws other numbers each time."""
        x = list(np.random.default_rng().normal(size=3))
        expect.close(student.mean(x), reference.mean(x))
'''


def test_tests_that_judge_nothing_or_draw_anew_are_found(course):
    hidden = course.folder / NAME / "mean" / "hidden_tests.py"
    hidden.write_text(f"import numpy as np\n{HIDDEN}{IDLE}")
    said = said_by(course, "dev", "check")
    assert "'mean, test_idle': no known mistake fails this test. Enter one that does." in said
    assert "test_two" not in said
    hidden.write_text(f"import numpy as np\n{HIDDEN}{DRAWN}")
    said = said_by(course, "dev", "check", code=1)
    assert "'mean, test_drawn': its calls are others each time, so two students" in said
    assert said.count("hidden_tests.py") == 1


def test_expression_of_the_solution_in_a_hint_is_found(course, problems):
    hint = 'nudge = "What?"\ncloser = "sum(numbers) / len(numbers)"\nsection = "1."\n'
    (course.folder / NAME / "mean" / "hint.toml").write_text(hint)
    assert any("it gives 'sum(numbers) / len(numbers)' away" in one for one in problems())


ZERO = "def mean(numbers):\n    return sum(numbers) / len(numbers) if numbers else {}\n"
ALIKE = (
    "a1_means, mean, test_none: 3 of 5 students who get everything else right here give one and the same answer to "
    "`mean(numbers=[])`, and your solution gives another. Look at your solution"
)


def test_wrong_solution_is_noticed_by_what_good_students_answer(course, tmp_path):
    """`grade` and the report say it, for any three who agree and are more than half of those right in the rest."""
    slip = SOLUTION.replace("len(numbers)", "len(numbers) if numbers else None")
    edit(course, "mean", lambda _, cell: cell.update(source=slip))
    for name in ("hidden_tests.py", "visible_tests.py"):
        (course.folder / NAME / "mean" / name).write_text(HIDDEN + OF_NONE * (name[0] == "h"))
    list(sync(course))
    zeros = {"ada": "0", "ben": "0.0", "cleo": "np.float64(0)"}
    answers = {name: ZERO.format(zero) for name, zero in zeros.items()}
    answers |= {"dan": ZERO.format("1"), "eve": ZERO.format("None"), "fay": "def mean(numbers):\n    return 5\n"}
    for name, answer in answers.items():
        hand_in(fill(course.root / "assignments" / NAME / f"{NAME}.ipynb", {"mean": answer}),
                course.root / "submitted", name, course.assignment(NAME))  # fmt: skip
    assert ALIKE in said_by(course, "grade", "submitted", "--json", "marks.json")
    assert ALIKE in said_by(course, "report", "marks.json")
    assert api(course.root).generate_assignment(NAME)["success"]
    assert ALIKE in said_by(course, "grade", "--gradebook")
    (course.root / "submitted" / "ada").rename(tmp_path / "ada")
    assert "your solution" not in said_by(course, "grade", "submitted", "--json", "marks.json")


def test_invalid_notebook_is_reported_by_sync_and_check(course, problems):
    path = course.root / NOTEBOOK
    for text, why in ((path.read_text()[:300], "Input data was truncated"), ("[]", "Expected `object`, got `array`")):
        path.write_text(text)
        with pytest.raises(CourseError, match=rf"{NAME}\.ipynb: not a notebook"):
            list(sync(Course(course.root)))
        assert problems() == [f"{NOTEBOOK}: the rest could not be checked: not a notebook ({why}). Fix this first."]
