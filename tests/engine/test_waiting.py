"""Cells that call an unfinished exercise show a short message. Other errors are shown as usual."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder.student.kernel import begin_waiting

STUB = "def centred(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
CLASS = "class Table:\n    def __init__(self):\n        raise NotImplementedError()"


def other_handler(shell, kind, error, trace, tb_offset=None):
    print("other handler")


@pytest.fixture
def shell():
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    opened = InteractiveShell(config=config)
    opened.set_custom_exc((KeyError, NameError), other_handler)
    begin_waiting(opened)
    return opened


@pytest.fixture
def ran(shell, capsys):
    """A function that runs cells and returns whether the last one succeeded, and its output."""

    def run(*cells):
        for cell in cells:
            capsys.readouterr()
            result = shell.run_cell(cell)
        return result.success, capsys.readouterr().out

    return run


def test_message_names_the_unfinished_exercise(ran):
    assert ran(STUB, "print(centred([1]))") == (True, "This cell needs `centred`. Finish it and run this cell again.\n")
    assert ran(CLASS, "table = Table()")[1].startswith("This cell needs `Table`.")
    assert "needs `centred`" in ran("def calls(x):\n    return [centred(one) for one in x]", "calls([1])")[1]


def test_later_cells_that_need_a_waiting_cell_name_it(ran):
    ran(STUB, "found = centred(1)\nafter = 2")
    message = (
        "This cell needs `{}` from a cell above, which waits for `centred`. Finish it, then run that cell and this "
    )
    assert ran("more = after + 1") == (True, message.format("after") + "one again.\n")
    assert ran("more") == (True, message.format("more") + "one again.\n")
    assert ran("def centred(x):\n    return x", "found = centred(1)\nafter = 2", "more = after + 1", "more")[0]
    assert ran("del more", "more") == (False, "other handler\n")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("raise NotImplementedError('only for two axes')", "NotImplementedError: only for two axes"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_other_errors_show_a_traceback(ran, cell, message):
    succeeded, printed = ran(STUB, cell)
    assert not succeeded
    assert "Traceback" in printed
    assert message in printed
    assert "This cell needs" not in printed


def test_other_exception_handlers_still_run(ran):
    assert ran("{}['no']") == (False, "other handler\n")
    assert ran("nothing_of_this_name") == (False, "other handler\n")
