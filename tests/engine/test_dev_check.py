"""`autograder dev check` as an instructor runs it after editing a course."""

from __future__ import annotations

import re
import shutil

import nbformat
import pytest

from autograder.authoring import course_check, known_mistakes, notebook_checks
from autograder.authoring.sample_class import mistake as known_mistake
from autograder.course.assignments import Course
from autograder.errors import CourseError
from autograder.submission import grade_id
from autograder.testing.catalogue import read_catalogue
from autograder.testing.suite import Suite
from tests.conftest import ROOT, copy_course
from tests.helpers.in_process import COURSE, judged_alone
from tests.helpers.selection import one_in
from tests.helpers.small_course import EXERCISE, NAME, command, small_course
from tests.helpers.terminal import autograder

A1 = "a1_scaled_dot_product"


@pytest.fixture
def a1(tmp_path):
    """The first assignment in a copy of the course that tests may edit, with its content and release."""
    course = copy_course(tmp_path / "course")
    for folder in (course.root / "source").iterdir():
        if folder.name != A1:
            shutil.rmtree(folder)
    shutil.copytree(ROOT / "attention_course", course.root / "content")
    shutil.copytree(ROOT / "assignments" / A1, course.root / "assignments" / A1)
    return course.assignment(A1)


def edit(assignment, name, change):
    """Change one cell of the source notebook."""
    notebook = nbformat.read(assignment.notebook, as_version=4)
    named = [cell for cell in notebook.cells if grade_id(cell) == name]
    (cell,) = named or [cell for cell in notebook.cells if cell.id == name]
    change(cell)
    nbformat.write(notebook, assignment.notebook)
    return notebook


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


ONE, ALL = COURSE.names[:1], COURSE.names


@pytest.mark.slow
@pytest.mark.parametrize("names", one_in(2, [ONE, ALL]), ids=len)
def test_this_course_is_in_order(monkeypatch, names):
    """`tests/course/test_known_mistakes.py` tests the rest: hidden tests reject each known mistake."""
    monkeypatch.setattr(course_check, "_tried", lambda *_: [])
    monkeypatch.setattr(course_check, "promises", lambda _: course_check.Promises())
    found = list(course_check.check_course(COURSE, names))
    assert [one.name for one in found] == names
    for one in found:
        assert one.problems == (), one.name
        assert one.in_order
        assert one.about.startswith("in order: ")


@pytest.mark.catalogue
@pytest.mark.slow
def test_each_fault_is_reported_with_file_cell_and_remedy(a1):
    def catch_not_implemented(cell):
        cell.source = cell.source.replace("### BEGIN SOLUTION", "try:\n        ### BEGIN SOLUTION").replace(
            "    ### END SOLUTION", "        ### END SOLUTION\n    except NotImplementedError:\n        return x"
        )
        cell.source = cell.source.replace("\n    exps", "\n        exps").replace(
            "\n    return exps", "\n        return exps"
        )

    def give_away(cell):
        cell.source += "\n\nIn code:\n\n    return weights @ V, weights  # (..., L, S) @ (..., S, d_v) -> (..., L, d_v)"

    softmax, scores = a1.content / "softmax", a1.content / "attention_scores"
    edit(a1, "softmax", catch_not_implemented)
    edit(a1, "scaled-dot-product-attention-2", give_away)
    replace(
        scores / "hidden_tests.py",
        "TestAttentionScores:",
        "TestAttentionScores:\n    def test_odd(self, student):\n"
        '        """Unfair."""\n        expect.fail("this is unfair")\n',
    )
    replace(scores / "visible_tests.py", 'exercise("attention_scores")', 'exercise("attention_score")')
    (a1.content / "old").mkdir()
    (a1.content / "old" / "hint.toml").touch()
    catalogue = softmax / "mistakes.py"
    with catalogue.open("a") as file:
        file.write(
            '\n\n@mistake("harmless", hint="")\ndef softmax(x, axis=-1):\n'
            "    return np.exp(x - x.max(axis=axis, keepdims=True)) / "
            "np.exp(x - x.max(axis=axis, keepdims=True)).sum(axis=axis, keepdims=True)\n"
        )
    done = autograder("dev", "check", cwd=a1.root)
    assert done.returncode == 1, done.stderr
    lines = [line.replace("    ", f"{a1.root}/", 1) for line in done.stdout.splitlines()]
    assert str(a1.root) not in done.stdout
    for words in (
        (a1.notebook, "'softmax'", "not count as not started", "outside the solution's markers?"),
        (a1.notebook.name, "cell '", "students would read 'return weights @ V", "Keep it between"),
        (a1.solution, "is not what", "Run `autograder dev sync`."),
        (a1.root / "assignments", "is not what", "Run `autograder dev sync`."),
        (scores, "hidden_tests.py: 'attention_scores, test_odd'", "fails this hidden test (", "this is unfair", "Fix"),
        (scores, "visible_tests.py: 'attention_scores'", "no visible test", "Write a class marked @pytest.mark"),
        (scores, "a class is marked attention_score, and its folder is attention_scores", "Give both"),
        (a1.content / "old", "the notebook has no exercise of that name", "typo?"),
        (catalogue, "'harmless'", "has no hint", "Ask what to look at"),
        (catalogue, "'harmless'", "the hidden tests of softmax accept it", "Add a test"),
        (a1.content / "fingerprints.npz", "does not match the catalogues", "Run `autograder dev catalogue`"),
    ):
        assert [line for line in lines if all(str(word) in line for word in words)], (words, done.stdout)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_mutants_that_cannot_be_built_are_reported(a1):
    """A mutant is built only when the diagnosis needs it, which would otherwise fail while a class is graded."""
    catalogue = a1.content / "softmax" / "mistakes.py"
    with catalogue.open("a") as file:
        file.write(
            '\n\n@mistake.mutants({"odd": [{"evenn": 1}]}, hints={"odd": "Is it even?"})\n'
            "def softmax(even=0):\n    return lambda x, axis=-1: x + even\n"
        )
    (found,) = [one for one in course_check.known_mistakes(a1) if one.blocks]
    assert (found.path, found.cell) == (catalogue, "odd")
    assert "the set of mutants of softmax makes no code of it (TypeError: " in found.what and "evenn" in found.what


