"""The pictures in `docs/`, from a real JupyterLab and a real feedback page: `make pictures`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import nbformat

from autograder.authors.classroom import fill, hand_in, mistake, model_answers
from autograder.nbgrader import api
from tests.browser import Desk, chromium, lab
from tests.conftest import ROOT, copy_course

A1, UNSCALED = "a1_scaled_dot_product", "no-scaling"
WIDTH = 940  # pixels, as wide as a page of documentation


def main() -> None:
    """Write `docs/check.png`, `docs/slider.png` and `docs/feedback.png` anew."""
    with tempfile.TemporaryDirectory() as folder:
        course = copy_course(Path(folder) / "course")
        assignment = course.assignment(A1)
        nbgrader = api(course.root)
        assert nbgrader.generate_assignment(A1)["success"]
        released = course.root / "assignments" / A1 / assignment.notebook.name
        answers = model_answers(assignment) | mistake(assignment, UNSCALED, "attention_scores")
        hand_in(fill(released, answers), course.root / "submitted", "sam", assignment)
        assert nbgrader.autograde(A1, "*")["success"]
        assert nbgrader.generate_feedback(A1)["success"]
        nbformat.write(fill(released, answers), course.root / "desk.ipynb")
        with chromium() as browser:
            feedback(browser, course.root / "feedback" / "sam" / A1 / "scaled_dot_product.html")
            with lab(course.root) as address:
                in_the_notebook(Desk(browser, address, "desk.ipynb"))


def in_the_notebook(desk):
    """A check that fails, and a slider."""
    desk.page.set_viewport_size({"width": WIDTH + 80, "height": 1200})
    desk.page.keyboard.press("Control+b")  # no list of files beside the notebook
    desk.run("import numpy as np")
    for code in ("def softmax(x", "def attention_scores("):
        desk.run(code)
    for code, name in (('check("attention_scores")', "check"), ("explore(at_width", "slider")):
        cell, _ = desk.run(code)
        desk.page.wait_for_timeout(1000)  # the slider's picture comes after its cell is done
        desk.page.mouse.move(0, 0)  # no row is lit up
        cell.locator(".jp-OutputArea").first.screenshot(path=ROOT / "docs" / f"{name}.png")
    desk.close()


def feedback(browser, page_of_sam):
    """One exercise of a feedback page, with its heading."""
    page = browser.new_page(viewport={"width": WIDTH + 260, "height": 1000})  # its margins are wide
    page.goto(page_of_sam.as_uri())
    page.locator(".autograder-rubric", has_text="attention_scores:").first.screenshot(path=ROOT / "docs/feedback.png")
    page.close()


if __name__ == "__main__":
    main()
