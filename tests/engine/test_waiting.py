"""A cell that calls an unfinished exercise waits for it, and every other error is shown as always."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder.student.waiting import begin

STUB = "def centred(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
CLASS = "class Table:\n    def __init__(self):\n        raise NotImplementedError()"


def as_others_do(shell, kind, error, trace, tb_offset=None):
    print("as others do")


@pytest.fixture
def shell():
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    opened = InteractiveShell(config=config)
    opened.set_custom_exc((KeyError, NameError), as_others_do)
    begin(opened)
    return opened


@pytest.fixture
def ran(shell, capsys):
    """Runs cells one after the other; did the last end well, and what did it print?"""

    def run(*cells):
        for cell in cells:
            capsys.readouterr()
            result = shell.run_cell(cell)
        return result.success, capsys.readouterr().out

    return run


def test_it_says_in_a_sentence_which_exercise_it_needs_and_counts_as_run(ran):
    assert ran(STUB, "print(centred([1]))") == (True, "This cell needs `centred`. Finish it and run this cell again.\n")
    assert ran(CLASS, "table = Table()")[1].startswith("This cell needs `Table`.")
    assert "needs `centred`" in ran("def calls(x):\n    return [centred(one) for one in x]", "calls([1])")[1]


def test_so_does_a_cell_that_uses_what_a_waiting_one_would_have_made(ran):
    ran(STUB, "found = centred(1)\nafter = 2")
    said = "This cell needs `{}` from a cell above, which waits for `centred`. Finish it, then run that cell and this "
    assert ran("more = after + 1") == (True, said.format("after") + "one again.\n")
    assert ran("more") == (True, said.format("more") + "one again.\n")
    assert ran("def centred(x):\n    return x", "found = centred(1)\nafter = 2", "more = after + 1", "more")[0]
    assert ran("del more", "more") == (False, "as others do\n")


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("raise NotImplementedError('only for two axes')", "NotImplementedError: only for two axes"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_another_error_is_one(ran, cell, said):
    well, printed = ran(STUB, cell)
    assert not well
    assert "Traceback" in printed
    assert said in printed
    assert "This cell needs" not in printed


def test_what_others_show_in_this_shell_they_still_show(ran):
    assert ran("{}['no']") == (False, "as others do\n")
    assert ran("nothing_of_this_name") == (False, "as others do\n")
