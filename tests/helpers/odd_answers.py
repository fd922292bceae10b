"""Changes of a notebook with right code: answers in their cell, answers elsewhere, and notebooks without an answer."""

from __future__ import annotations

import base64
import copy
import os

from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.submission import grade_id
from tests.helpers.small_course import EXERCISE, WRITTEN

WORDS = "Each row has a mean of its own."
PICTURE = base64.b64encode(os.urandom(30_000)).decode()
RIGHT = f"def {EXERCISE}(X):\n    return X - X.mean(axis=-1, keepdims=True)"
LONG = "word " * 10_000 + "THE_END"


def answer_of(notebook):
    return next(cell for cell in notebook.cells if grade_id(cell) == WRITTEN)


def insert_beside(notebook, cell, below: bool):
    notebook.cells.insert(notebook.cells.index(answer_of(notebook)) + below, cell)


def picture(notebook):
    answer_of(notebook).source = f"![sketch](data:image/png;base64,{PICTURE})\n\n{WORDS}"


def answered_twice(notebook):
    first, second = answer_of(notebook), copy.deepcopy(answer_of(notebook))
    first.source, second.source = WORDS, "Or: the row's own mean."
    notebook.cells.append(second)


def long(notebook):
    answer_of(notebook).source = LONG


def copied(notebook):
    filled = copy.deepcopy(answer_of(notebook))
    filled.source = WORDS
    insert_beside(notebook, filled, below=True)


def below(notebook):
    insert_beside(notebook, new_markdown_cell(WORDS), below=True)


def above(notebook):
    insert_beside(notebook, new_markdown_cell(f"{WORDS}\n\n![x](data:image/png;base64,{PICTURE})"), below=False)


def comment(notebook):
    insert_beside(notebook, new_code_cell(f"# {WORDS}"), below=True)


def in_a_check_cell(notebook):
    """Check cells are read-only, but not in Colab."""
    (cell,) = (one for one in notebook.cells if grade_id(one) == f"test-{EXERCISE}")
    cell.source += f"\n# {WORDS}"


def below_the_code(notebook):
    next(cell for cell in notebook.cells if grade_id(cell) == EXERCISE).source += f"\n\n# Answer: {WORDS}"


def words_as_code(notebook):
    """A new cell is a code cell at first."""
    insert_beside(notebook, new_code_cell(WORDS), below=True)


def printed(notebook):
    insert_beside(notebook, new_code_cell(f'x = 1\nprint("{WORDS}")'), below=True)


def in_a_magic(notebook):
    insert_beside(notebook, new_code_cell(f"%%markdown\n{WORDS}"), below=True)


def pictures_of_one_name(notebook):
    """JupyterLab names both image.png."""
    for _ in range(2):
        data = base64.b64encode(os.urandom(300)).decode()
        cell = new_markdown_cell(f"{WORDS} ![](attachment:image.png)", attachments={"image.png": {"image/png": data}})
        insert_beside(notebook, cell, below=True)


def split(notebook):
    answer_of(notebook).source = "First of all:"
    insert_beside(notebook, new_markdown_cell(WORDS), below=True)


def attached(notebook):
    answer_of(notebook).source = f"![sketch](attachment:my%20pic.png)\n\n{WORDS}"
    answer_of(notebook).attachments = {"my pic.png": {"image/png": PICTURE}}


def html(notebook):
    """A picture with a width, as JupyterLab shows it, and an SVG, which is never shown."""
    drawing = f'<img src="data:image/svg+xml;base64,{PICTURE}">'
    answer_of(notebook).source = f'{drawing} <img src="attachment:my%20pic.png" width=20> {WORDS}'
    answer_of(notebook).attachments = {"my pic.png": {"image/png": PICTURE}}


def scratch_code(notebook):
    code = "# trying it out\nx = [row for row in range(3) if row]\nprint('three', x)"
    insert_beside(notebook, new_code_cell(code), below=True)


def after_a_book(notebook):
    notebook.cells.insert(0, new_markdown_cell("word " * 250_000))
    answer_of(notebook).source = WORDS


def nothing(notebook):
    """The untouched cell, with an untouched copy."""
    insert_beside(notebook, copy.deepcopy(answer_of(notebook)), below=True)


def scratch(notebook):
    """The exercise's name is reused below its check."""
    notebook.cells.append(new_code_cell(f"{EXERCISE} = {EXERCISE}([[1.0, 3.0]])"))


def commented(notebook):
    """A comment above a cell magic, which Colab allows and IPython does not."""
    code(notebook, f"# My rows\n%%time\n{RIGHT}")


def library(notebook):
    notebook.cells.insert(0, new_code_cell("import no_such_library\nfrom typing import Optional"))
    code(notebook, RIGHT.replace("(X)", "(X: Optional[int])"))


def code(notebook, text):
    next(cell for cell in notebook.cells if grade_id(cell) == EXERCISE).source = text


ELSEWHERE = [
    copied, below, above, comment, in_a_check_cell, below_the_code, words_as_code, printed, in_a_magic,
    pictures_of_one_name,
]  # fmt: skip
IN_PLACE = [picture, answered_twice, long, after_a_book, split, attached, html]
UNTOUCHED = [nothing, scratch_code, scratch, commented, library]
