"""Student text is shown on feedback pages, but nothing in it runs."""

from __future__ import annotations

import re
from urllib.parse import unquote

import bs4
import nbformat
import pytest
from nbconvert.exporters import HTMLExporter

from autograder.nbgrader.hardening.sanitise import ATTRIBUTES, TAGS
from autograder.nbgrader.pages import Page
from tests.conftest import ROOT
from tests.helpers.attacks import ATTACKS
from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.small_course import NAME, NOTEBOOK, nbgrader, small_course, submit

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def shown(source, attachments=None):
    """A cell's text as HTML on the page."""
    return Page(root=str(ROOT)).markdown2html({"cell": {"source": source, "attachments": attachments or {}}}, source)


def test_markdown_is_rendered():
    text = (
        "# Title\n\n> quote, **bold**, `a < b`, $a > b$\n\n![image](attachment:image.png)\n\n"
        "- [paper](https://arxiv.org/abs/1706.03762) and [above](#title)\n- f[i] and [1], see below\n- [x] done\n\n"
        "```python\ndef f(x):\n    return x\n```\n\n| a | b |\n|---|--:|\n| if a<b | $\\frac{1}{2}$ |"
    )
    page = bs4.BeautifulSoup(shown(text, {"image.png": {"image/png": PNG}}), "html.parser")
    assert page.h1.text == "Title"
    assert page.blockquote.strong.text == "bold"
    assert page.blockquote.code.text == "a < b"
    assert page.blockquote.math.text == "a>b"
    assert page.img["src"] == f"data:image/png;base64,{PNG}"
    assert [a["href"] for a in page.find_all("a")] == ["https://arxiv.org/abs/1706.03762", "#title"]
    assert page.input.has_attr("checked") or page.input["type"] == "checkbox"
    assert page.find("span", class_="k").text == "def"
    assert [td.text for td in page.find_all("td")] == ["if a<b", "12"] and page.td.parent.mfrac


@pytest.mark.parametrize(
    "written", ["Bild%20von%20gestern.png", "Bild%20v%C3%B6n.png", "<attachment:a b (1).png>", "50%.png"]
)
def test_pasted_picture_with_an_odd_name_is_shown(written):
    name = unquote(written.strip("<>").removeprefix("attachment:"))
    address = written if written[0] == "<" else f"attachment:{written}"
    page = bs4.BeautifulSoup(shown(f"See ![pic]({address}).", {name: {"image/png": PNG}}), "html.parser")
    assert page.img["src"] == f"data:image/png;base64,{PNG}", page


def test_students_html_is_text_and_graders_html_is_cleaned():
    text = "a <b>bold</b> <T> and\n\n<div onclick=x>in a block</div>"
    page = bs4.BeautifulSoup(shown(text), "html.parser")
    assert "a <b>bold</b> <T> and" in page.text
    assert "<div onclick=x>in a block</div>" in page.text
    cell = {"source": "the answer"}
    comment = Page(root=str(ROOT)).markdown2html({"cell": cell}, "<b>Well</b> done<script>window.acted=1</script>")
    assert "<b>Well</b> done" in comment
    assert "script" not in comment


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda one: one.name)
def test_course_cells_change_only_in_formulas(assignment):
    page, stock = Page(root=str(ROOT)), HTMLExporter()
    page.own = assignment.source.texts
    texts = [cell.source for cell in nbformat.read(assignment.notebook, 4).cells if cell.cell_type == "markdown"]
    assert texts
    for text in texts:
        context = {"cell": {"source": text}}
        own = re.sub("<math .*?</math>", "$", page.markdown2html(context, text), flags=re.DOTALL)
        stocks = re.sub(r"\$\$.+?\$\$|\$.+?\$", "$", stock.markdown2html(context, text), flags=re.DOTALL)
        assert own == stocks


@pytest.fixture(scope="module")
def feedback_course(tmp_path_factory):
    """Feedback pages of an attacker with one cell per attack, and of an honest student."""
    course = small_course(tmp_path_factory.mktemp("harmless") / "course")
    path = submit(course, "mallory", {})
    notebook = nbformat.read(path, as_version=4)
    for number, attack in enumerate(ATTACKS):
        notebook.cells.append(nbformat.v4.new_markdown_cell(f"attack-{number}-\n\n{attack}"))
        notebook.cells.append(nbformat.v4.new_raw_cell(f"raw-{number}- {attack}"))
    nbformat.write(notebook, path)
    submit(course, "ada", {})
    for step in ("autograde", "generate_feedback"):
        nbgrader(course, step, NAME)
    return course


def feedback(course, student):
    return course.root / "feedback" / student / NAME / "first.html"


@pytest.mark.slow
def test_attacks_become_harmless_elements(feedback_course):
    page = bs4.BeautifulSoup(feedback(feedback_course, "mallory").read_text(), "html.parser")
    cells = [cell for cell in page.find_all(class_="text_cell_render") if "attack-" in cell.text]
    assert len(cells) == len(ATTACKS)
    for cell in cells:
        assert not re.search(r"\\(href|class|cssId|style|require|data|bbox|mmlToken)(?![A-Za-z])", cell.text)
    for element in (element for cell in cells for element in cell.find_all(True)):
        assert element.name in TAGS
        assert set(element.attrs) <= ATTRIBUTES.get(element.name, set()) | {"class", "rel", "alt", "type", "disabled"}
        assert re.match(r"https?://|mailto:|#", element.get("href", "#"))
        assert element.get("src", "data:image/png;base64,").startswith("data:image/png;base64,")
        assert not {"score", "mermaid", "anchor-link"} & set(element.get("class", []))


@pytest.mark.slow
def test_raw_cells_contain_no_scripts(feedback_course):
    page = bs4.BeautifulSoup(feedback(feedback_course, "mallory").read_text(), "html.parser")
    raw = page.find(string=re.compile("raw-0-")).find_parent("div", id="notebook-container")
    assert f"raw-{len(ATTACKS) - 1}-" in raw.text
    assert not [e for e in raw.find_all(True) if any(name.startswith("on") for name in e.attrs)]
    assert not raw.find_all(["script", "iframe", "svg", "object", "link"])
    assert not [e for e in raw.find_all("img") if not e.get("src", "data:").startswith("data:")]


@pytest.mark.slow
def test_broken_notebook_fails_only_its_own_page(feedback_course, capsys):
    """A notebook that breaks after grading is reported, and all other pages are made."""
    broken = feedback_course.root / "autograded" / "broken" / NAME / NOTEBOOK
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    for student in ("ada", "mallory"):
        feedback(feedback_course, student).unlink()
    output = nbgrader(feedback_course, "generate_feedback", NAME, code=1)
    assert f"broken, {NAME} has no feedback page: " in output
    assert f"ada, {NAME} has no feedback page" not in output
    assert feedback(feedback_course, "ada").is_file()
    assert feedback(feedback_course, "mallory").is_file()
    assert "this picture is not in the notebook" in feedback(feedback_course, "mallory").read_text()
