"""Reading submissions: every unusual file is refused with a reason."""

from __future__ import annotations

import contextlib
import json
import os
import socket

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.cli.grading import find_submissions
from autograder.errors import SubmissionError
from autograder.submission import MAX_BYTES, Submission, code_cells, read_notebook, stamp
from tests.helpers.terminal import python

NAME = "scaled_dot_product.ipynb"


def notebook(*sources):
    cells = [
        {"cell_type": "code", "metadata": {}, "source": s, "outputs": [], "execution_count": None} for s in sources
    ]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}


def reason(path):
    with pytest.raises(SubmissionError) as caught:
        code_cells(read_notebook(path))
    return str(caught.value)


def write(folder, content):
    path = folder / NAME
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


INVALID = {
    "empty": ("", "is empty"),
    "text": ("not json", "not a Jupyter notebook"),
    "object": ("{}", "not a Jupyter notebook"),
    "version": ('{"nbformat": "x", "cells": []}', "not a Jupyter notebook"),
    "bytes": (b"\xff\xfe\x00", "not UTF-8"),
    "deep-object": ('{"metadata": ' * 101 + "1" + "}" * 101, "nested too deeply"),
    "values": ("[" + "1," * 1_000_001 + "1]", "more than 1,000,000 values"),
    "many": (json.dumps(notebook(*["1"] * 5_001)), "has 5001 cells"),
    "large": (json.dumps(notebook("x" * (MAX_BYTES + 10))), "limit is 20"),
}


@pytest.mark.parametrize("what", INVALID)
def test_invalid_notebooks_are_refused_with_a_reason(tmp_path, what):
    content, words = INVALID[what]
    text = reason(write(tmp_path, content))
    assert words in text
    assert NAME in text


def test_links_pipes_folders_and_sockets_are_not_opened(tmp_path):
    target = tmp_path / "target.ipynb"
    target.write_text(json.dumps(notebook("1")))
    link = tmp_path / "link.ipynb"
    link.symlink_to(target)
    assert "it is a link" in reason(link)
    pipe = tmp_path / "pipe.ipynb"
    os.mkfifo(pipe)
    assert "not a file" in reason(pipe)
    folder = tmp_path / "folder.ipynb"
    folder.mkdir()
    assert "not a file" in reason(folder)
    place = tmp_path / "s.ipynb"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        assert "cannot be read" in reason(place)
    assert "cannot be read" in reason(tmp_path / "none.ipynb")


def test_old_and_new_formats_are_read(tmp_path):
    old = {
        "nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""},
        "worksheets": [{"cells": [{"cell_type": "code", "input": "x = 1", "language": "python", "outputs": []}]}],
    }  # fmt: skip
    assert [c.source for c in code_cells(read_notebook(write(tmp_path, json.dumps(old))))] == ["x = 1"]
    new = notebook("y = 2") | {"nbformat_minor": 99}
    assert [c.source for c in code_cells(read_notebook(write(tmp_path, json.dumps(new))))] == ["y = 2"]
    assert code_cells(read_notebook(write(tmp_path, "\ufeff" + json.dumps(new))))  # a byte order mark does no harm


def test_invalid_cells_are_skipped(tmp_path):
    data = notebook("a = 1")
    data["cells"] += [None, 3, {"cell_type": "code"}, {"cell_type": "code", "source": ["b = ", "2"], "metadata": None}]
    cells = code_cells(read_notebook(write(tmp_path, json.dumps(data))))
    assert [c.source for c in cells] == ["a = 1", "b = 2"]


KEYS = ["cells", "cell_type", "source", "metadata", "nbgrader", "grade_id", "nbformat", "worksheets", "code", "input",
        "attachments", "image/png", "\ud83d.png"]  # fmt: skip
VALUES = ["code", "markdown", 4, 3, "test-softmax"]
any_text = st.text(st.characters(), max_size=10)  # also halves of characters
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | any_text,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS), inner | st.sampled_from(VALUES), max_size=5)
    ),
    max_leaves=30,
)


@pytest.mark.slow
@given(junk)
def test_random_notebooks_raise_only_submission_errors(tmp_path_factory, data):
    if isinstance(data, dict):
        data.setdefault("nbformat", 4)
    path = write(tmp_path_factory.mktemp("junk"), json.dumps(data))
    with contextlib.suppress(SubmissionError):
        code_cells(read_notebook(path))


@given(any_text, any_text, any_text, any_text)
def test_any_text_in_a_notebook_can_be_written(tmp_path_factory, source, name, picture, data):
    pictures = {picture: {"image/png": data}}
    cell = {"cell_type": "markdown", "id": source, "source": [source], "attachments": pictures}
    cell["metadata"] = {"nbgrader": {"grade_id": name}, name: source}
    path = write(
        tmp_path_factory.mktemp("text"), json.dumps(notebook(source) | {"cells": [cell], "metadata": pictures})
    )
    json.dumps(read_notebook(path).as_nbformat(), ensure_ascii=False).encode()


