"""Hidden tests can limit the memory of a call. The kernel measures it, so student code can't change the result."""

from __future__ import annotations

import contextlib
import textwrap

import numpy as np
import pytest

from autograder.testing.callbacks import without_reference
from autograder.testing.functions import Functions
from autograder.testing.student_errors import HeldTooMuch
from cellcage.limits import Limits
from cellcage.notebook_calls import read

ROWS, COLUMNS = np.linspace(0.0, 1.0, 250), np.linspace(0.0, 2.0, 32_000)  # their table takes 64 MB
LIMIT = 24_000_000
PATIENT = Limits(call_seconds=30)
CODE = textwrap.dedent("""
    import gc, os, time, tracemalloc
    import numpy as np, torch

    def row_by_row(rows, columns):
        return sum(float((row * columns).sum()) for row in rows)

    def by_table(rows, columns):
        return float((rows[:, None] * columns).sum())

    def in_pytorch(rows, columns):
        return float((torch.from_numpy(rows)[:, None] * torch.from_numpy(columns)).sum())

    def unseen_by_python(rows, columns):
        tracemalloc.get_traced_memory = lambda: (0, 0)
        return by_table(rows, columns)

    def in_a_child(rows, columns):
        reading, writing = os.pipe()
        if not os.fork():
            table = np.exp(rows[:, None] * columns)
            os.write(writing, str(float(np.log(table).sum())).encode())
            os._exit(0)
        return float(os.read(reading, 100))

    def in_a_forgotten_child(rows, columns):
        import signal
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        return in_a_child(rows, columns)

    def a_peak(size):
        np.ones(size)
""")
CELL = "kept = np.ones(9_000_000); a_peak(12_000_000)"  # memory used by cells does not count


@pytest.mark.slow
def test_memory_of_a_call_cannot_be_hidden(sandbox):
    with (
        sandbox.open([CODE, CELL], PATIENT) as notebook,
        contextlib.closing(notebook.begin(without_reference("a_call"))) as exercise,
    ):
        student = Functions(lambda call: read(next(exercise.ask([(call, None)]))), lambda name: ())
        student.a_peak(12_000_000)  # an earlier peak of 96 MB does not hide a later one
        assert student.row_by_row.within(LIMIT, ROWS, COLUMNS) == pytest.approx(250 * 16_000)
        for name in ("by_table", "in_pytorch", "unseen_by_python", "in_a_child", "in_a_forgotten_child"):
            with pytest.raises(HeldTooMuch) as raised:
                getattr(student, name).within(LIMIT, ROWS, COLUMNS)
            least = LIMIT if "child" in name else 6e7  # a child counts as last measured before it ended
            assert least < raised.value.held < 2.5e8, name
        assert student.by_table.within(200_000_000, ROWS, COLUMNS) == pytest.approx(250 * 16_000)
