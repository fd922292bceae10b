"""axe-core finds no violation of WCAG 2.1 A and AA on our pages.

`test_site.py` tests the documentation. `docs/accessibility.md` lists what is not ours, such as JupyterLab itself.
"""

from __future__ import annotations

from datetime import datetime

import nbformat
import pytest
from msgspec import structs

from autograder.authoring.sample_class import mistake, model_answers
from autograder.course import content
from autograder.nbgrader import pages
from tests.conftest import copy_course
from tests.helpers.accessible import violations, violations_of
from tests.helpers.browser import Tab
from tests.helpers.classes import class_with_pages
from tests.helpers.small_course import A_POINT_FOR_LATENESS, book_of

pytestmark = pytest.mark.slow
A1 = "a1_scaled_dot_product"
WORDS = """# My answer

It is a **key**, see [the paper](https://arxiv.org/abs/1706.03762), and `softmax(scores / math.sqrt(d_k), axis=-1)`.

| word | what it asks |
| --- | --- |
| belong | what can be owned, and who owns it, in a sentence of thirteen or fourteen words |

- [ ] queries
- [x] keys

```python
weights = softmax(attention_scores(query, key, and_a_name_that_is_much_too_long_for_a_line_of_a_telephone), axis=-1)
```

![](attachment:missing.png)"""
# Code with every kind of highlighted token, and terminal colours.
CODE = '''# a comment
import os.path as p
from math import *
@property
class Word(Exception):
    """A docstring, longer than a line: {}"""
    def __init__(self): self.x, y = 0x1f + 1e3 - 0b1 @ 2j, not None is True and lambda z: f"{self!r:>4}" + r"\\d" + b"x"
%time
$ ?
print("\\x1b[33myellow \\x1b[36mcyan \\x1b[37mwhite \\x1b[32mgreen \\x1b[31mred\\x1b[0m")
'''.replace("{}", "words " * 30)
# Right, in words of its own: the class report says that two students have it.
OWN = """def scaled_dot_product_attention(Q, K, V, mask=None):
    every_score = attention_scores(Q, K)
    if mask is not None:
        every_score = np.where(mask, every_score, -np.inf)
    how_much = softmax(every_score, axis=-1)
    mixed_values = np.matmul(how_much, V)
    return mixed_values, how_much"""
RAISES = "def softmax(x, axis=-1):\n    print('\\x1b[33myellow\\x1b[0m')\n    raise ValueError('no')\nsoftmax(1)"


@pytest.fixture(scope="module")
def graded(tmp_path_factory, kept_workers):
    """Two students: ada's code is right; sam's has a mistake with a picture, and is late. Both wrote the same text."""
    course = copy_course(tmp_path_factory.mktemp("accessible") / "course")
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write(A_POINT_FOR_LATENESS)
    settings = structs.replace(content.settings_now(course.root), contact="https://example.edu/ask?about={exercise}")
    assignment = course.assignment(A1)
    with book_of(course) as book:
        book.update_or_create_assignment(A1, duedate=datetime(2027, 3, 1, 12))
    right, more = (
        model_answers(assignment) | {"scaled_dot_product_attention": OWN},
        (CODE, CODE.partition("%")[0], "1 / 0"),
    )
    wrong = right | mistake(assignment, "no-scaling", "attention_scores") | {"softmax": RAISES}
    early, late = "2027-03-01 11:00:00 UTC", "2027-03-02 11:00:00 UTC"
    handed_in = {"ada": (right, WORDS, more, early), "sam": (wrong, WORDS, more, late)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "settings_now", lambda root: settings)
        class_with_pages(course, assignment, handed_in)
    return course.root


@pytest.mark.parametrize(
    ("student", "view"),
    [
        ("sam", "narrow"),
        pytest.param("ada", "wide", marks=pytest.mark.catalogue),
    ],
)
def test_feedback_page_is_accessible(graded, chromium, student, view):
    page = graded / "feedback" / student / A1 / "scaled_dot_product.html"
    if student == "sam":
        text = page.read_text()
        for shown in (
            '<li class="late-penalty">',
            "ansi-yellow",
            "<svg",
            'type="checkbox"',
            "not graded yet",
            "Something wrong?",
        ):
            assert shown in text
    assert violations_of(chromium, page.as_uri(), view) == []


@pytest.mark.parametrize(("name", "view"), [("class", "narrow"), ("written", "wide")])
def test_class_report_and_written_answers_are_accessible(graded, chromium, name, view):
    page = graded / f"{name}.html"
    assert name != "class" or "equal apart from names" in page.read_text()
    assert violations_of(chromium, page.as_uri(), view) == []


OUTPUTS = """
from attention_course import explore, heatmap, highlight, loss_curve
def attention_scores(Q, K):
    print("looking")
    return Q @ K.swapaxes(-2, -1)
check("softmax"); check("attention_scores"); check("scaled_dot_product_attention")
hint("softmax"); hint("softmax"); hint("softmax")
display(loss_curve([3.0, 0.2, 0.01], title="the loss"), highlight([[0.25, 0.75], [1.0, 0.0]], ["mira", "wins"]))
display(heatmap([[[1.0, -1.0], [0.5, 0.0]]] * 3), explore(lambda n: heatmap([[1.0] * n]), n=(1, 2)))
"""


@pytest.mark.catalogue
def test_output_in_jupyterlab_is_accessible(jupyterlab, chromium):
    """Failing, passing and blocked checks, hints, pictures and a slider."""
    course, address = jupyterlab
    assignment = course.assignment(A1)
    notebook = nbformat.read(assignment.notebook, as_version=4)
    notebook.cells = [one for one in notebook.cells if one.cell_type == "code"][:4]
    notebook.cells += [nbformat.v4.new_code_cell(model_answers(assignment)["softmax"] + OUTPUTS)]
    nbformat.write(notebook, course.root / "accessible.ipynb")
    tab = Tab(chromium, address, "accessible.ipynb")
    try:
        tab.run("import numpy as np")
        cell, _ = tab.run("from attention_course import explore, heatmap")
        cell.locator(".autograder-rubric").nth(5).wait_for()
        cell.locator(".noUi-handle").wait_for()
        for theme in ("JupyterLab Dark", "JupyterLab Light"):
            tab.menu("Settings", "Theme", theme)
            tab.page.locator(f'body[data-jp-theme-name="{theme}"]').wait_for(state="attached")
            tab.page.wait_for_timeout(500)
            assert violations(tab.page, ".jp-OutputArea-output", but=[".noUi-target"]) == []
    finally:
        tab.menu("Settings", "Theme", "JupyterLab Light")
        tab.close()
