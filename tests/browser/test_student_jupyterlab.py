"""A student works through a released notebook in JupyterLab, in real Chromium."""

from __future__ import annotations

import re
import shutil

import nbformat
import pytest

from autograder.authoring.sample_class import fill, model_answers
from tests.conftest import ROOT
from tests.helpers.browser import Tab
from tests.helpers.in_process import COURSE
from tests.helpers.slips import checked, first_line
from tests.helpers.wrong_code import wrong_code_of

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.slow

A1 = COURSE.assignment("a1_scaled_dot_product")
UNSCALED = (
    "def attention_scores(Q, K):\n    import warnings; warnings.warn('be careful')\n    return Q @ K.swapaxes(-2, -1)"
)


@pytest.fixture
def open_notebook(jupyterlab, chromium, request):
    """Opens a released notebook with these answers in a new folder."""
    course, address = jupyterlab
    tabs = []

    def sit(assignment, answers=None):
        folder = course.root / "tabs" / re.sub(r"\W", "", request.node.name)
        shutil.copytree(ROOT / "assignments" / assignment.name, folder)
        path = folder / assignment.notebook.name
        if answers:
            nbformat.write(fill(path, answers), path)
        tabs.append(Tab(chromium, address, path.relative_to(course.root).as_posix()))
        return tabs[-1]

    yield sit
    for tab in tabs:
        tab.close()
        assert tab.complaints == []


def all_pass(exercise):
    return re.compile(rf"{exercise}: (\d+) of \1 visible tests pass")


def assert_first_slip_is_explained(tab, assignment):
    """Types the first slip of the first exercise and reads the check's output."""
    slip = wrong_code_of(assignment, "slip")[0]
    tab.write(f"def {slip.exercise}(", slip.code)
    cell, _ = tab.run(f'check("{slip.exercise}")')
    shown = " ".join(cell.locator(".jp-OutputArea").first.inner_text().split())
    for part in first_line(checked(slip)).replace("`", "").split(" → "):
        assert " ".join(part.split()) in shown


def test_run_all_then_mistakes_then_passing_checks_and_validate(open_notebook):
    answers = model_answers(A1)
    tab = open_notebook(A1)
    tab.menu("Run", "Run All Cells")  # stops at no cell of an untouched notebook
    last = tab.cell("ready_made = F.scaled_dot_product_attention")
    needs = "This cell needs `torch_scaled_dot_product_attention`. Finish it and run this cell again."
    sync_api.expect(last).to_contain_text(needs, timeout=60_000)
    sync_api.expect(tab.cell('check("torch_scaled_dot_product_attention")')).to_contain_text("not started yet")
    assert tab.page.locator(".jp-OutputArea-output.jp-mod-error, [data-mime-type$='error']").count() == 0
    tab.run("def softmax(x")
    cell, _ = tab.run('check("softmax")')
    sync_api.expect(cell).to_contain_text("softmax: not started yet. Replace raise NotImplementedError()")

    assert_first_slip_is_explained(tab, A1)
    tab.write("def softmax(x", answers["softmax"])
    cell, seconds = tab.run('check("softmax")')
    sync_api.expect(cell).to_contain_text(all_pass("softmax"))
    sync_api.expect(cell.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "1")
    assert seconds < 2  # well under a second on an idle machine

    tab.write("def attention_scores(", UNSCALED)
    cell, _ = tab.run('check("attention_scores")')
    sync_api.expect(cell).to_contain_text("✗ not yet")
    sync_api.expect(cell).to_contain_text(
        "attention_scores(Q, K) with Q (1, 4), K (3, 4): the result came out as [[2, 6, 4]], wanted [[1, 3, 2]]"
    )
    sync_api.expect(cell).to_contain_text("Known mistake: no scaling.")
    yours, asked_for = cell.get_by_role("img").all()
    assert "who: the 0.00, black -2.00, cat 4.00, dreams 2.00" in yours.get_attribute("aria-label")
    assert "who: the 0.00, black -1.41, cat 2.83, dreams 1.41" in asked_for.get_attribute("aria-label")
    assert yours.locator("[stroke-dasharray]").count() == 10

    validation = tab.validate()
    assert 'check("softmax")' not in validation
    assert 'check("attention_scores")' in validation
    assert "scaled_dot_product_attention: not started yet" in validation
    assert "You did not provide a response." in validation  # the written question

    tab.write("def attention_scores(", answers["attention_scores"])
    cell, _ = tab.run('check("attention_scores")')
    sync_api.expect(cell).to_contain_text(all_pass("attention_scores"))
    assert cell.locator("[stroke-dasharray]").count() == 0


