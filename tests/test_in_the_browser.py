"""What an instructor does in JupyterLab and formgrader, in real Chromium, on a real course."""

from __future__ import annotations

import pytest
from nbgrader.api import Gradebook

from autograder.authors.classroom import fill, hand_in, mistake, model_answers

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.slow


def test_formgraders_buttons_release_autograde_and_write_feedback(jupyterlab, chromium):
    course, address = jupyterlab
    assignment = course.assignment("a1_scaled_dot_product")
    page = chromium.new_page()
    page.goto(f"{address}/formgrader?token=secret")
    row = page.locator("tr", has_text=assignment.name)
    row.locator(".assign a").click()
    page.locator(".modal-title", has_text="Success").wait_for(timeout=60_000)

    released = course.root / "assignments" / assignment.name / assignment.notebook.name
    wrong = model_answers(assignment) | mistake(assignment, "no-scaling", "attention_scores")
    hand_in(fill(released, wrong), course.root / "submitted", "sam", assignment)
    page.goto(f"{address}/formgrader/manage_submissions/{assignment.name}")
    row = page.locator("tr", has_text="sam")
    row.locator(".autograde a").click()
    page.locator(".modal-title", has_text="Success").wait_for(timeout=90_000)
    page.locator(".modal-footer button").last.click()
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        score = book.find_submission(assignment.name, "sam").score
    assert 10 < score < 20
    page.goto(f"{address}/formgrader/manage_submissions/{assignment.name}")
    row = page.locator("tr", has_text="sam")
    assert f"{score:g} / 24" in row.inner_text()

    row.locator(".generate-feedback a").click()
    page.locator(".modal-title", has_text="Success").wait_for(timeout=60_000)
    page.goto((course.root / "feedback" / "sam" / assignment.name / "scaled_dot_product.html").as_uri())
    rubric = page.locator(".autograder-rubric", has_text="attention_scores:").first
    assert "✗ not yet" in rubric.inner_text()
    assert "no scaling" in rubric.inner_text()
    page.close()


def test_an_instructor_opens_a_source_notebook_with_the_create_assignment_panel(jupyterlab, chromium):
    course, address = jupyterlab
    notebook = course.assignment("a1_scaled_dot_product").notebook
    before = notebook.read_text()
    page = chromium.new_page(viewport={"width": 1400, "height": 900})
    page.goto(f"{address}/lab/workspaces/instructor/tree/source/a1_scaled_dot_product/{notebook.name}?token=secret")
    page.locator(".jp-Notebook").wait_for(timeout=60_000)
    page.locator(".jp-Notebook-cell").nth(3).wait_for(timeout=60_000)
    page.get_by_role("tab", name="Nbgrader Create Assignment").or_(
        page.locator('[role="tab"][title="Nbgrader Create Assignment"]')
    ).first.click()
    total = page.locator(".nbgrader-TotalPointsInput")
    total.wait_for(timeout=60_000)
    sync_api.expect(total).to_have_value("24")
    page.close()
    assert notebook.read_text() == before
