"""Promises about calls and answers: what comes back, what it costs, what must not be called.

The test of a promise has its name.
"""

from __future__ import annotations

import contextlib
import re
import signal
import time

import numpy as np
import pytest
from sandboxes import BACKENDS, all_backends

from cellcage.calling.perform import perform
from cellcage.notebook import CallFailed
from cellcage.notebook_calls import FirstCells, NoQuestions, Terms, read
from cellcage.protocol.calls import Call, Failure, Kind, NoAnswer, Reply, Why
from cellcage.protocol.messages import Proxy, Watched
from cellcage.values.value import Form, Other, Record


@all_backends
def test_data_only(sandbox):
    code = """
        import numpy as np
        class Liar(np.ndarray):
            def __eq__(self, other): return True
        def objects(): return np.array([object()])
        def subclass(): return np.zeros(2).view(Liar)
        def function(): return lambda: 1
        def huge(): return np.zeros((1024, 1024, 32))
        def many(): return [np.zeros(1024 * 1024)] * 8
        def nested():
            x = []
            for _ in range(100): x = [x]
            return x
        from dataclasses import dataclass
        @dataclass
        class Point:
            x: float
            tags: set
        class Twin(Point):
            __class__ = float
            def __eq__(self, other): return True
        def point(): return Point(1.5, {"a", "b"})
        def twin(): return Twin(1.5, {"a"})
    """
    with sandbox.open(code) as notebook:
        point, twin = notebook.call("point"), notebook.call("twin")
        assert (type(point), point.x, point.tags) == (Record, 1.5, {"a", "b"})
        assert (type(twin), twin == point) == (Record, False)
        assert type(notebook.call("subclass")) is np.ndarray  # only its numbers, not its class
        assert isinstance(notebook.call("objects"), Other)
        assert isinstance(notebook.call("function"), Other)
        huge = notebook.call("huge")
        assert (huge.form, huge.type_name) == (Form.ARRAY, "256 MB")
        with pytest.raises(CallFailed, match="size limit"):
            notebook.call("many")
        notebook.call("nested")


@pytest.mark.slow
@pytest.mark.parametrize("kind", BACKENDS)
def test_one_cause_one_loss(sandbox_of, kind):
    code = """
        import ctypes, os, signal, sys
        def right(x): return x + 1
        def loop():
            while True: pass
        def stubborn():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
            while True:
                try:
                    while True: pass
                except BaseException: pass
        def leave(): sys.exit(0)
        def vanish(): os._exit(0)
        def crash(): ctypes.string_at(0)
        def signal_parent(number):
            try: os.kill(os.getppid(), number)
            except PermissionError: pass
            return os.getppid()
        def kill_all():
            os.kill(-1, signal.SIGKILL)
        def memory(): return len(bytearray(8 * 2**30))
        def deep(): return deep()
        def flood():
            for _ in range(1000): os.write(1, b"x" * 10**6)
            return 1
        def bomb():
            while True:
                try: os.fork()
                except OSError: pass
    """
    with sandbox_of(kind).open(code, call_seconds=0.4) as notebook:
        for name in ("loop", "stubborn", "bomb", "vanish", "crash"):
            with pytest.raises(CallFailed):
                notebook.call(name)
            assert notebook.call("right", 1) == 2, name
        for number in (signal.SIGKILL, signal.SIGSTOP):
            assert notebook.call("signal_parent", int(number)) == notebook.call("signal_parent", 0)  # still alive
        with contextlib.suppress(CallFailed):  # there is no other process
            notebook.call("kill_all")
        for name, error in (("leave", "SystemExit"), ("memory", "MemoryError"), ("deep", "RecursionError")):
            with pytest.raises(CallFailed, match=error):
                notebook.call(name)
        assert notebook.call("flood") == 1
        assert notebook.call("right", 1) == 2


@all_backends
def test_no_state(sandbox):
    code = """
        import numpy as np
        calls = []
        def count():
            calls.append(1)
            np.exp = None
            return len(calls)
    """
    with sandbox.open(code) as notebook:
        assert [notebook.call("count") for _ in range(3)] == [1, 1, 1]


