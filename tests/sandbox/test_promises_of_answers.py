"""What the sandbox promises of calls and answers: what comes back, what it costs, and what is not there to be called.

Each promise has a test of its name.
"""

from __future__ import annotations

import contextlib
import signal
import textwrap
import time

import numpy as np
import pytest
import torch

from autograder.testing.callbacks import Questions
from autograder.testing.expect import kind_of
from cellcage.limits import Limits
from cellcage.notebook_calls import read
from cellcage.protocol.calls import Call, Failure, Instance, Kind, Reply
from cellcage.values.core.objects import Other, Record
from tests.helpers.calls import BACKENDS, Lost, ask, define, everywhere, slowly
from tests.helpers.sandboxes import Marker


@pytest.fixture(scope="module", params=slowly(*BACKENDS))
def sandbox(request, sandbox_of):
    """Every promise is tried with each backend."""
    return sandbox_of(request.param)


@everywhere
def test_data_only(sandbox):
    code = """
        import numpy as np
        class Liar(np.ndarray):
            def __eq__(self, other): return True
        class Str(str): pass
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
    with define(sandbox, code) as running:
        point, twin = ask(running, "point"), ask(running, "twin")
        assert (type(point), point.x, point.tags) == (Record, 1.5, {"a", "b"})
        assert (type(twin), twin == point) == (Record, False)
        assert isinstance(ask(running, "objects"), Other)
        assert type(ask(running, "subclass")) is np.ndarray  # its numbers, and nothing of its class
        assert isinstance(ask(running, "function"), Other)
        assert kind_of(ask(running, "huge")) == "an array of 256 MB"
        with pytest.raises(Lost, match="size limit"):
            ask(running, "many")
        ask(running, "nested")


@pytest.mark.slow
@pytest.mark.parametrize("kind", BACKENDS)
def test_one_cause_one_loss(sandbox_of, kind):
    code = """
        import ctypes, os, signal, sys, itertools
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
        def in_c(): return sum(itertools.repeat(1))
        def leave(): sys.exit(0)
        def vanish(): os._exit(0)
        def crash(): ctypes.string_at(0)
        def signal_parent(number):
            try: os.kill(os.getppid(), number)
            except PermissionError: pass
            return os.getppid()
        def kill_all(): os.kill(-1, signal.SIGKILL)
        def memory(): return len(bytearray(8 * 2**30))
        def deep(): return deep()
        def flood():
            for _ in range(10**6): print("x" * 100)
            return 1
        def raw_flood():
            for _ in range(1000): os.write(1, b"x" * 10**6)
            return 1
        def bomb():
            while True:
                try: os.fork()
                except OSError: pass
    """
    with define(sandbox_of(kind), code, Limits(call_seconds=10, call_seconds_again=10)) as running:
        for name in ("loop", "stubborn", "in_c", "bomb"):
            with pytest.raises(Lost):
                ask(running, name, seconds=0.7)
            assert ask(running, "right", 1) == 2, name
        for name in ("vanish", "crash"):
            with pytest.raises(Lost):
                ask(running, name)
            assert ask(running, "right", 1) == 2, name
        for number in (signal.SIGKILL, signal.SIGSTOP):
            assert ask(running, "signal_parent", int(number)) == ask(running, "signal_parent", 0), "it lives on"
        ask(running, "kill_all")  # there is nobody else
        assert ask(running, "right", 1) == 2
        assert ask(running, "leave").error == "SystemExit"
        assert ask(running, "memory").error == "MemoryError"
        assert ask(running, "deep").error == "RecursionError"
        assert ask(running, "flood") == 1
        assert ask(running, "raw_flood") == 1
        assert ask(running, "right", 1) == 2


@everywhere
def test_no_state(sandbox):
    code = """
        import numpy as np
        calls = []
        def count():
            calls.append(1)
            np.exp = None
            return len(calls)
    """
    with define(sandbox, code) as running:
        assert [ask(running, "count") for _ in range(3)] == [1, 1, 1]


def test_no_state_reaches_the_next_test_of_an_exercise(sandbox, course):
    """Right from the second call on: the same call gives two answers, and that is found."""
    own = """
        import numpy as np
        calls = []
        def softmax(x, axis=-1):
            calls.append(1)
            right = np.exp(x - x.max(axis=axis, keepdims=True))
            right = right / right.sum(axis=axis, keepdims=True)
            return right if len(calls) > 1 else right * 0
    """
    with Marker(course.assignment("a1_scaled_dot_product"), sandbox) as marker:
        result = marker.mark_cells("one", [textwrap.dedent(own)])[0].exercises[0]
    assert result.score < result.max_score
    assert any("called again with the same arguments" in test.message for test in result.tests) or (
        result.tests[0].state == "failed"
    )


@everywhere
def test_size_of_what_comes_back(sandbox):
    """Each message, all of them together, and what they become."""
    code = """
        import sys
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
    limits = Limits(replies=20 * 2**20)
    with sandbox.open([textwrap.dedent(code)], limits) as running:
        for name in ("many_small_things", "endless_axis"):
            with pytest.raises(Lost, match="unreadable"):
                ask(running, name, seconds=20)
    with sandbox.open([textwrap.dedent(code)], limits) as running:
        assert len(ask(running, "long_error").text) == 400
        assert ask(running, "big").shape == (2**20,)
        assert ask(running, "big").shape == (2**20,)
        with pytest.raises(Lost, match="size limit"):
            ask(running, "big")


