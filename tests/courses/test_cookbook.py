"""The code blocks of a recipe in the cookbook make a course, and it is graded as the page says."""

from __future__ import annotations

import itertools
import re
import shutil

import nbformat
import pytest

from autograder.authoring import course_check
from autograder.authoring.sample_class import model_answers
from autograder.course.assignments import Course
from autograder.nbgrader import api
from autograder.submission import grade_id
from tests.conftest import ROOT
from tests.courses.own import IMPORTS, course_of, exercise, graded, points_and_messages
from tests.helpers.selection import one_in
from tests.helpers.small_course import said_by

RECIPES = (
    ("cookbook", "Classes with state"),
    ("cookbook", "Tables"),
    ("cookbook", "A PyTorch module"),
    ("cookbook", "Chance"),
    ("writing-exercises", "The smallest complete exercise"),
)
# By what a recipe mentions. Each run of its notebook takes a second to import PyTorch.
IMPORTED = {"pd.": "import pandas as pd\n", "nn.": "import torch\nfrom torch import nn\n"}
NAME = "a1_first"
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(recipe, page="cookbook"):
    """Language, title and text of each block below a heading."""
    page = (ROOT / "docs" / f"{page}.md").read_text()
    return BLOCK.findall(page.partition(f"\n## {recipe}\n")[2].partition("\n## ")[0])


def wrong_answers(found):
    """Each wrong answer in a recipe, with the lines of its message."""
    for (_, title, code), (language, _, said) in itertools.pairwise(found):
        if title == "wrong":
            assert language == "text"
            yield code, said.strip().splitlines()


def cells_of(found):
    cells = IMPORTS + "".join(line for word, line in IMPORTED.items() if any(word in text for _, _, text in found))
    for _, title, text in found:
        kind, _, name = title.partition(" ")
        if kind == "cell":
            cells += exercise(name, text)
        elif kind == "written":
            cells += f"\n#% {kind} {name}\n{text}"
    return cells


def course_with(found, root):
    files = {title: text for _, title, text in found if title.endswith((".py", ".toml"))}
    return course_of(root, NAME, cells_of(found), files)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "recipe"), one_in(4, RECIPES))
def test_recipe_is_graded_as_the_page_says(page, recipe, sandbox, tmp_path):
    found = blocks(recipe, page)
    course = course_with(found, tmp_path / "economics")
    (name,) = (one.name for one in course.assignment(NAME).by_suite)

    def marked(code):
        return points_and_messages(graded(sandbox, course, NAME, {name: code}))[name]

    score, message = marked(model_answers(course.assignment(NAME))[name])
    assert score == 2, message
    for code, words in wrong_answers(found):
        score, message = marked(code)
        assert score < 2
        assert not [one for one in words if one not in message], message
    assert not [one for one in course_check.known_mistakes(course.assignment(NAME)) if one.blocks]
    assert not [one for one in course_check.visible_checks(course.assignment(NAME)) if one.blocks]


CUT = """
class Highway(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.transform, self.gate = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        x = x.detach()
        g = torch.sigmoid(self.gate(x))
        return g * torch.tanh(self.transform(x)) + (1 - g) * x
"""


@pytest.mark.slow
def test_message_about_a_cut_graph_names_the_gradient_and_keeps_the_hint(sandbox, tmp_path):
    """With `what` and without it; nothing says that the function returned None, or lacks a `return`."""
    found = blocks("A PyTorch module")
    unnamed = [(*kind, text.replace(', "the gradient of x")', ")")) for *kind, text in found]
    for folder, recipe, what in (("named", found, "the gradient of x"), ("unnamed", unnamed, "a gradient")):
        course = course_with(recipe, tmp_path / folder)
        _, message = points_and_messages(graded(sandbox, course, NAME, {"Highway": CUT}))["Highway"]
        assert f"with x (4, 3): {what} is None, where an array belongs. Is the graph cut somewhere?" in message
        assert "`return`" not in message


def test_smallest_complete_exercise_has_at_most_forty_lines():
    files = [
        text for _, title, text in blocks("The smallest complete exercise", "writing-exercises") if title != "wrong"
    ]
    assert sum(len([line for line in text.splitlines() if line]) for text in files) <= 40


@pytest.mark.slow
def test_written_answers_are_graded_beside_their_rubric(tmp_path):
    found = [*blocks("Classes with state"), *blocks("Written answers")]
    course = course_with(found, tmp_path / "economics")
    shutil.copytree(course.root / "source" / NAME, course.root / "submitted" / "ada" / NAME)
    assert "in order: 1 exercise, 2 points by tests and 4 by hand" in said_by(course, "dev", "check")
    assert api(course.root).generate_assignment(NAME)["success"]
    said_by(course, "grade", "--gradebook")
    said_by(course, "written", NAME, "--page", "written.html")
    page = (course.root / "written.html").read_text()
    assert "compares what is wanted with what is offered" in page
    assert "so the gap stays" in page


@pytest.mark.catalogue
@pytest.mark.slow
def test_recipe_works_from_an_empty_folder(tmp_path):
    """Its commands run in order, with its cell and files written between them."""
    found, course = blocks("A PyTorch module"), Course(tmp_path)
    ((wrong, words),) = wrong_answers(found)
    name, exercise = "a2_layers", "Highway"
    place = f"{name}/layers.ipynb"
    for language, title, text in found:
        if language == "sh":
            for line in text.splitlines():
                if line.startswith("cd "):
                    course = Course(tmp_path / line.removeprefix("cd "))
                    continue
                if line.startswith("autograder grade"):
                    write_cell(course, f"assignments/{place}", f"submitted/ada/{place}", exercise, wrong)
                said = said_by(course, *line.split()[1:])
                assert "dev check" not in line or "visible tests name: Highway 2 of 2" in said, said
        elif title.startswith("cell "):
            write_cell(course, f"source/{place}", f"source/{place}", exercise, text.strip())
        elif title.endswith((".py", ".toml")):
            (course.assignment(name).content / title).write_text(text)
    assert f"ada, {name}: 0.6 / 3" in said, said
    assert not [one for one in words if one not in said], said


def write_cell(course, source, target, name, text):
    notebook = nbformat.read(course.root / source, as_version=4)
    next(cell for cell in notebook.cells if grade_id(cell) == name).source = text
    (course.root / target).parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, course.root / target)
