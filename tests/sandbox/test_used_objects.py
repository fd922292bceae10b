"""Objects that hidden tests use step by step, and calls with a memory limit."""

from __future__ import annotations

import functools
import textwrap

import numpy as np
import pytest

from autograder.testing.call_text import as_written
from autograder.testing.callbacks import Questions, parameter_names, without_reference
from autograder.testing.functions import Functions, Here
from autograder.testing.student_errors import HeldTooMuch, NotStarted, Raised
from cellcage.notebook_calls import read
from cellcage.protocol.calls import Call, Failure, Kind, Step

CODE = textwrap.dedent("""
    import numpy as np

    class Pile:
        def __init__(self, start=0):
            self.total = start
        def add(self, x):
            x *= 2
            self.total = self.total + x
            return self.total
        def __len__(self):
            return 3
        def not_started(self):
            raise NotImplementedError()

    class Shared:
        of_all, last = [], None
        def __init__(self, more=[]):
            self.more = more
        def add(self, x):
            self.of_all.append(x)
            self.more.append(x)
            Shared.last = x
            return [len(self.of_all), len(self.more)]

    def table(rows, columns):
        return np.exp(rows[:, None] * columns).sum()

    def row_by_row(rows, columns):
        return sum(np.exp(row * columns).sum() for row in rows)

    def counts_itself(rows, columns):
        import tracemalloc
        tracemalloc.start()
        return table(rows, columns)
""")
ROWS, COLUMNS = np.linspace(0, 1, 100), np.linspace(0, 1, 2000)


@pytest.fixture(params=["in the sandbox", "in this process"])
def student(request, sandbox):
    names = {"__name__": "notebook"}
    exec(CODE, names)
    with sandbox.open([CODE]) as running:
        where = running if request.param == "in the sandbox" else Here(names)
        exercise = where.begin(without_reference())
        yield Functions(
            lambda call: read(next(exercise.ask([(call, None)]))), functools.partial(parameter_names, names)
        )
        exercise.close()


def test_use_returns_last_step_and_starts_with_a_new_object(student):
    steps = [("add", np.ones(2)), ("add", np.full(2, 3.0))]
    for _ in range(2):
        np.testing.assert_array_equal(student.Pile.use(steps, 10), [18, 18])
    np.testing.assert_array_equal(student.Pile.use(steps[:1], start=1), [3, 3])
    assert student.Pile.use([*steps, ("len",)]) == 3


def test_shared_state_lasts_for_one_use_only(student):
    for _ in range(2):
        assert student.Shared.use([("add", 1)]) == [1, 1]
        assert student.Shared.use([("add", 1), ("__init__",), ("add", 1)]) == [2, 2]
    after = student.Pile.inputs_after_use([("add", np.ones(2)), ("len",), ("add", np.full(2, 3.0))])
    np.testing.assert_array_equal(after, [[2, 2], [6, 6]])


def test_step_can_be_not_started_or_missing(student):
    with pytest.raises(NotStarted):
        student.Pile.use([("not_started",)])
    with pytest.raises(Raised, match="takeaway"):
        student.Pile.use([("takeaway", 1)])


def test_steps_are_described_readably(student):
    student.Pile.use([("add", np.ones(2)), ("add", np.ones(2)), ("len",)], start=1)
    description = as_written(student.calls[-1].call, student._parameter_names)
    assert description == "Pile(start=1), then add(x) with x (2,) 2 times, then len()"


def test_long_list_is_described_by_its_length():
    described = [as_written(Call("total", ([1] * length,)), lambda _: ["ids"]) for length in (2, 4200)]
    assert described == ["total(ids=[1, 1])", "total(ids) with ids (a list of 4,200)"]


def test_call_over_its_memory_limit_is_reported(student):
    whole = student.table(ROWS, COLUMNS)
    assert student.row_by_row.within(400_000, ROWS, COLUMNS) == pytest.approx(whole)
    for function in (student.table, student.counts_itself):
        with pytest.raises(HeldTooMuch, match=r"held \d\.\d MB of memory at once") as raised:
            function.within(400_000, ROWS, COLUMNS)
        assert 1.6e6 <= raised.value.held < 5e6
    assert student.table.within(10**8, ROWS, COLUMNS) == pytest.approx(whole)


def test_student_code_cannot_ask_for_steps():
    questions = Questions({"Pile": list}, ("Pile",))
    assert not isinstance(questions.answer(Call("Pile")), Failure)
    refused = questions.answer(Call("Pile", steps=[Step("__sizeof__")]))
    assert isinstance(refused, Failure)
    assert refused.kind is Kind.REFUSED
