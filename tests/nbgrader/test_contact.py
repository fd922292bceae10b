"""A feedback page ends with a link to somebody who can help, if the course says where to write."""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

import bs4
import pytest

from autograder.course.content import CourseSettings
from autograder.errors import CourseError
from autograder.nbgrader.feedback_page import something_wrong
from autograder.reading import checked
from tests.helpers.small_course import EXERCISE, NAME, WRONG, graded, submit

ODD = {"student": 'a&b"<c>{test}', "assignment": "a1", "notebook": "first"}


def links(page):
    return [(a.text, a["href"]) for a in bs4.BeautifulSoup(page, "html.parser").find_all("a")]


@pytest.mark.slow
@pytest.mark.parametrize("contact", ["", 'contact = "mailto:help@example.edu"\n'], ids=["none", "mail"])
def test_feedback_page_ends_with_the_contact_of_the_course(course, contact):
    settings = next(course.root.glob("*/course.toml"))
    settings.write_text(contact + settings.read_text())
    submit(course, "ann", {EXERCISE: WRONG})
    outcomes, _ = graded(course, feedback=True)
    assert [outcome.reason for outcome in outcomes] == [None]
    (path,) = (course.root / "feedback" / "ann" / NAME).glob("*.html")
    page = bs4.BeautifulSoup(path.read_text(), "html.parser")
    asked = [p for p in page.find_all("p") if "Something wrong?" in p.text]
    if not contact:
        assert not asked and "help@example" not in path.read_text()
        return
    assert page.main.find_all("p")[-1] == asked[0]
    ((text, address),) = links(str(asked[0]))
    parts = urlsplit(address)
    assert (text, parts.scheme, parts.path) == (EXERCISE, "mailto", "help@example.edu")
    assert parse_qs(parts.query)["subject"] == [f"ann, {NAME}, {EXERCISE}, test_values"]


def test_address_is_filled_and_escaped():
    contact = "https://help.example.edu/?who={student}&what={assignment}/{exercise}#{test}"
    page = something_wrong(contact, ODD, {"f": "test_x", "g": ""})
    (_, first), (_, second) = links(page)
    assert "<c>" not in page and "&quot;" not in first
    assert first == "https://help.example.edu/?who=a%26b%22%3Cc%3E%7Btest%7D&what=a1/f#test_x"
    assert second.endswith("&what=a1/g#")
    assert unquote(urlsplit(first).query).startswith(f"who={ODD['student']}")


def test_without_an_exercise_the_link_names_the_assignment():
    assert links(something_wrong("mailto:a@b.org?cc=c@b.org", ODD | {"student": "ann"}, {})) == [
        ("a1", "mailto:a@b.org?cc=c@b.org&subject=ann%2C%20a1")
    ]


@pytest.mark.parametrize("contact", ["help@example.edu", "javascript:alert(1)", "mailto:{name}@b.org", "https://a b"])
def test_unusable_contact_is_refused(contact):
    with pytest.raises(CourseError, match=r"course.toml: contact: .*begins with mailto: or https://"):
        checked({"contact": contact}, CourseSettings, "course.toml")