# In MB. One emoji makes Python store four bytes per letter, so the reader needs nine times the largest file.
MOST_MEMORY = 210
HEAD = '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, '
GREEDY = {
    "old cells": ('{"nbformat": 3, "worksheets": [{"cells": []}], "cells": [', "{},", "{}]}"),
    "one long cell": (HEAD + '"cells": [{"cell_type": "code", "source": "\U0001f600', "x", '"}]}'),
}
MEASURE = """
import os, sys
from pathlib import Path
import nbformat.v4, nbformat.v3
from autograder.errors import SubmissionError
from autograder.submission import read_notebook
def memory(word):
    return int(next(line for line in open("/proc/self/status") if line.startswith(word)).split()[1]) / 1024
before = memory("VmRSS")
try:
    read_notebook(Path(sys.argv[1]))
except SubmissionError:
    pass
print(memory("VmHWM") - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("case", GREEDY)
def test_memory_for_reading_a_notebook_is_bounded(tmp_path, case):
    before, part, after = GREEDY[case]
    path = write(tmp_path, before + part * ((MAX_BYTES - 200) // len(part)) + after)
    done = python("-c", MEASURE, path, cwd=tmp_path)
    assert float(done.stdout) < MOST_MEMORY


def test_huge_file_is_stamped_without_reading_it(tmp_path):
    """A sparse file of 40 GB, which would not fit into memory."""
    path = write(tmp_path, json.dumps(notebook("1")))
    with (tmp_path / NAME).open("wb") as file:
        file.truncate(40 * 2**30)
    code = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
from pathlib import Path
from autograder.submission import Submission, stamp
print(stamp(Submission("mallory", "a6", Path({str(path)!r})), "version"))
"""
    done = python("-c", code, cwd=tmp_path)
    assert len(done.stdout.strip()) == 64, done.stderr


def test_stamp_depends_on_file_course_version_and_student(tmp_path):
    path = write(tmp_path, "one")
    stamps = [stamp(Submission("ada", "a1", path), "1"), stamp(Submission("ada", "a1", path), "2")]
    stamps.append(stamp(Submission("ben", "a1", path), "1"))
    path.write_text("two")
    stamps.append(stamp(Submission("ada", "a1", path), "1"))
    path.unlink()
    os.mkfifo(path)
    stamps.append(stamp(Submission("ada", "a1", path), "1"))
    assert len(set(stamps)) == 5
    assert stamps[-1] == stamp(Submission("ada", "a1", path), "1")


def test_submissions_are_found_in_each_layout(tmp_path, course):
    for student in ("ada", "Zoë Ünal", "a b"):
        folder = tmp_path / student / "a1_scaled_dot_product"
        folder.mkdir(parents=True)
        write(folder, json.dumps(notebook("1")))
        (folder / "conftest.py").write_text("raise SystemExit")
    found = find_submissions([tmp_path], course)
    assert [(s.student, s.assignment) for s in found] == [
        ("Zoë Ünal", "a1_scaled_dot_product"), ("a b", "a1_scaled_dot_product"), ("ada", "a1_scaled_dot_product"),
    ]  # fmt: skip
    assert [s.student for s in find_submissions([tmp_path / "ada"], course)] == ["ada"]
    assert [s.student for s in find_submissions([folder], course)] == ["a b"]
    assert [s.student for s in find_submissions([tmp_path / "ada" / "a1_scaled_dot_product" / NAME], course)] == ["ada"]
    assert [s.assignment for s in find_submissions([tmp_path], course, "a1_scaled_dot_product")] == [
        "a1_scaled_dot_product"
    ] * 3


def test_missing_or_misnamed_notebook_is_listed_with_a_reason(tmp_path, course):
    folder = tmp_path / "ada" / "a1_scaled_dot_product"
    folder.mkdir(parents=True)
    (only,) = find_submissions([tmp_path], course)
    assert only.problem == f"no {NAME}: the folder is empty"
    nbformat.write(nbformat.v4.new_notebook(), folder / "Untitled.ipynb")
    (only,) = find_submissions([tmp_path], course)
    assert only.problem == f"no {NAME}: the folder holds Untitled.ipynb"


def test_unusable_paths_are_reported(tmp_path, course):
    with pytest.raises(SubmissionError, match="no such file"):
        find_submissions([tmp_path / "none"], course)
    with pytest.raises(SubmissionError, match="STUDENT/ASSIGNMENT"):
        find_submissions([tmp_path], course)
    lone = tmp_path / "homework.ipynb"
    lone.write_text(json.dumps(notebook("1")))
    with pytest.raises(SubmissionError, match="--assignment"):
        find_submissions([lone], course)
    assert find_submissions([lone], course, "a3_heads")[0].student == "homework"
