"""What help is allowed stands at the top of each released notebook, if the course says it; no mark depends on it."""

from __future__ import annotations

import nbformat
import pytest

from autograder.authoring.generated_files import sync
from autograder.course.assignments import Course
from autograder.course.content import settings_now
from tests.conftest import ROOT
from tests.helpers.small_course import NAME, graded, nbgrader, released, submit

HELP = '# Ask the dean first.\nhelp = """\nTalk about *ideas*. Your code is your own.\n"""\n\n'
SHOWN = "**What help is allowed.** Talk about *ideas*. Your code is your own."


def with_lines(course, text):
    settings = next(course.root.glob("*/course.toml"))
    settings.write_text(text + settings.read_text())


def texts(course):
    return [cell.source for cell in nbformat.read(released(course), as_version=4).cells]


@pytest.mark.slow
def test_release_says_what_help_is_allowed(course):
    before = texts(course)
    with_lines(course, HELP)
    nbgrader(course, "generate_assignment", NAME)
    assert texts(course) == [before[0], SHOWN, *before[1:]]
    by_nbgrader = released(course).read_bytes()
    released(course).unlink()
    assert list(sync(course)) == [released(course)]
    assert released(course).read_bytes() == by_nbgrader
    submit(course, "ann")
    outcomes, _ = graded(course, feedback=True)
    assert [one.reason for one in outcomes] == [None]
    (page,) = (course.root / "feedback" / "ann" / NAME).glob("*.html")
    assert "Talk about <em>ideas</em>" in page.read_text()


@pytest.mark.parametrize("lines", [HELP, 'contact = "mailto:a@b.org"\n', HELP + 'contact = "https://b.org/{test}"\n'])
def test_no_mark_depends_on_what_students_read(course, lines):
    before = Course(course.root).assignment(NAME).version
    with_lines(course, lines)
    assert Course(course.root).assignment(NAME).version == before
    with_lines(course, "early = []\n")
    assert Course(course.root).assignment(NAME).version != before


def test_students_guide_of_this_course_says_the_same():
    said = settings_now(ROOT).help
    assert said.split() and " ".join(said.split()) in " ".join((ROOT / "docs" / "student.md").read_text().split())