@all_backends
def test_size_of_what_comes_back(sandbox):
    """Each message, all messages together, and what they become in memory are limited."""
    code = """
        import numpy as np
        from cellcage.protocol import calls, frames
        def big(): return np.zeros(2**20)
        def many_small_things():
            frames.framed = lambda answer: len(body).to_bytes(4, "big") + body
            return 1
        body = b"\\x81\\xa5reply\\xdd\\x00\\x98\\x96\\x80" + b"\\x90" * 10_000_000
        def endless_axis():
            calls.encode = lambda value, depth=0: ["array", "float64", [2**40, 0], [0, 1], False, b""]
            return 1
        def long_error(): raise ValueError("x" * 10**6)
    """
    with sandbox.open(code, replies=30 * 2**20) as notebook:
        for name in ("many_small_things", "endless_axis"):
            with pytest.raises(CallFailed, match="unreadable"):
                notebook.call(name)
        with pytest.raises(CallFailed) as raised:
            notebook.call("long_error")
        assert len(raised.value.answer.text) == 400
        assert notebook.call("big").shape == notebook.call("big").shape == (2**20,)
        with pytest.raises(CallFailed, match="size limit"):
            notebook.call("big")


@all_backends
def test_nothing_ready_made(sandbox):
    """A listed function is noticed wherever it is kept, even if the code swallows the error. Cells may call it."""
    code = """
        import functools, inspect, pickle
        import numpy as np
        from numpy import convolve as other
        print(np.convolve([1, 2], [1, 3]))
        def plain(x): return np.convolve(x, x)
        def renamed(x): return other(x, x)
        def swallowed(x):
            try: np.convolve(x, x)
            finally: raise ValueError("nothing happened")
        part = functools.partial(np.convolve, mode="same")
        def partial(x): return part(x, x)
        def default(x, by=np.convolve): return by(x, x)
        class Kept: by = staticmethod(np.convolve)
        def attribute(x): return Kept.by(x, x)
        kept = {"by": [np.convolve]}
        def container(x): return kept["by"][0](x, x)
        def closure(x, by=(lambda by: lambda x: by(x, x))(np.convolve)): return by(x)
        def library(x): return (np.poly1d(x) * np.poly1d(x)).coeffs
        def vectorized(x): return np.vectorize(np.convolve, signature="(n),(m)->(k)")(x, x)
        def none(x): return np.exp(x)
        def same(x):
            assert pickle.loads(pickle.dumps(np.convolve)) is np.convolve is other
            assert [*inspect.signature(np.convolve).parameters] == ["a", "v", "mode"]
            return x
    """
    allowed = ("none", "same")
    listed = ("plain", "renamed", "swallowed", "partial", "default", "attribute", "container", "closure", "library",
              "vectorized")  # fmt: skip
    with sandbox.open(code) as notebook:
        assert notebook.results[0].printed == "[1 5 6]\n"
        for name in (*listed, *allowed):
            with contextlib.closing(notebook.begin(Terms(watch=Watched(("numpy.convolve",))))) as calls:
                answer = read(next(calls.ask([(Call(name, [np.ones(3)]), None)])))
            noticed = Failure(Kind.NOTICED, "numpy.convolve")
            assert isinstance(answer, Reply) if name in allowed else answer == noticed, name


@pytest.mark.slow
def test_call_that_is_too_slow_while_watched_closely_has_its_full_time_without(sandbox_of):
    """The watch slows PyTorch down, so what it stopped does not count against the call."""
    code = """
        import time, torch
        from torch.utils._python_dispatch import _get_current_dispatch_mode
        def f(x):
            until = time.process_time() + (60 if _get_current_dispatch_mode() else 0.3)
            while time.process_time() < until: pass
            return x
    """
    with (
        sandbox_of("bubblewrap").open(code, cell_seconds=60, call_seconds=0.8, call_seconds_again=0.02) as notebook,
        contextlib.closing(notebook.begin(Terms(group="f", watch=Watched(("softmax",))))) as calls,
    ):
        stopped, again = (read(next(calls.ask([(Call("f", [1.0]), None)], closely))) for closely in ((0,), ()))
    assert stopped.why is Why.TOO_SLOW
    assert again.value == 1.0