def test_missing_markers_points_and_cells_are_reported(a1):
    def plain(cell):
        cell.source = cell.source.replace("### BEGIN SOLUTION", "").replace("### END SOLUTION", "")

    edit(a1, "softmax", plain)
    edit(a1, "test-attention_scores", lambda cell: cell.metadata.nbgrader.update(points=0))
    edit(a1, "written-roles", lambda cell: cell.metadata.nbgrader.update(points=0))
    edit(a1, "test-scaled_dot_product_attention", lambda cell: cell.update(source="check(softmax)"))
    edit(a1, "torch_scaled_dot_product_attention", lambda cell: cell.metadata.nbgrader.update(grade_id="torch"))
    source = nbformat.read(a1.notebook, as_version=4)
    checks = (notebook_checks.cells_in_order, notebook_checks.exercises_have_cells)
    found = {finding.cell: str(finding) for check in checks for finding in check(a1, source)}
    assert "students would get the solution" in found["softmax"]
    assert "0 points" in found["test-attention_scores"]
    assert "worth nothing" in found["written-roles"]
    assert 'end in check("scaled_dot_product_attention")' in found["test-scaled_dot_product_attention"]
    assert "Create Assignment panel" in found["test-torch_scaled_dot_product_attention"]
    assert len(found) == 5


def test_few_known_mistakes_and_unknown_exercises_are_reported(a1):
    (a1.content / "attention_scores" / "mistakes.py").unlink()
    (a1.content / "softmax" / "mistakes.py").write_text(
        "from autograder.testing.catalogue import Catalogue\nmistake = Catalogue()\n"
        '@mistake("nothing", hint="What comes back?")\ndef softmax(x, axis=-1):\n    return None\n'
        '@mistake("typo", hint="?")\ndef sofmax(x):\n    return x\n'
    )
    found = [str(finding) for finding in course_check.known_mistakes(a1)]
    assert any("'softmax': 1 known mistake. Enter 1 more." in line for line in found)
    assert any("'attention_scores': 0 known mistakes. Enter 2 more." in line for line in found)
    assert any("'typo': it belongs to sofmax, not to softmax" in line for line in found)


MUTANTS = """\
import numpy as np

from autograder.testing.catalogue import Catalogue

mistake = Catalogue()


@mistake.mutants(
    {"times-two": [{"factor": 2}], "times-three": [{"factor": 3}]},
    hints={"times-two": "What does a row sum to?", "times-three": "And what should it?"},
    catalogued=("times-two",),
)
def softmax(factor=1):
    def scaled(x, axis=-1):
        exps = np.exp(x - x.max(axis=axis, keepdims=True))
        return factor * exps / exps.sum(axis=axis, keepdims=True)

    return scaled
"""


