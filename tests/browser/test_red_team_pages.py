"""Attackers and honest students in one nbgrader course: their marks, and their pages in Chromium.

The pages are formgrader's (lists of submissions and students, one submission) and the feedback.
"""

from __future__ import annotations

import json
import re
import shutil

import nbformat
import pytest

from autograder.authoring.sample_class import model_answers
from tests.helpers.attacks import ATTACKS
from tests.helpers.browser import lab
from tests.helpers.small_course import (
    BUILT,
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRITTEN,
    WRONG,
    book_of,
    nbgrader,
    small_course,
    submit,
)  # fmt: skip

pytestmark = pytest.mark.slow
TEST = f"test-{EXERCISE}"
MALLORY = "<img src=x onerror=window.acted=1>"  # a folder's name is the student's id
PLACES = (
    f"manage_submissions/{NAME}", "manage_students", f"manage_students/{MALLORY}", f"manage_students/{MALLORY}/{NAME}",
    "manage_students/loud", f"manage_students/loud/{NAME}", "gradebook", f"gradebook/{NAME}",
    f"gradebook/{NAME}/first", f"manage_submissions/{MALLORY}", f"gradebook/{MALLORY}",
    'manage_students/";window.acted=1;"', f'gradebook/{NAME}/";window.acted=1;"',
)  # fmt: skip
SHOWS = """
from IPython.display import HTML, Javascript, SVG, display
display(HTML("<script>window.acted = 'output'</script><img src=https://evil.example/output.png>"))
display(Javascript("window.acted = 'javascript'"))
display(SVG("<svg xmlns='http://www.w3.org/2000/svg' onload='window.acted=1'/>"))
print("<script>window.acted = 'print'</script>\\x1b]8;;javascript:window.acted=1\\x07link\\x1b]8;;\\x07 \\u202e")
class Loud:
    def _repr_html_(self): return "<script>window.acted = 'repr'</script>"
    def _repr_mimebundle_(self, **k): return {"text/html": "<script>", "application/javascript": "window.acted=2"}
Loud()
"""
RAISES = (
    f"def {EXERCISE}(X):"
    + """
    raise ValueError("</pre><script>window.acted='error'</script><img src=x onerror=window.acted=1>"
                     "$\\\\href{javascript:1}{x}$")
"""
)
KILLS = f"def {EXERCISE}(X):\n    import os\n    os.kill(os.getppid(), 9)\n    os._exit(1)"


def loud(notebook):
    """Adds scripts to every part of a notebook that can be shown."""
    notebook.cells += [nbformat.v4.new_markdown_cell(attack) for attack in ATTACKS]
    notebook.cells += [nbformat.v4.new_raw_cell(a, metadata={"raw_mimetype": "text/html"}) for a in ATTACKS]
    tags = {"tags": ['"><script>window.acted=1</script>']}
    notebook.cells.append(nbformat.v4.new_code_cell(SHOWS, metadata=tags))
    stored = nbformat.v4.new_output("display_data", data={"text/html": "<script>window.acted = 'stored'</script>"})
    notebook.cells.append(nbformat.v4.new_code_cell("1", outputs=[stored]))
    notebook.metadata["title"] = "</title><script>window.acted = 'title'</script>"
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {"a": "<script>"}}}
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == WRITTEN:
            cell.source = "\n\n".join(ATTACKS)
    return notebook


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Attackers between two honest students with the same work."""
    course = small_course(tmp_path_factory.mktemp("red-team") / "course", written=True, second=True)
    answers = model_answers(course.assignment(NAME))
    honest = answers | {EXERCISE: WRONG}
    path = submit(course, "loud", answers | {EXERCISE: RAISES})
    nbformat.write(loud(nbformat.read(path, as_version=4)), path)
    for student, code in {"ada": honest, MALLORY: honest, "killer": answers | {EXERCISE: KILLS}, "zoe": honest}.items():
        submit(course, student, code)
    output = nbgrader(course, "autograde", NAME, code=1)
    assert "1 of 5 submissions could not be graded" in output
    assert "which formgrader would act on; rename it" in output
    nbgrader(course, "generate_feedback", NAME)
    return course


def marks(course, student):
    with book_of(course) as book:
        (notebook,) = book.find_submission(NAME, student).notebooks
        grades = {grade.name: grade.auto_score for grade in notebook.grades if grade.cell.cell_type == "code"}
        return notebook.id, grades


def test_attackers_change_only_their_own_marks(graded):
    """The result of an honest student doesn't depend on earlier submissions."""
    before, after = marks(graded, "ada")[1], marks(graded, "zoe")[1]
    assert before == after
    assert (0 < before[TEST] < 3, before[f"test-{BUILT}"]) == (True, 3)
    for attacker in ("loud", "killer"):
        assert marks(graded, attacker)[1] == {TEST: 0, f"test-{BUILT}": 3}
    pages = [graded.root / "autograded" / student / NAME / NOTEBOOK for student in ("ada", "zoe")]
    first, last = (json.loads(page.read_text())["cells"] for page in pages)
    assert first == last


