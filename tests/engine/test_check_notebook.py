"""`autograder check NOTEBOOK` runs the visible tests in the sandbox and prints the same messages as the notebook."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from autograder.authoring.sample_class import mistake, model_answers
from autograder.cli import check_notebook
from autograder.errors import MachineError
from autograder.student.check import examine
from autograder.submission import grade_id
from tests.conftest import ROOT
from tests.helpers.in_process import COURSE
from tests.helpers.releases import filled
from tests.helpers.terminal import autograder_here

A1 = COURSE.assignment("a1_scaled_dot_product")


@pytest.fixture
def notebook(tmp_path):
    """A function that saves the released notebook with these answers and returns its path."""
    path = tmp_path / A1.notebook.name

    def save(answers):
        nbformat.write(filled(A1, answers), path)
        return path

    return save


@pytest.mark.slow
def test_command_prints_the_same_messages_as_the_notebook(notebook, shared_sandbox):
    wrong = model_answers(A1) | mistake(A1, "no-scaling", "attention_scores")
    done = autograder_here("check", notebook(wrong), cwd="/")
    assert done.returncode == 1, done.stderr
    assert "[############------------]\n2 of 4 exercises of a1" in done.stdout
    names = dict(vars(A1.reference()))
    exec(mistake(A1, "no-scaling", "attention_scores")["attention_scores"], names)
    for exercise in ("softmax", "attention_scores"):
        assert repr(examine(exercise, names)) in done.stdout


@pytest.mark.slow
def test_modules_beside_a_notebook_are_found_and_cells_have_their_kind(notebook):
    """As in the notebook's kernel, and as in grading."""
    right = model_answers(A1)
    path = notebook(right | {"softmax": "%%writefile made.py\nfrom lib.deeper import softmax"})
    (path.parent / "lib").mkdir()
    (path.parent / "lib" / "deeper.py").write_text(f"import numpy as np\n\n{right['softmax']}")
    saved = nbformat.read(path, 4)
    at = next(number for number, cell in enumerate(saved.cells) if grade_id(cell) == "softmax")
    saved.cells.insert(at + 1, nbformat.v4.new_code_cell("from made import softmax"))
    for cell in saved.cells:
        if grade_id(cell) in ("attention_scores", "test-softmax"):
            cell.cell_type = "markdown"
    nbformat.write(saved, path)
    done = autograder_here("check", path, cwd="/")
    assert "4 of 4 exercises of a1" in done.stdout, done.stdout + done.stderr


def test_wrong_paths_are_reported_in_one_line(tmp_path):
    odd = tmp_path / "odd.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), odd)
    for path, message in ((tmp_path / "no.ipynb", "no.ipynb cannot be read"), (odd, "no check cell of ours in it")):
        done = autograder_here("check", path)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.split())


@pytest.mark.catalogue
@pytest.mark.slow
def test_watch_checks_after_each_save_until_interrupted(notebook):
    path = notebook({})
    leader, follower = pty.openpty()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100", "TERM": "xterm"}
    command = [sys.executable, "-m", "autograder", "check", str(path), "--watch"]
    running = subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    try:
        first = read_until(leader, "Ctrl-C ends", 60)
        assert "0 of 4 exercises" in first
        assert "– not started" in first
        path.write_text("{")  # saved halfway
        assert "not a Jupyter notebook" in read_until(leader, "not a Jupyter notebook", 20)
        started = time.monotonic()
        answers = model_answers(A1)
        notebook({"softmax": answers["softmax"]})
        second = read_until(leader, "Ctrl-C ends", 20)
        assert time.monotonic() - started < 5
        assert "1 of 4 exercises" in second
        assert "attention_scores: not started yet" in second
        helper = path.with_name("helper.py")
        helper.write_text("import numpy as np\n\ndef softmax(x, axis=-1):\n    return x\n")
        read_until(leader, "Ctrl-C ends", 20)
        notebook({"softmax": "from helper import softmax"})
        assert "0 of 4 exercises" in read_until(leader, "Ctrl-C ends", 20)
        helper.write_text(f"import numpy as np\n\n{answers['softmax']}")
        assert "1 of 4 exercises" in read_until(leader, "Ctrl-C ends", 20), "the helper alone was saved"
        running.send_signal(signal.SIGINT)
        assert running.wait(20) == 0
    finally:
        running.kill()
        running.wait()
        os.close(leader)


def read_until(descriptor, words, seconds):
    """Read a terminal's output until it shows `words`."""
    text, deadline = "", time.monotonic() + seconds
    while words not in text:
        assert time.monotonic() < deadline, text
        if select.select([descriptor], [], [], 0.2)[0]:
            with contextlib.suppress(OSError):
                text += os.read(descriptor, 65536).decode()
    return text


# Window title, link, cleared screen, overwritten line, reversed text, colour, Unicode line ends.
CONTROLS = (
    "\x1b]0;title\x07 \x1b]8;;https://example.org\x1b\\here \x1b[2Jgone \rover \u202edetaerc\u2066 \x9b31m\x85\u2028"
)


def test_control_characters_of_a_notebook_are_not_printed(notebook, sandbox, capsys):
    page = check_notebook._page(
        notebook({"softmax": f"raise RuntimeError({CONTROLS!r})  # \x1b[31m \u202e"}), sandbox.students, None
    )
    assert "raised RuntimeError" in page
    Console(width=100).print(check_notebook._coloured(f"{page} ✓ passed [bold]x[/bold]"))
    shown = capsys.readouterr().out
    assert all(line.isprintable() for line in shown.split("\n"))
    assert "[bold]x[/bold]" in shown


LONG = (
    "Маска запрещает каждому слову смотреть на те слова, которые стоят после него, поэтому строка складывается в один. "
    * 2
)


@pytest.mark.slow
@given(st.text(max_size=80) | st.sampled_from(["data/x.csv", "data", "away/y.csv", "away", "link.csv", "a\0b", LONG]))
@settings(max_examples=200, deadline=None)
def test_any_quotation_names_a_file_beside_the_notebook_or_none(tmp_path_factory, text):
    folder = tmp_path_factory.getbasetemp() / "quoted"
    if not folder.exists():
        (folder / "data").mkdir(parents=True)
        (folder.parent / "out").mkdir()
        for path in (folder / "data" / "x.csv", folder.parent / "out" / "y.csv"):
            path.write_text("1,2")
        (folder / "away").symlink_to(folder.parent / "out")
        (folder / "link.csv").symlink_to(folder.parent / "out" / "y.csv")
    found = check_notebook._files_named(folder, [f"read('{text}'), '{LONG[:198]}'"])
    assert found == ({"data/x.csv": b"1,2"} if text in ("data", "data/x.csv") else {})


def test_all_passed_is_reported(notebook, shared_sandbox):
    path = notebook(model_answers(A1))
    saved = nbformat.read(path, as_version=4)
    saved.cells.append(nbformat.v4.new_markdown_cell(f'"{LONG[:160]}" and `a\0b`, "{"x/" * 60}"'))
    nbformat.write(saved, path)
    done = autograder_here("check", path)
    assert (done.returncode, "4 of 4 exercises" in done.stdout) == (0, True)
    assert "pass their checks. Well done!" in done.stdout


def test_without_a_sandbox_the_error_names_the_alternative(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(MachineError, match=r"only on Linux, .* in JupyterLab, check\(...\) works here"):
        check_notebook.open_sandbox().__enter__()
