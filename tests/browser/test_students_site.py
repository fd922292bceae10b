"""The students' site in real Chromium without a network: notebooks that run in the browser, and nothing secret."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import time
import zipfile

import pytest
import yaml

from autograder.authoring.sample_class import mistake, model_answers
from tests.conftest import ROOT
from tests.helpers import places, pyodide
from tests.helpers.accessible import violations_of
from tests.helpers.browser import Tab
from tests.helpers.in_process import ASSIGNMENTS, COURSE
from tools.site import secrets
from tools.site.start_page import start_page

sync_api = pytest.importorskip("playwright.sync_api")
A1 = ASSIGNMENTS[0]
NUMPY_HALF = ("softmax", "attention_scores", "scaled_dot_product_attention")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `make site` builds it, but with versions that work without a network."""
    return pyodide.site(tmp_path_factory.mktemp("site"))


# ---------------------------------------------------------------- the start page


def links(page):
    return re.findall(r'href="([^"]*)"', page.read_text())


@pytest.mark.parametrize(
    ("address", "colab"), [("", 0), ("https://edu.org/course", 0), ("https://ada.github.io/c/", 9)]
)
def test_start_page_leads_to_every_notebook(tmp_path, address, colab):
    start_page(COURSE, tmp_path, address)
    found = links(tmp_path / "index.html")
    assert (
        sum(link.startswith("https://colab.research.google.com/github/ada/c/blob/gh-pages") for link in found) == colab
    )
    assert sum(link.startswith("lite/lab/index.html?path=a") for link in found) == 8  # all but a6, which needs PyTorch
    for assignment in ASSIGNMENTS:
        assert f"files/{assignment.notebook.name}" in found
        for exercise in assignment.exercises:
            assert f"<code>{exercise.name}</code>" in (tmp_path / "index.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("view", ["wide", "narrow"])
def test_start_page_is_accessible(tmp_path, chromium, view):
    start_page(COURSE, tmp_path, "https://ada.github.io/course")
    assert violations_of(chromium, (tmp_path / "index.html").as_uri(), view) == []


@pytest.mark.catalogue
def test_every_link_of_the_site_leads_somewhere(site):
    for page in (site / "index.html", *site.glob("docs/*.html")):
        for link in links(page):
            path = re.split("[?#]", link)[0]
            if path and not path.startswith(("http", "mailto:", "data:")) and page.name != "404.html":
                assert (page.parent / path).exists(), (page, link)
    for assignment in ASSIGNMENTS:
        assert (site / "lite" / "files" / assignment.name / assignment.notebook.name).is_file()
    assert {page.stem for page in site.glob("docs/*.html")} == {"404", "index", "notebooks", "terms", "accessibility"}


def test_workflow_builds_the_site_that_make_describes():
    (job,) = yaml.safe_load((ROOT / ".github" / "workflows" / "site.yml").read_text())["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands[0].startswith('make site ADDRESS="https://')
    assert "cd public\n" in commands[1]
    assert "-m tools.site public " in (ROOT / "Makefile").read_text()


def test_page_on_the_site_names_the_versions():
    """Those that were tested, and those that `make site` takes."""
    pins = re.findall(r"^(?:jupyterlite-.*|msgspec)==.*", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    text = (ROOT / "docs" / "site.md").read_text()
    for pin in (*pyodide.JUPYTERLITE, *pins):
        assert pin.partition("==")[2] in text, pin


@pytest.mark.catalogue
def test_make_site_builds_it_from_a_checkout(tmp_path):
    """With the JupyterLite that teachers get. Nothing opens it: its Pyodide comes from another server."""
    checkout = places.checkout(tmp_path / "checkout")
    places.typed("make site ADDRESS=https://ada.github.io/course", checkout, PYTHONPATH=str(checkout))
    assert (checkout / "public" / "docs" / "index.html").is_file()
    index = json.loads((checkout / "public" / "lite" / "pypi" / "all.json").read_text())
    assert {"msgspec", "pytest", "rich", "cellcage", "sandboxed-autograder", "multi-head-attention-course"} <= set(
        index
    )
    first = json.loads((checkout / "public" / "files" / A1.notebook.name).read_text())["cells"][0]
    assert "https://ada.github.io/course/files" in "".join(first["source"])


# ---------------------------------------------------------------- nothing secret


@pytest.mark.slow
def test_secrets_are_found(tmp_path):
    """Hidden tests in an archive, a known mistake in a page, a model answer in a notebook. Students' files are fine."""
    home = ROOT / "attention_course"
    hidden = (home / A1.name / "softmax" / "hidden_tests.py").read_text()
    wrong = (home / A1.name / "softmax" / "mistakes.py").read_text()
    (tmp_path / "page.html").write_text(f"<pre>\n{html.escape(wrong)}</pre>")
    (tmp_path / "solved.ipynb").write_text(A1.notebook.read_text())
    with zipfile.ZipFile(tmp_path / "some.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("tests.txt", hidden)
        wheel.writestr("attention_course/hidden/models.py", "")
    (tmp_path / "released.ipynb").write_text(A1.released.read_text())
    (tmp_path / "visible.txt").write_text((home / A1.name / "softmax" / "visible_tests.py").read_text())
    found = [re.split(" is | holds ", line)[0] for line in secrets.found(COURSE, tmp_path)]
    assert found == ["page.html", "solved.ipynb", "some.whl!tests.txt", "some.whl!attention_course/hidden/models.py"]


@pytest.mark.catalogue
def test_site_holds_no_secret(site):
    """`make site` looks, too, and fails if it finds one."""
    assert list(secrets.found(COURSE, site)) == []
    assert len(list(secrets.every_file(site / "files"))) > 300  # the wheels were opened


# ---------------------------------------------------------------- in the browser


class LiteTab(Tab):
    """A notebook in JupyterLite, opened from the start page. Collects the requests to other servers."""

    SECONDS = 150

    def __init__(self, browser, address, number):
        self.complaints, self.elsewhere = [], []
        self.page = browser.new_page(viewport={"width": 1300, "height": 1000})
        self.page.on("request", lambda request: self.note(request.url, address))
        self.page.goto(f"{address}/index.html")
        self.page.get_by_role("link", name=f"Open {number} in the browser").click()
        self.clicked = time.monotonic()
        self.page.locator(".jp-Notebook-cell").nth(3).wait_for(timeout=60_000)
        # JupyterLite forgets a cell that is run before the kernel is there.
        self.page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for(timeout=60_000)

    def download(self):
        """Save, and choose Download in the list of files. This version of JupyterLite has no File, Download."""
        self.page.keyboard.press("Control+s")
        self.page.get_by_text("Saving completed").wait_for()
        self.page.locator(".jp-DirListing-item").click(button="right")
        self.page.locator(".lm-Menu").get_by_text("Download", exact=True).click()

    def note(self, url, address):
        """Remember requests to other servers. They fail."""
        if not url.startswith((address, "data:", "blob:")):
            self.elsewhere.append(url)


def passes(exercise):
    return re.compile(rf"{exercise}: (\d+) of \1 visible tests pass")


@pytest.mark.catalogue
def test_a1_in_the_browser_from_the_link_to_the_grade(site, chromium, tmp_path):
    answers = model_answers(A1)
    with pyodide.served(site) as address:
        tab = LiteTab(chromium, address, "a1")
        cell, _ = tab.run("Run this first")
        sync_api.expect(cell).to_contain_text("You practise in this browser.")
        tab.run("from attention_course import check, explore")
        tab.write("def softmax(x", answers["softmax"])
        cell, _ = tab.run('check("softmax")')
        sync_api.expect(cell).to_contain_text(passes("softmax"))
        print(f"the first green check: {time.monotonic() - tab.clicked:.0f} s after the click")
        tab.write("def attention_scores(", mistake(A1, "no-scaling", "attention_scores")["attention_scores"])
        cell, _ = tab.run('check("attention_scores")')
        sync_api.expect(cell).to_contain_text("Known mistake: no scaling.")
        assert cell.get_by_role("img").count() == 2
        tab.write("def attention_scores(", answers["attention_scores"])
        cell, _ = tab.run('check("attention_scores")')
        sync_api.expect(cell).to_contain_text(passes("attention_scores"))
        tab.write("def scaled_dot_product_attention(", answers["scaled_dot_product_attention"])
        cell, _ = tab.run('check("scaled_dot_product_attention")')
        sync_api.expect(cell).to_contain_text("3 of 4 exercises of a1, scaled dot product, pass their checks.")
        slider, _ = tab.run("explore(at_width")
        sync_api.expect(slider).to_contain_text("the square root of d_k is")
        cell, _ = tab.run('check("torch_scaled_dot_product_attention")')
        sync_api.expect(cell).to_contain_text("This needs PyTorch, which a browser does not have")
        cell, _ = tab.run("progress()")
        sync_api.expect(cell).to_contain_text("met in attention_scores: no scaling (fixed)")
        sync_api.expect(cell).to_contain_text("Kept in /drive/")
        with tab.page.expect_download() as download:
            tab.download()
        path = tmp_path / "submitted" / "ada" / A1.name / A1.notebook.name
        download.value.save_as(path)
        assert tab.elsewhere == []
        tab.page.close()
    command = [
        sys.executable,
        "-m",
        "autograder",
        "grade",
        path,
        "--assignment",
        A1.name,
        "--json",
        tmp_path / "marks.json",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    (report,) = json.loads((tmp_path / "marks.json").read_text())
    assert report["status"] == "graded", done.stdout + done.stderr
    marks = {one["name"]: (one["score"], one["max_score"]) for one in report["exercises"]}
    assert all(marks[name][0] == marks[name][1] for name in NUMPY_HALF), marks
    assert marks["torch_scaled_dot_product_attention"][0] == 0


@pytest.mark.catalogue
@pytest.mark.parametrize(
    ("number", "exercise", "wrong"),
    [
        (2, "causal_mask", "mask-off-by-one"),
        (3, "split_heads", "split-without-transpose"),
        (4, "projection_shapes", "transposed"),
    ],
)
def test_named_mistake_then_green_check_in_the_browser(site, chromium, number, exercise, wrong):
    assignment = ASSIGNMENTS[number - 1]
    with pyodide.served(site) as address:
        tab = LiteTab(chromium, address, f"a{number}")
        tab.run("Run this first")
        tab.run("from attention_course import check, ")
        tab.write(f"def {exercise}(", mistake(assignment, wrong, exercise)[exercise])
        cell, _ = tab.run(f'check("{exercise}")')
        sync_api.expect(cell).to_contain_text(f"Known mistake: {wrong.replace('-', ' ')}.")
        tab.write(f"def {exercise}(", model_answers(assignment)[exercise])
        cell, _ = tab.run(f'check("{exercise}")')
        sync_api.expect(cell).to_contain_text(passes(exercise))
        tab.page.close()
