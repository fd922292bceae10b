"""An instructor works in formgrader, in real Chromium: manual grades, comments, regrading, feedback."""

from __future__ import annotations

import itertools

import pytest

from autograder.authoring.sample_class import fill, hand_in, mistake, model_answers
from tests.helpers.browser import lab
from tests.helpers.small_course import NAME, book_of, said_by, small_course

pytestmark = pytest.mark.slow
sync_api = pytest.importorskip("playwright.sync_api")
A1 = "a1_scaled_dot_product"
STUDENT = "sam"


def press_button(page, button, seconds):
    """Click a button in the student's row, and wait until nbgrader has finished."""
    page.locator("tr", has_text=STUDENT).locator(button).click()
    page.locator(".modal-title", has_text="Success").wait_for(timeout=seconds * 1000)
    page.locator(".modal-footer button").last.click()


def enter_text(page, field, text):
    """Type into a field, and wait until formgrader has saved it."""
    with page.expect_response(lambda reply: reply.request.method == "PUT" and reply.ok):
        page.locator(field).click()
        page.locator(field).fill(text)
        page.locator(field).blur()


def test_manual_grades_and_comments_survive_regrading(jupyterlab, chromium):
    course, address = jupyterlab
    assignment = course.assignment(A1)
    page = chromium.new_page(viewport={"width": 1300, "height": 1000})
    page.goto(f"{address}/formgrader?token=secret")
    page.locator("tr", has_text=A1).locator(".assign a").click()
    page.locator(".modal-title", has_text="Success").wait_for(timeout=90_000)
    released = course.root / "assignments" / A1 / assignment.notebook.name
    wrong = model_answers(assignment) | mistake(assignment, "no-scaling", "attention_scores")
    hand_in(fill(released, wrong), course.root / "submitted", STUDENT, assignment)
    page.goto(f"{address}/formgrader/manage_submissions/{A1}")
    press_button(page, ".autograde a", 120)
    with book_of(course) as book:
        submission = book.find_submission_notebook("scaled_dot_product", A1, STUDENT).id
        earned = book.find_grade("test-attention_scores", "scaled_dot_product", A1, STUDENT).auto_score
        score = book.find_submission(A1, STUDENT).score
    assert 0 < earned < 5
    assert score == 15 + earned
    page.goto(f"{address}/formgrader/manage_submissions/{A1}")
    assert f"{score:g} / 24" in page.locator("tr", has_text=STUDENT).inner_text()

    grading = f"{address}/formgrader/submissions/{submission}"
    page.goto(grading)
    page.wait_for_load_state("networkidle")
    # the field shows the partial credit, and the rubric above explains it
    field = page.locator("#test-attention_scores")
    assert float(field.get_attribute("placeholder")) == pytest.approx(earned, abs=0.01)
    rubric = page.locator(".autograder-rubric", has_text="attention_scores:").first
    assert "✗ not yet" in rubric.inner_text()
    assert "no scaling" in rubric.inner_text()
    assert_readable(page, rubric)
    assert page.get_by_text("For graders, a model answer.").is_visible()

    enter_text(page, "#test-attention_scores", "4.5")
    enter_text(page, "#written-roles", "3")
    enter_text(page, "#attention_scores-comment", "Nearly: look at the square root. <b>Sam</b>")
    page.goto(f"{address}/formgrader/manage_submissions/{A1}")
    press_button(page, ".autograde a", 120)
    page.goto(grading)
    page.wait_for_load_state("networkidle")
    sync_api.expect(page.locator("#test-attention_scores")).to_have_value("4.5")
    sync_api.expect(page.locator("#written-roles")).to_have_value("3")
    sync_api.expect(page.locator("#attention_scores-comment")).to_have_value(
        "Nearly: look at the square root. <b>Sam</b>"
    )
    with book_of(course) as book:
        override = book.find_grade("test-attention_scores", "scaled_dot_product", A1, STUDENT)
        assert (override.auto_score, override.manual_score) == (earned, 4.5)
        score = book.find_submission(A1, STUDENT).score
    assert score == 4 + 4.5 + 5 + 6 + 3

    page.goto(f"{address}/formgrader/manage_submissions/{A1}")
    press_button(page, ".generate-feedback a", 60)
    page.goto((course.root / "feedback" / STUDENT / A1 / "scaled_dot_product.html").as_uri())
    text = page.locator("body").inner_text()
    assert "Nearly: look at the square root." in text
    for plumbing in ("HIDDEN", "autograder.student.stock", "Test cell", "Grade cell"):
        assert plumbing not in text
    contents = page.locator("#toc li").all_inner_texts()
    assert "attention_scores (Score: 4.5 / 5.0)" in contents and "In your own words (Score: 3.0 / 4.0)" in contents
    rubric = page.locator(".autograder-rubric", has_text="attention_scores:").first
    assert "✗ not yet" in rubric.inner_text()
    assert "no scaling" in rubric.inner_text()
    assert "your result and the expected one: 10 squares of yours differ (marked)" in rubric.inner_text()
    assert rubric.locator("svg").count() == 2
    page.close()


def assert_readable(page, rubric):
    """The table fits the page, its text is large enough, and rows do not overlap."""
    box = rubric.bounding_box()
    assert 400 < box["width"] <= page.viewport_size["width"]
    assert rubric.evaluate("one => one.scrollWidth <= one.clientWidth")
    rows = [row.bounding_box() for row in rubric.locator("tbody tr").all()]
    assert len(rows) >= 5
    for above, below in itertools.pairwise(rows):
        assert below["y"] >= above["y"] + above["height"] - 1
    sizes = rubric.locator("td").evaluate_all("all => all.map(one => parseFloat(getComputedStyle(one).fontSize))")
    assert min(sizes) >= 11


@pytest.mark.catalogue
def test_names_are_shown_correctly(tmp_path, chromium):
    """nbgrader itself adds ", None" to a name of one word."""
    course = small_course(tmp_path / "course", students=("cher", "ada", "bob"))
    (tmp_path / "class.csv").write_text("id,name\ncher,Cher\nada,Ada Lovelace\nbob,\n")
    said_by(course, "roster", tmp_path / "class.csv")
    with lab(course.root) as address:
        page = chromium.new_page()
        page.goto(f"{address}/formgrader/manage_students?token=secret")
        page.locator("td.name a", has_text="Lovelace").wait_for(timeout=60_000)
        page.wait_for_function("!document.querySelector('tbody').textContent.includes('None,')")
        assert sorted(page.locator("td.name").all_text_contents()) == ["Cher", "Lovelace, Ada", "bob"]
        page.goto(f"{address}/formgrader/manage_submissions/{NAME}")
        page.locator("td.student-name", has_text="Lovelace").wait_for(timeout=60_000)
        page.wait_for_function("!document.querySelector('tbody').textContent.includes('None,')")
        assert {"Cher", "Lovelace, Ada"} < set(page.locator("td.student-name").all_text_contents())
