"""JupyterLab and formgrader in real Chromium, on a real course."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from nbgrader.api import Gradebook

from autograder.classroom import fill, hand_in, mistake, model_answers

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.slow
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def chromium():
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None and not os.environ.get("CI"):
        pytest.skip("no Chromium on this machine (on Debian: apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def lab(root):
    """JupyterLab on the course in `root`; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = (f"--port={port}", "--ServerApp.token=secret", f"--ServerApp.root_dir={root}")
    command = [sys.executable, "-m", "jupyter", "lab", "--allow-root", "--no-browser", *options]
    with open(root / "lab.log", "wb") as log:
        server = subprocess.Popen(command, cwd=root, stdout=log, stderr=log)
        try:
            for _ in range(300):
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/api?token=secret").close()
                    break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(20)


def test_formgraders_buttons_release_autograde_and_write_feedback(own_course, chromium):
    assignment = own_course.assignment("a1_scaled_dot_product")
    with lab(own_course.root) as address:
        page = chromium.new_page()
        page.goto(f"{address}/formgrader?token=secret")
        row = page.locator("tr", has_text=assignment.name)
        row.locator(".assign a").click()
        page.locator(".modal-title", has_text="Success").wait_for(timeout=60_000)

        released = own_course.root / "assignments" / assignment.name / assignment.notebook.name
        wrong = model_answers(assignment) | mistake(assignment, "no-scaling", "attention_scores")
        hand_in(fill(released, wrong), own_course.root / "submitted", "sam", assignment)
        page.goto(f"{address}/formgrader/manage_submissions/{assignment.name}")
        row = page.locator("tr", has_text="sam")
        row.locator(".autograde a").click()
        page.locator(".modal-title", has_text="Success").wait_for(timeout=90_000)
        page.locator(".modal-footer button").last.click()
        with Gradebook(f"sqlite:///{own_course.root}/gradebook.db") as book:
            score = book.find_submission(assignment.name, "sam").score
        assert 10 < score < 20
        page.goto(f"{address}/formgrader/manage_submissions/{assignment.name}")
        row = page.locator("tr", has_text="sam")
        assert f"{score:g} / 24" in row.inner_text()

        row.locator(".generate-feedback a").click()
        page.locator(".modal-title", has_text="Success").wait_for(timeout=60_000)
        page.goto((own_course.root / "feedback" / "sam" / assignment.name / "scaled_dot_product.html").as_uri())
        rubric = page.locator(".autograder-rubric", has_text="attention_scores:").first
        assert "✗ not yet" in rubric.inner_text()
        assert "no-scaling" in rubric.inner_text()
        page.close()


def test_an_instructor_opens_a_source_notebook_with_the_create_assignment_panel(own_course, chromium):
    notebook = own_course.assignment("a1_scaled_dot_product").notebook
    before = notebook.read_text()
    with lab(own_course.root) as address:
        page = chromium.new_page(viewport={"width": 1400, "height": 900})
        page.goto(f"{address}/lab/tree/source/a1_scaled_dot_product/{notebook.name}?token=secret")
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
