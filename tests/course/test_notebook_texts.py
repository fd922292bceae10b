"""The text of notebooks: how they begin and end, short cells and sentences, and terms that are explained once."""

from __future__ import annotations

import ast
import re

import nbformat
import pytest

from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS

CELL_WORDS = 270  # the first cell, with the list of exercises, may have more
HELP_WIDTH = 88  # characters in a line of JupyterLab's help
SENTENCE_WORDS = 38  # tables and formulas are not counted
EFFORT = re.compile(r"^\*About (\d+) minutes · (?:easy|medium|hard)\*$", re.MULTILINE)
BOLD = re.compile(r"\*\*([^*]+)\*\*")


def texts(assignment):
    """The Markdown cells without written answers, in order."""
    cells = nbformat.read(assignment.notebook, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown" and "nbgrader" not in cell.metadata]


def terms():
    """Each term in docs/terms.md with its assignment."""
    rows = re.findall(
        r"^- \*\*([^*]+)\*\* \((a\d)\):", (ROOT / "docs" / "terms.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    return [(term, assignment) for names, assignment in rows for term in names.split(", ")]


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_notebook_states_time_difficulty_and_goals(assignment):
    first, *_, last = texts(assignment)
    assert re.search(
        r"\*\*Time:\*\* about \d+ minutes.*\*\*Difficulty:\*\* [●○]{3}.*\*\*Builds on:\*\* \w", first, re.DOTALL
    )
    assert "**What you can do now.**" in last


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_each_exercise_says_how_long_it_takes_and_their_sum_is_the_notebooks_time(assignment):
    first, *cells = texts(assignment)
    lines = [(text.splitlines()[0], EFFORT.findall(text)) for text in cells]
    assert all(len(found) == 1 for heading, found in lines if re.match(r"## \d+\. ", heading))
    minutes = sum(int(found) for _, each in lines for found in each)
    assert minutes == int(re.search(r"about (\d+) minutes", first)[1])


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_cells_are_short_and_have_one_heading(assignment):
    for text in texts(assignment)[1:]:
        assert len(text.split()) <= CELL_WORDS, text
        assert not re.search(r"\n#+ ", text), text


def test_term_is_bold_once_in_its_assignment():
    assert len(terms()) > 15
    bold = [(word.lower(), a.name[:2]) for a in ASSIGNMENTS for text in texts(a) for word in BOLD.findall(text)]
    for term, assignment in terms():
        assert [where for word, where in bold if word == term.lower()] == [assignment], term


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_stub_docstrings_fit_jupyterlabs_help(assignment):
    released = ROOT / "assignments" / assignment.name / assignment.notebook.name
    cells = [cell for cell in nbformat.read(released, as_version=4).cells if cell.get("metadata", {}).get("nbgrader")]
    trees = [ast.parse(cell.source) for cell in cells if cell.cell_type == "code" and "def " in cell.source]
    kinds = ast.FunctionDef | ast.ClassDef
    docs = [ast.get_docstring(node) or "" for tree in trees for node in ast.walk(tree) if isinstance(node, kinds)]
    assert sum(map(bool, docs)) >= len(assignment.exercises)
    assert [line for text in docs for line in text.splitlines() if len(line) > HELP_WIDTH] == []


def sentences(text):
    """The sentences of a cell, split at colons and semicolons, too."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$|^\|.*$", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    paragraphs = re.split(r"\n\s*\n|\n(?=\d+\. |- |#)", re.sub(r"\]\([^)]*\)", "]", text))
    return [one for part in paragraphs for one in re.split(r"(?<=[.!?:;])[*\"”)]*\s+", part.strip())]


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_sentences_are_short(assignment):
    for text in texts(assignment):
        for sentence in sentences(text):
            assert len(sentence.split()) <= SENTENCE_WORDS, sentence


@pytest.mark.parametrize("term", [term for term, _ in terms()])
def test_term_is_explained_where_it_first_occurs(term):
    """From the first notebook to the last, the first cell with the term has it in bold."""
    word = re.compile(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])".replace(r"\ ", r"\s+"), re.IGNORECASE)
    cells = [text for assignment in ASSIGNMENTS for text in texts(assignment)]
    first = next(cell for cell in cells if word.search(re.sub(r"`[^`]*`", "", cell)))
    assert term.lower() in [bold.lower() for bold in BOLD.findall(first)], first


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_notebooks_page_repeats_title_time_and_difficulty(assignment):
    first = texts(assignment)[0]
    page = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    minutes, level = re.search(r"about (\d+) minutes.*?([●○]{3})", first, re.DOTALL).groups()
    name = f"{assignment.name[:2]} {first.splitlines()[0].removeprefix('# ')}"
    assert re.search(rf"^\| {re.escape(name)} \| {minutes} \| {level} \| \d+ \|$", page, re.MULTILINE)
    assert (ROOT / "docs" / f"best-{assignment.name[:2]}.png").stat().st_size > 1000
