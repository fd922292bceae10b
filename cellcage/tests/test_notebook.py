"""Running the cells of a notebook, and calling its functions."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from sandboxes import all_backends

from cellcage.notebook import CallFailed
from cellcage.notebook_calls import NoQuestions, read
from cellcage.protocol.calls import Call, Failure, Kind, NoAnswer, Proxy, Why

CELLS = [
    "def doubled(x): return 2 * x",
    "print('hello'); 1 / 0",
    "def leaves():\n    import os\n    os._exit(3)",
    "kept = []\ndef remembers(x):\n    kept.append(x)\n    return kept",
    "import os\nos._exit(1)",
    "def after(): return 'ran'",
    "while True: pass",
    "def g(: pass",
    "print('x'); doubled(2)",
]


@all_backends
def test_cells_and_calls(sandbox):
    with sandbox.open(*CELLS, cell_seconds=0.5) as notebook:
        ran, raised, _, _, ended, _, looped, wrong, last = notebook.results
        assert (ran.error, ran.stopped) == ("", None)
        assert (raised.printed, raised.error, raised.lines) == (
            "hello\n", "ZeroDivisionError", (("<module>", 1, "print('hello'); 1 / 0"),),
        )  # fmt: skip
        assert ended.stopped == "it ended the Python process"
        assert (looped.error, wrong.error, last.printed) == ("KeyboardInterrupt", "SyntaxError", "x\n4\n")
        assert notebook.call("after") == "ran"
        assert notebook.call("doubled", np.arange(3.0)).tolist() == [0.0, 2.0, 4.0]
        assert notebook.call("doubled", x=[1]) == [1, 1]
        assert [notebook.call("remembers", 1) for _ in range(2)] == [[1], [1]]


def test_failed_call_gives_its_reason(sandbox):
    with sandbox.open(*CELLS[:3]) as notebook:
        with pytest.raises(CallFailed, match="TypeError: unsupported operand") as raised:
            notebook.call("doubled", None)
        assert isinstance(raised.value.answer, Failure)
        with pytest.raises(CallFailed) as missing:
            notebook.call("no_such_name")
        assert missing.value.answer.kind is Kind.MISSING
        with pytest.raises(CallFailed, match="the Python process ended during the call") as gone:
            notebook.call("leaves")
        assert isinstance(gone.value.answer, NoAnswer)
        assert gone.value.answer.why is Why.GONE
        assert notebook.call("doubled", 4) == 8


class Broken(NoQuestions):
    """Fails at every question."""

    substituted = (Proxy("scale", False, ("x",)),)

    def answer(self, question):
        raise ZeroDivisionError


@all_backends
def test_error_of_the_side_that_answers_is_not_the_notebooks(sandbox):
    """The notebook's own function is called instead."""
    with (
        sandbox.open("def scale(x): return 3 * x\ndef ask(): return scale(2)") as notebook,
        contextlib.closing(notebook.begin(Broken())) as calls,
    ):
        assert read(next(calls.ask([(Call("ask"), None)]))).value == 6