@pytest.mark.slow
def test_only_catalogued_mutants_are_known_mistakes(a1):
    for path in a1.mistakes:
        path.unlink()
    a1.mistakes[0].write_text(MUTANTS)
    found = list(known_mistakes.rows(Course(a1.root)))
    assert [mistake.name for _, mistake, _ in found] == ["times-two"]
    assert "| times-two |" in known_mistakes.page(found)
    assert not any("times" in str(finding) for finding in course_check.known_mistakes(a1))
    catalogue, softmax = read_catalogue(a1.mistakes), a1.exercises[0]
    for made in (*catalogue.mistakes, *catalogue.variants):
        assert judged_alone(a1, softmax, made.code).diagnosis == made.name
    with pytest.raises(KeyError, match="'times-two' of softmax is a mutant, without a text"):
        known_mistake(a1, "times-two")


def test_catalogued_name_without_a_mutant_is_an_error(a1):
    a1.mistakes[0].write_text(MUTANTS.replace('catalogued=("times-two",)', 'catalogued=("times-tow",)'))
    with pytest.raises(CourseError, match=r"mistakes\.py: softmax: 'times-tow' is catalogued, and no such mutant"):
        read_catalogue(a1.mistakes)


@pytest.mark.slow
def test_hidden_tests_that_do_not_match_the_notebook_are_reported(a1):
    replace(a1.content / "softmax" / "hidden_tests.py", 'exercise("softmax")', 'exercise("soft_max")')
    found = [str(finding) for finding in course_check.suite_covers(a1)]
    assert any("'softmax': the exercise has no hidden tests" in line for line in found)
    assert any("'soft_max': a class is marked soft_max, and its folder is softmax. Give both" in line for line in found)
    (a1.content / "attention_scores" / "hidden_tests.py").unlink()
    (checked,) = course_check.check_course(Course(a1.root), [A1])
    assert "attention_scores/hidden_tests.py: no such suite. Fix this first." in str(checked.problems[-1])


def test_missing_wrong_and_revealing_hints_are_reported(a1):
    softmax, scores, attention, torch = a1.files("hint.toml")
    source = nbformat.read(a1.notebook, as_version=4)
    softmax.unlink()
    (found,) = notebook_checks.hints(a1, source)
    assert 'it is missing, so `hint("softmax")` has nothing to say' in str(found)
    rest = 'closer = "Where?"\npaper = "Vaswani et al. 2017"\nlink = "https://arxiv.org/abs/1706.03762"\n'
    softmax.write_text(f'nudge = "What?"\nsection = "1. `softmax`"\n{rest}')
    scores.write_text(f'nudge = "What?"\nsection = "1. softmax"\n{rest}')
    attention.write_text(
        'nudge = "weights = softmax(attention_scores(Q, K), axis=-1)  # (..., L, S): '
        "each query's weights over the keys\"\n"
    )
    torch.write_text("nudge")
    found = "\n".join(map(str, notebook_checks.hints(a1, source)))
    assert "'softmax'" not in found
    assert "'attention_scores': the notebook has no heading '1. softmax'" in found
    assert "'scaled_dot_product_attention': no closer, section" in found
    assert re.search("'scaled_dot_product_attention': it gives ['\"]weights =.* away", found)
    assert f"{torch}: it is not TOML" in found


def test_private_file_next_to_the_notebook_is_reported(a1):
    (a1.notebook.parent / "answers.py").write_text("SECRET = 1\n")
    release = nbformat.read(ROOT / "assignments" / A1 / a1.notebook.name, as_version=4)
    (found,) = notebook_checks.no_secret(a1, nbformat.read(a1.notebook, as_version=4), release)
    assert "hands every file in this folder to students" in str(found)


def test_edited_hidden_tests_are_reloaded(a1):
    """The formgrader server runs for weeks."""
    count = len(Suite(a1.suites).tests)
    replace(a1.suites[0], "TestSoftmax:", 'TestSoftmax:\n    def test_new(self, student):\n        """New."""\n')
    assert len(Suite(a1.suites).tests) == count + 1


@pytest.mark.slow
def test_dev_catalogue_runs_again_only_after_changes(tmp_path):
    course = small_course(tmp_path / "course")
    kept = [course.assignment(NAME).content / name for name in ("visible_fingerprints.npz", "fingerprints.npz")]
    wrote = "".join(f"wrote {path}\n" for path in kept)

    def run(*options):
        return command(course, "dev", "catalogue", *options)[1].replace("\n/", "/")

    assert run() == wrote
    assert run() == "nothing has changed since then; --all does it again\n"
    assert run("--all") == wrote
    for file in (f"{EXERCISE}/hidden_tests.py", f"{EXERCISE}/visible_tests.py", f"{EXERCISE}/mistakes.py"):
        with (course.assignment(NAME).content / file).open("a") as changed:
            changed.write("\n# another one\n")
        assert run() == wrote, file
    kept[0].unlink()
    assert run() == wrote
    assert run() != wrote