@pytest.mark.catalogue
def test_finished_notebook_survives_restart_save_and_reload(open_notebook):
    tab = open_notebook(A1, model_answers(A1))
    words = tab.page.locator(".jp-MarkdownCell", has_text="YOUR ANSWER HERE")
    words.dblclick()
    words.locator(".cm-content").click()
    tab.page.keyboard.press("Control+a")
    tab.page.keyboard.insert_text("It looks for a thing and for a person.")
    tab.page.keyboard.press("Shift+Enter")

    tab.run("import numpy as np")
    cell, _ = tab.run('check("attention_scores")')  # before the cell above it
    sync_api.expect(cell).to_contain_text(
        "attention_scores: not started yet. Run the cell that defines attention_scores first, "
        "below the heading “2. attention_scores”."
    )
    tab.menu("Kernel", "Restart Kernel and Run All Cells…")
    tab.page.locator(".jp-Dialog").get_by_role("button", name="Confirm Kernel Restart").click()
    last = tab.cell('check("torch_scaled_dot_product_attention")')
    sync_api.expect(last).to_contain_text(all_pass("torch_scaled_dot_product_attention"), timeout=60_000)
    sync_api.expect(last).to_contain_text("4 of 4 exercises of a1, scaled dot product, pass their checks. Well done!")
    assert "Success! Your notebook passes all the tests." in tab.validate()

    tab.page.keyboard.press("Control+s")
    tab.page.reload()
    sync_api.expect(last.get_by_role("img")).to_have_count(1, timeout=60_000)  # one, since it is the expected one
    sync_api.expect(last).to_contain_text("4 of 4 exercises")


@pytest.mark.catalogue
def test_notebook_works_without_a_mouse(open_notebook):
    """Cells, a passing check, a hint, a slider and Validate."""
    tab = open_notebook(A1)
    keys = tab.page.keyboard
    cell = tab.cell("import numpy as np")
    tab.page.locator(".jp-Notebook").focus()
    for _ in ("the title", "what help is allowed"):
        keys.press("Shift+Enter")
    tab.press_and_wait(cell, "Shift+Enter")
    select(tab, "def softmax(x")
    keys.press("Enter")
    keys.press("Control+a")
    keys.insert_text(model_answers(A1)["softmax"])
    tab.press_and_wait(tab.cell("def softmax(x"), "Shift+Enter")
    check = tab.cell('check("softmax")')
    tab.press_and_wait(check, "Shift+Enter")
    sync_api.expect(check).to_contain_text(all_pass("softmax"))
    keys.press("b")  # a new cell
    keys.press("Enter")
    keys.insert_text('hint("attention_scores")')
    hint = tab.page.locator(".jp-Notebook-cell.jp-mod-active")
    keys.press("Control+Enter")
    sync_api.expect(hint).to_contain_text("attention_scores: hint 1 of 3")

    slider = select(tab, "explore(at_width")
    tab.press_and_wait(slider, "Control+Enter")
    sync_api.expect(slider).to_contain_text("the square root of d_k is 8")
    slider.locator(".noUi-handle").wait_for()
    tab.move_to(slider.locator(".noUi-handle"), "Tab")
    keys.press("ArrowRight")
    sync_api.expect(slider).to_contain_text("the square root of d_k is 16")
    tab.move_to(slider.locator("summary"), "Tab")
    keys.press("Enter")
    pictures = slider.locator("details").get_by_role("img")
    sync_api.expect(pictures.first).to_be_visible()
    assert pictures.count() == 8

    tab.move_to(tab.page.locator(".jp-NotebookPanel-toolbar"), "Shift+Tab")
    tab.move_to(tab.page.locator(".validate-button"), "ArrowRight")
    keys.press("Enter")
    assert 'check("softmax")' not in tab.validation()


def select(tab, text):
    """Move with the arrow keys to the cell that holds `text`."""
    tab.page.keyboard.press("Escape")
    for _ in range(40):
        if text in tab.page.locator(".jp-Notebook-cell.jp-mod-active").inner_text():
            return tab.cell(text)
        tab.page.keyboard.press("ArrowDown")
    raise AssertionError(f"no arrow leads to {text}")
