"""What students read between the exercises: where a notebook begins and ends, one idea a cell, and every term once."""

from __future__ import annotations

import ast
import re

import nbformat
import pytest

from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS

LONGEST = 270  # words of a cell; the first one, with the list of exercises, may have more
HELP = 88  # characters
BOLD = re.compile(r"\*\*([^*]+)\*\*")


def texts(assignment):
    """The Markdown cells that are not a written answer, in order."""
    cells = nbformat.read(assignment.notebook, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown" and "nbgrader" not in cell.metadata]


def terms():
    """Each term of the page, and the assignment that it names."""
    rows = re.findall(
        r"^\| ([^|]+) \| (a\d) \|", (ROOT / "docs" / "terms.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    return [(term, assignment) for names, assignment in rows for term in names.split(", ")]


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_a_notebook_says_what_it_takes_and_what_one_can_do_after_it(assignment):
    first, *_, last = texts(assignment)
    assert re.search(
        r"\*\*Time:\*\* about \d+ minutes.*\*\*Difficulty:\*\* [●○]{3}.*\*\*Builds on:\*\* \w", first, re.DOTALL
    )
    assert "**What you can do now.**" in last


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_a_cell_holds_one_idea(assignment):
    for text in texts(assignment)[1:]:
        assert len(text.split()) <= LONGEST, text
        assert not re.search(r"\n#+ ", text), text


def test_each_term_is_bold_once_and_where_the_page_says():
    assert len(terms()) > 15
    bold = [(word.lower(), a.name[:2]) for a in ASSIGNMENTS for text in texts(a) for word in BOLD.findall(text)]
    for term, assignment in terms():
        assert [where for word, where in bold if word == term.lower()] == [assignment], term


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_a_docstring_of_a_stub_fits_the_help_of_jupyterlab(assignment):
    """It has room for so many characters a line, and breaks what is longer anywhere."""
    released = ROOT / "assignments" / assignment.name / assignment.notebook.name
    cells = [cell for cell in nbformat.read(released, as_version=4).cells if cell.get("metadata", {}).get("nbgrader")]
    trees = [ast.parse(cell.source) for cell in cells if cell.cell_type == "code" and "def " in cell.source]
    kinds = ast.FunctionDef | ast.ClassDef
    docs = [ast.get_docstring(node) or "" for tree in trees for node in ast.walk(tree) if isinstance(node, kinds)]
    assert sum(map(bool, docs)) >= len(assignment.exercises)
    assert [line for text in docs for line in text.splitlines() if len(line) > HELP] == []


SENTENCE = 38  # words of a sentence; in a table or a formula nothing counts


def sentences(text):
    """The sentences of a cell, and parts of them that a colon or a semicolon ends."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$|^\|.*$", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    paragraphs = re.split(r"\n\s*\n|\n(?=\d+\. |- |#)", re.sub(r"\]\([^)]*\)", "]", text))
    return [one for part in paragraphs for one in re.split(r"(?<=[.!?:;])[*\"”)]*\s+", part.strip())]


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_a_sentence_is_read_once(assignment):
    for text in texts(assignment):
        for sentence in sentences(text):
            assert len(sentence.split()) <= SENTENCE, sentence


@pytest.mark.parametrize("term", [term for term, _ in terms()])
def test_a_term_is_first_read_where_it_is_explained(term):
    """Read from the first notebook to the last, no cell has the word before the one that has it in bold."""
    word = re.compile(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])".replace(r"\ ", r"\s+"), re.IGNORECASE)
    cells = [text for assignment in ASSIGNMENTS for text in texts(assignment)]
    first = next(cell for cell in cells if word.search(re.sub(r"`[^`]*`", "", cell)))
    assert term.lower() in [bold.lower() for bold in BOLD.findall(first)], first


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_the_page_of_notebooks_says_what_a_notebook_says(assignment):
    first = texts(assignment)[0]
    page = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    minutes, level = re.search(r"about (\d+) minutes.*?([●○]{3})", first, re.DOTALL).groups()
    name = f"{assignment.name[:2]} {first.splitlines()[0].removeprefix('# ')}"
    assert re.search(rf"^\| {re.escape(name)} \| {minutes} \| {level} \| \d+ \|$", page, re.MULTILINE)
    assert (ROOT / "docs" / f"best-{assignment.name[:2]}.png").stat().st_size > 1000
