"""What a submission shows never acts: a notebook that tries, on its feedback page in real Chromium."""

from __future__ import annotations

import nbformat
import pytest

from autograder.authors.classroom import fill, hand_in, model_answers
from autograder.nbgrader import api
from autograder.nbgrader.harmless import harmless_markdown

ATTACKS = [
    "<script>window.acted = 'script'</script>",
    "<img src=x onerror=\"window.acted = 'onerror'\">",
    "<svg onload=\"window.acted = 'svg'\"></svg>",
    '<iframe src="https://evil.example/frame"></iframe>',
    '<link rel="stylesheet" href="https://evil.example/style.css">',
    "![picture](https://evil.example/pixel.png)",
    "![picture][far]\n\n[far]: https://evil.example/reference.png",
    "[click](javascript:window.acted='link')",
    "[click]( \tJaVaScRiPt:window.acted='link')",
    "[click](java&#115;cript:window.acted='link')",
    "[click](&lt;javascript:1>)",
    "[click][odd]\n\n[odd]: javascript:window.acted='reference'",
    "[click](data:text/html,x)",
    r"$\href{javascript:window.acted='formula'}{x}$",
    "```html\n<script>window.acted = 'fence'</script>\n```",
]


def test_markdown_keeps_what_people_write():
    text = (
        "# Title\n\n> quote, **bold**, `code`, $a > b$\n\n![image.png](attachment:image.png)\n\n"
        "- [paper](https://arxiv.org/abs/1706.03762) and [above](#title)\n- f[i] and [1], see below"
    )
    assert harmless_markdown(text) == text


@pytest.mark.parametrize("attack", ATTACKS[:7])
def test_markdown_loses_what_acts_or_loads(attack):
    safe = harmless_markdown(attack)
    assert "<" not in safe
    assert "![" not in safe


@pytest.mark.slow
def test_a_page_of_attacks_does_nothing_in_a_browser(own_course, chromium):
    assignment = own_course.assignment("a1_scaled_dot_product")
    nbgrader = api(own_course.root)
    assert nbgrader.generate_assignment(assignment.name)["success"]
    released = own_course.root / "assignments" / assignment.name / assignment.notebook.name
    words = "<img src=x onerror=window.acted=1> $\\\\href{javascript:1}{x}$"
    loud = f"def softmax(x, axis=-1):\n    raise ValueError({words!r})"
    show = (
        "from IPython.display import HTML, Javascript, display\n"
        "display(HTML(\"<script>window.acted = 'output'</script>\"))\n"
        "display(Javascript(\"window.acted = 'javascript'\"))\n"
        "print(\"<script>window.acted = 'print'</script>\")\n"
        "class Loud:\n    def _repr_html_(self): return \"<script>window.acted = 'repr'</script>\"\nLoud()"
    )
    notebook = fill(released, model_answers(assignment) | {"softmax": loud})
    notebook.cells += [nbformat.v4.new_markdown_cell(attack) for attack in ATTACKS]
    notebook.cells += [nbformat.v4.new_raw_cell(a, metadata={"raw_mimetype": "text/html"}) for a in ATTACKS]
    notebook.cells += [nbformat.v4.new_code_cell(show, metadata={"tags": ['"><script>window.acted=1</script>']})]
    notebook.metadata["title"] = "</title><script>window.acted = 'title'</script>"
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "written-roles":
            cell.source = "\n\n".join(ATTACKS)
    hand_in(notebook, own_course.root / "submitted", "mallory", assignment)
    assert nbgrader.autograde(assignment.name, "*")["success"]
    assert nbgrader.generate_feedback(assignment.name)["success"]

    asked = []
    page = chromium.new_page()
    page.on("request", lambda request: asked.append(request.url))
    feedback = own_course.root / "feedback" / "mallory" / assignment.name / "scaled_dot_product.html"
    page.goto(feedback.as_uri(), wait_until="domcontentloaded")
    page.wait_for_timeout(1000)
    assert page.evaluate("window.acted") is None
    assert not [url for url in asked if "evil.example" in url]
    assert page.locator("a[href^='javascript']").count() == 0
    assert "onerror" in page.locator("body").inner_text()  # it is there to be read
    page.close()