@all_backends
def test_only_a_call_that_imports_gets_the_time_for_imports(sandbox):
    code = """
        import os, sys, time
        with open("large.py", "w") as file:
            file.write("import time\\nwhile time.process_time() < time.until: pass\\n")
        sys.path.insert(0, os.getcwd())
        def loop():
            while True:
                try: sum(range(100))
                except BaseException: pass
        def late():
            time.until = time.process_time() + 1
            import large
            return 5
    """
    with sandbox.open(code, call_seconds=0.4, import_seconds=8) as notebook:
        began = time.monotonic()
        with contextlib.closing(notebook.begin(Terms(group="loop"))) as calls:
            answer = read(next(calls.ask([(Call("loop"), None)])))
        assert answer == NoAnswer(Why.TOO_SLOW, "no answer after 0.4 seconds of computing")
        assert time.monotonic() - began < 8
        assert notebook.call("late") == 5


@all_backends
def test_ready_made_function_of_a_module_that_is_imported_later_is_noticed(sandbox):
    """Also if the call imports it. Its methods count if a class is listed."""
    code = """
        import os, sys
        with open("later.py", "w") as file:
            file.write("def f(x): return x\\nclass C:\\n    def m(self, x): return x\\n")
        sys.path.insert(0, os.getcwd())
        def plain(x):
            from later import f
            return f(x)
        def method(x):
            import importlib
            return importlib.import_module("later").C().m(x)
    """
    with sandbox.open(code) as notebook:
        for name, path in {"plain": "later.f", "method": "later.C"}.items():
            with contextlib.closing(notebook.begin(Terms(watch=Watched(("later.f", "later.C", "nowhere.g"))))) as calls:
                found = [read(answer) for answer in calls.ask([(Call(name, [1.0]), None)] * 2)]
            assert found == [Failure(Kind.NOTICED, path)] * 2


@all_backends
def test_cells_before_calls_know_nothing_of_each_other(sandbox):
    """Each runs in the names that the notebook has, and only its own call fails with it."""
    cells = "def f(): one = 1; return scale * 2\none = 1", "1 / 0", "def f(): return scale, 'one' in globals()"
    with (
        sandbox.open("scale = 3") as notebook,
        contextlib.closing(notebook.begin(Terms(first_cells=FirstCells(cells, 1.0, 2**28)))) as calls,
    ):
        first, failed, second, third = map(read, calls.ask([(Call("f"), None)] * 4))
    assert first.value == 6 and failed.error == "ZeroDivisionError"
    assert second.value == third.value == (3, False)


class Slow(NoQuestions):
    """Takes a tenth of a second to answer a question."""

    substituted = (Proxy("scale", False, ("x",)),)

    def answer(self, question):
        return perform({"scale": self.scale}, question)

    def scale(self, x):
        until = time.process_time() + 0.1
        while time.process_time() < until:
            pass
        return 2 * x


@all_backends
def test_questions_cost_little(sandbox):
    """The time for answering counts as time of the call."""
    code = """
        def scale(x): raise NotImplementedError
        def ask(times): return [scale(1) for _ in range(times)]
    """
    with sandbox.open(code, call_seconds=0.5) as notebook:
        for times in (2, 100):
            with contextlib.closing(notebook.begin(Terms(Slow()))) as calls:
                answer = read(next(calls.ask([(Call("ask", [times]), None)])))
            if times == 2:
                assert answer.value == [2, 2]
        assert re.fullmatch(r"no answer after 0\.[0-9]+ seconds of computing", answer.text), answer.text


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bubblewrap", "landlock", "process"])
def test_deadlines_are_kept_by_the_trusted_side(sandbox_of, kind):
    code = "def slow():\n    import time\n    time.sleep(60)"
    with sandbox_of(kind).open(code, call_seconds=0.5, idle_seconds=0.5) as notebook:
        start = time.monotonic()
        with pytest.raises(CallFailed, match="waited"):
            notebook.call("slow")
        assert time.monotonic() - start < 10