@pytest.fixture
def watched(chromium):
    """A page, and the addresses it requests."""
    page = chromium.new_page()
    requested = []
    page.on("request", lambda request: requested.append(request.url))
    yield page, requested
    page.close()


def test_no_script_runs_on_the_feedback_page(graded, watched):
    page, requested = watched
    page.goto((graded.root / "feedback" / "loud" / NAME / "first.html").as_uri(), wait_until="domcontentloaded")
    page.wait_for_timeout(500)
    assert_quiet(page, requested)
    assert "onerror" in page.locator("body").inner_text()  # it is shown as text


@pytest.mark.catalogue
def test_no_script_runs_in_formgrader(graded, watched):
    page, requested = watched
    number, _ = marks(graded, "loud")
    with lab(graded.root) as address:
        page.goto(f"{address}/formgrader?token=secret")
        for place in (*PLACES, f"submissions/{number}", f"submissions/{number}/feedback"):
            page.goto(f"{address}/formgrader/{place}", wait_until="domcontentloaded")
            page.wait_for_timeout(700)
            assert_quiet(page, requested, place)
        page.goto(f"{address}/formgrader/submissions/{number}", wait_until="domcontentloaded")
        assert "onerror" in page.locator("body").inner_text()
        # a heading with the same id does not replace a field
        assert page.evaluate("document.getElementById('written-why').tagName") == "INPUT"
        assert page.locator(".text_cell_render a[href='https://evil.example/autolink']").count() > 0  # links work


PLANTED = (f"submitted/loud/{NAME}", f"autograded/loud/{NAME}", f"feedback/loud/{NAME}", "demo", "link", "..")


def test_formgrader_opens_only_its_own_course(jupyterlab, watched, tmp_path):
    """A student's link may lead to any folder, and nbgrader would run a configuration file there."""
    (course, address), (page, _) = jupyterlab, watched
    (course.root / "link").symlink_to(course.root / "demo")
    for place in PLANTED:
        if place not in ("link", ".."):
            (course.root / place).mkdir(parents=True, exist_ok=True)
            (course.root / place / "nbgrader_config.py").write_text(f"open({str(tmp_path / 'acted')!r}, 'w')")
    page.goto(f"{address}/formgrader?token=secret")
    for place in (*(course.root / planted for planted in PLANTED), "/", "submitted/loud", "~"):
        answer = page.goto(f"{address}/formgrader?path={place}")
        assert (answer.status, answer.header_value("content-type")) == (403, "text/plain; charset=utf-8"), place
        assert "start JupyterLab in its folder" in answer.text()
    assert page.goto(f"{address}/formgrader?path={course.root}").status == 200
    assert page.url.endswith("/formgrader/manage_assignments")
    page.locator("a", has_text="a1_scaled_dot_product").first.wait_for()
    assert not (tmp_path / "acted").exists()
    (course.root / "link").unlink()  # other tests use this course
    for folder in ("submitted/loud", "autograded/loud", "feedback/loud", "demo"):
        shutil.rmtree(course.root / folder)


def assert_quiet(page, requested, place=""):
    assert page.evaluate("window.acted") is None, place
    assert not [url for url in requested if "evil.example" in url or url.endswith("/x")], place
    links = page.evaluate("[...document.querySelectorAll('.text_cell_render a[href]')].map(a => a.protocol)")
    assert set(links) <= {"http:", "https:", "mailto:", "file:"}, place
    pictures = page.evaluate("[...document.querySelectorAll('.text_cell_render img')].map(one => one.src)")
    assert all(re.match("data:image/(png|jpeg|gif|webp);|$", source) for source in pictures), place
    assert page.locator("iframe[src*='evil'], img[src='x']").count() == 0, place
