"""The pictures in `docs/`, from a real JupyterLab and real pages of a small class: `make pictures`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook

from autograder.authoring.sample_class import fill, mistake, model_answers
from autograder.course.assignments import Course
from tests.conftest import ROOT, copy_course
from tests.helpers.browser import Tab, chromium, lab
from tests.helpers.classes import class_with_pages
from tools.site.start_page import start_page

A1, UNSCALED = "a1_scaled_dot_product", "no-scaling"
WIDTH = 940  # pixels, as wide as a page of documentation
DOCS = ROOT / "docs"
# The mistakes of each student; None has not started. Their written answers are those below, in turn.
CLASS = {
    "ada": {}, "ben": {}, "chloe": {UNSCALED: "attention_scores"}, "dmitri": {UNSCALED: "attention_scores"},
    "elif": {"axis-ignored": "softmax"}, "farid": {}, "ines": {"softmax-twice": "scaled_dot_product_attention"},
    "grace": {"axis-ignored": "softmax", "keys-blended": "scaled_dot_product_attention"}, "juno": None,
    "hugo": {"scale-by-d_k": "attention_scores"}, "sam": {UNSCALED: "attention_scores"},
}  # fmt: skip
WRITTEN = (
    "*Belong* asks: what can be owned, and who owns it? *Keys* and *Sarah* answer. With one vector for both, a word "
    "would look for words like itself.",
    "*Belong* asks: what can be owned, and who owns it? *Keys* and *Sarah* answer. With one vector for both, each word "
    "would look for words like itself.",
    "It looks for nouns. They are different because they are two matrices.",
)


def main() -> None:
    """Write all pictures of `docs/` except the SVGs."""
    with tempfile.TemporaryDirectory() as folder:
        course = copy_course(Path(folder) / "course")
        graded_class(course)
        with chromium() as browser:
            students_site(browser, Path(folder) / "site")
            feedback(browser, course.root / "feedback" / "sam" / A1 / "scaled_dot_product.html")
            report(browser, course.root / "class.html")
            written(browser, course.root / "written.html")
            with lab(course.root) as address:
                in_the_notebook(Tab(browser, address, "tab.ipynb"))
                in_formgrader(browser, address, submission_of(course, "sam"))


def students_site(browser, folder):
    """The start page of the students' site, as at an address that Colab can open."""
    folder.mkdir()
    start_page(Course(ROOT), folder, "https://me.github.io/course")
    page = browser.new_page(viewport={"width": 1180, "height": 830})
    page.goto((folder / "index.html").as_uri())
    page.wait_for_load_state("networkidle")
    page.screenshot(path=DOCS / "site.png")
    page.close()


def graded_class(course):
    """Grade a class, and create its feedback, class report and page of written answers."""
    assignment, handed_in = course.assignment(A1), {}
    right = model_answers(assignment)
    for number, (student, mistakes) in enumerate(CLASS.items()):
        answers = {} if mistakes is None else dict(right)
        for name, exercise in (mistakes or {}).items():
            answers |= mistake(assignment, name, exercise)
        handed_in[student] = answers, WRITTEN[number % len(WRITTEN)], (), ""
    class_with_pages(course, assignment, handed_in)
    notebook = fill(assignment.released, right | mistake(assignment, UNSCALED, "attention_scores"))
    nbformat.write(notebook, course.root / "tab.ipynb")


def submission_of(course, student):
    """Formgrader's id of a student's notebook."""
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        return book.find_submission_notebook("scaled_dot_product", A1, student).id


def in_the_notebook(tab):
    """A failing check, a slider, and a question below a green check."""
    tab.page.set_viewport_size({"width": WIDTH + 80, "height": 1600})
    files = tab.page.locator("#jp-left-stack")
    if files.is_visible():  # the file browser takes a third of the width
        tab.page.keyboard.press("Control+b")
        files.wait_for(state="hidden")
    tab.run("import numpy as np")
    for code in ("def softmax(x", "def attention_scores("):
        tab.run(code)
    for code, name in (('check("attention_scores")', "check"), ("explore(at_width", "slider")):
        cell, _ = tab.run(code)
        tab.page.wait_for_timeout(1000)  # the slider's picture comes after its cell is done
        tab.page.mouse.move(0, 0)  # no row should be highlighted
        cell.locator(".jp-OutputArea").first.screenshot(path=DOCS / f"{name}.png")
    question_about_own_lines(tab)
    tab.close()


def question_about_own_lines(tab):
    """The question below a green check, with a wrong answer and the shapes line by line."""
    cell, _ = tab.run('check("softmax")')
    field = cell.get_by_label("Answer", exact=True)
    field.fill("2 3")
    field.press("Enter")
    cell.get_by_role("alert").get_by_text("The shapes for").wait_for()
    outputs = cell.locator(".jp-OutputArea-child")
    last = outputs.last.bounding_box()
    first = outputs.nth(outputs.count() - 2).bounding_box()
    height = last["y"] + last["height"] - first["y"]
    clip = {"x": first["x"], "y": first["y"], "width": first["width"], "height": height}
    tab.page.screenshot(path=DOCS / "question.png", clip=clip)


def feedback(browser, page_of_sam):
    """One exercise of a feedback page, with its heading."""
    page = browser.new_page(viewport={"width": WIDTH + 260, "height": 1000})  # its margins are wide
    page.goto(page_of_sam.as_uri())
    page.locator(".autograder-rubric", has_text="attention_scores:").first.screenshot(path=DOCS / "feedback.png")
    page.close()


def report(browser, path):
    """The class report down to its most common mistakes."""
    page = browser.new_page(viewport={"width": WIDTH, "height": 1000})
    page.goto(path.as_uri())
    heading = page.get_by_role("heading", name="Most common mistakes")
    table = heading.locator("xpath=following-sibling::div[1]").bounding_box()
    end = table["y"] + table["height"] + 4
    page.screenshot(path=DOCS / "report.png", full_page=True, clip={"x": 0, "y": 0, "width": WIDTH, "height": end})
    page.close()


def written(browser, path):
    """Two groups of written answers, one of them marked by a click on the rubric."""
    page = browser.new_page(viewport={"width": WIDTH + 60, "height": 1000})
    page.goto(path.as_uri())
    page.locator("article").first.locator(".line").nth(0).click()
    page.locator("article").first.locator(".line").nth(3).click()
    page.mouse.move(0, 0)
    page.locator("article").first.screenshot(path=DOCS / "written.png")
    page.close()


def in_formgrader(browser, address, submission):
    """A written answer in formgrader, below its model answer and the rubric, with the field for its points."""
    page = browser.new_page(viewport={"width": WIDTH + 260, "height": 900})
    page.goto(f"{address}/formgrader/submissions/{submission}?token=secret")
    page.wait_for_load_state("networkidle")
    page.get_by_text("Student's answer").last.evaluate("one => one.scrollIntoView({block: 'center'})")
    page.mouse.wheel(0, 150)
    page.wait_for_timeout(1000)
    page.screenshot(path=DOCS / "formgrader.png")
    page.close()


if __name__ == "__main__":
    main()