@everywhere
def test_nothing_ready_made(sandbox):
    """A call in an exercise is noticed under any name of PyTorch's and NumPy's; a cell may call everything."""
    code = """
        import numpy as np, torch
        import torch.nn.functional as F
        from numpy import convolve
        attend = torch.ops.aten.scaled_dot_product_attention.default
        q = torch.ones(1, 2, 4)
        print(tuple(F.scaled_dot_product_attention(q, q, q).shape), np.convolve([1, 2], [1, 3]))
        def plain(q): return F.scaled_dot_product_attention(q, q, q)
        def operator(q): return attend(q, q, q)
        def module(q): return torch.nn.MultiheadAttention(4, 2).double()(q, q, q)[0]
        def swallowed(q):
            try: F.scaled_dot_product_attention(q, q, q)
            finally: raise ValueError("nothing happened")
        def numpys(q): return convolve(q[0, 0].numpy(), np.ones(2))
        def none(q): return torch.softmax(q, -1)
    """
    listed = ["scaled_dot_product_attention", "MultiheadAttention", "numpy.convolve"]
    names = {
        "plain": listed[0],
        "operator": listed[0],
        "module": listed[1],
        "swallowed": listed[0],
        "numpys": listed[2],
    }
    call = [torch.ones(1, 2, 4, dtype=torch.float64)]
    with define(sandbox, code) as running:
        assert running.results[0].printed == "(1, 2, 4) [1 5 6]\n"
        for name in (*names, "none"):
            with contextlib.closing(running.begin(Questions({}), "", listed)) as exercise:
                answer = read(next(exercise.ask([(Call(name, call), None)])))
            assert isinstance(answer, Reply) if name == "none" else answer == Failure(Kind.READY_MADE, names[name])


def test_questions_cost_little():
    """What multiplies is refused before it is made; what a suite's calls lead to is answered."""
    from autograder.testing.callback_cost import is_small

    def question(*args, **kwargs):
        return Call("f", args, kwargs)

    assert is_small(question(np.ones((2, 3, 4, 6)), np.ones((2, 3, 5, 6)), np.ones((2, 3, 5, 3)), num_heads=3))
    assert is_small(question(512, 512))
    assert is_small(question([3, 7, 500] * 30, 512))
    assert not is_small(question(np.ones((256, 1, 256, 1)), np.ones((1, 256, 256, 1))))
    assert not is_small(question(np.ones((256, 256, 1, 1)), np.ones((1, 1, 256, 256))))
    assert not is_small(question(np.ones((1,) * 9)))
    assert not is_small(question(512, 512, d_head=512))
    assert not is_small(question(513))
    assert not is_small(question([[10**6]]))
    for size in (np.int64(28_000), np.float32(28_000), np.array(28_000), np.array([28_000]), 28_000.0, 10**400):
        assert not is_small(question(size)), size
    assert not is_small(question("x" * 1000))
    assert not is_small(question(Other("object")))
    decoder = {"vocab_size": 23, "d_model": 12, "num_heads": 3, "d_ff": 20, "num_layers": 2, "max_length": 30}
    assert is_small(Call("f", instance=Instance((), decoder), build=True))
    for name in ("d_model", "num_layers", "vocab_size"):
        assert not is_small(Call("f", instance=Instance((), decoder | {name: 400, "d_ff": 400}), build=True))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*BACKENDS, "process"])
def test_deadlines_are_kept_by_the_trusted_side(sandbox_of, kind):
    code = "def slow():\n    import time\n    time.sleep(60)"
    with sandbox_of(kind).open([code], Limits(call_seconds=0.5)) as running:
        start = time.monotonic()
        with pytest.raises(Lost, match="waited"):
            ask(running, "slow")
        assert time.monotonic() - start < 10
