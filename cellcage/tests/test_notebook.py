"""Running the cells of a notebook, and calling its functions."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from sandboxes import all_backends

from cellcage import Limits
from cellcage.notebook import CallFailed, Notebook
from cellcage.notebook_calls import NoQuestions, Terms, read
from cellcage.protocol.calls import Call, Failure, Kind, NoAnswer, Why
from cellcage.protocol.messages import Proxy

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
        contextlib.closing(notebook.begin(Terms(Broken()))) as calls,
    ):
        assert read(next(calls.ask([(Call("ask"), None)]))).value == 6


MODULES = [
    *(f"%%writefile made_{number}.py\nname = {number}\n" for number in range(4)),
    "import contextlib, os, made_0",
    # Two files within one tick of the folder's time, which Linux before 6.13 can't tell apart.
    *(
        f"open('{name}.py', 'w').write('x = 1')\n"
        "with contextlib.suppress(OSError): os.utime('.', (1, 1))  # Landlock refuses it\n"
        f"import {name}"
        for name in ("first_of_tick", "second")
    ),
    "%%file again.py\nvalue = 1",
    "import again, importlib\nfirst = again.value\nopen('again.py', 'w').write('value = 2')\nimportlib.reload(again)",
    "%run again.py",
    "os.makedirs('inner')\nopen('inner/deep.py', 'w').write('there = True')\nos.chdir('inner')\nimport deep",
    "import inner.deep",
    "os.chdir('..')\nfrom inner import deep\nimport made_3",
    "def found(): return made_0.name, made_3.name, second.x, first, again.value, value, deep.there",
]


@all_backends
def test_modules_that_cells_write_can_be_imported(sandbox):
    with sandbox.open(*MODULES) as notebook:
        errors = [result.error for result in notebook.results]
        assert [number for number, error in enumerate(errors) if error] == [len(MODULES) - 3], (
            "not below its own folder"
        )
        assert notebook.call("found") == (0, 3, 1, 1, 2, 2, True)


def test_autoreload_sees_a_module_that_changed_at_once(sandbox):
    cells = ["%load_ext autoreload\n%autoreload 2", "%%writefile h.py\ndef f(): return 0", "import h"]
    for number in range(1, 6):
        cells += [f"%%writefile h.py\ndef f(): return {number}", f"assert h.f() == {number}"]
    with sandbox.open(*cells) as notebook:
        assert [result.error for result in notebook.results] == [""] * len(cells)


@all_backends
def test_own_modules_come_last_and_given_ones_first(sandbox):
    own = dict.fromkeys(["torch.py", "random.py", "json.py", "colorsys.py", "scipy/__init__.py"], b"mine = True\n")
    own |= {"helper.py": b"import given\nx = given.who", "lib/inner.py": b"x = 5", "given.py": b"who = 'own'"}
    own |= {"turtle/__init__.py": b"who = 'own'", "words.txt/x.py": b""}
    files = {"words.txt": b"words", "given.py": b"who = 'given'", "turtle.py": b"who = 'given'"}
    cells = [
        "import random, json, colorsys, numpy, helper, turtle\nfrom lib import inner",
        "%%writefile helper.py\nx = 'changed'",
        "before = helper.x\nimport importlib\nimportlib.reload(helper)",
        "def found():\n"
        "    theirs = any(hasattr(module, 'mine') for module in (random, json, colorsys, numpy))\n"
        "    return theirs, before, helper.x, inner.x, turtle.who",
    ]
    with (
        sandbox.server.process(Limits(), files, own) as process,
        Notebook(cells, Limits(), process) as notebook,
    ):
        assert [result.error for result in notebook.results] == [""] * len(cells)
        assert notebook.call("found") == (False, "given", "changed", 5, "given")
