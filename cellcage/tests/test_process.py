"""A program that holds a child's sockets can ask about this child and end it. It can do nothing to other children."""

from __future__ import annotations

import threading
import time

import pytest

from cellcage.protocol import frames
from cellcage.protocol.messages import MAX_STATUS, HowEnded, HowMuch, Prepare

RIGHT = "def right(): return 1"
BUSY = "import time\nwhile time.process_time() < 2: pass"
ASK = frames.pack(HowMuch())
DISHONEST = {
    "part of a question": ASK[:3],
    "two questions": ASK * 2,
    "a message for the control socket": frames.pack(Prepare(None)),
    "a question of another length": bytes(4) + ASK[4:],
    "no message": bytes(100),
    "a long message": frames.pack({"type": "cpu", "x": "x" * MAX_STATUS}),
    "a large part of a message": (2**31).to_bytes(4, "big") + bytes(100_000),
}


def receive_until_closed(sock):
    """Raises `Closed`, or `Deadline` if it stays open."""
    while True:
        frames.receive_body(sock, time.monotonic() + 5)


def ask_without_reading(status):
    for _ in range(10_000):
        frames.send(status, HowMuch(), time.monotonic() + 5)
        time.sleep(0.005)


def test_fork_server_answers_for_one_child_only(sandbox):
    with sandbox.open(BUSY) as busy, sandbox.open(RIGHT) as idle:
        assert busy.process.used().seconds > idle.process.used().seconds >= 0
        assert busy.process.ended(ends=False).running
        busy.process.close()
        assert idle.process.ended(ends=False).running and idle.call("right") == 1
        assert busy.process.used().seconds == -1 and not busy.process.ended().is_own


@pytest.mark.slow
def test_dishonest_holder_loses_only_its_child(sandbox):
    with sandbox.open(RIGHT) as honest:
        for what, said in DISHONEST.items():
            with sandbox.open(RIGHT) as notebook:
                frames.send_all(notebook.process.status, said, time.monotonic() + 5)
                for sock in (notebook.process.status, notebook.process.sock):
                    with pytest.raises(frames.Closed):
                        receive_until_closed(sock)
            assert honest.call("right") == 1, what
            assert honest.process.used().seconds >= 0, what


@pytest.mark.slow
def test_holder_that_reads_no_answers_loses_only_its_child(sandbox):
    with sandbox.open(RIGHT) as honest, sandbox.open(RIGHT) as notebook:
        with pytest.raises(frames.Closed):
            ask_without_reading(notebook.process.status)
        assert honest.call("right") == 1


@pytest.mark.slow
def test_holder_that_asks_without_end_does_not_hold_up_others(sandbox):
    """An answer about a child that is to end takes a second. Meanwhile others wait for this one answer, not for all."""
    with sandbox.open(RIGHT) as asking:
        status, left = asking.process.status, threading.Event()

        def ask():
            while not left.is_set():
                frames.send(status, HowEnded(), time.monotonic() + 5)
                frames.receive(status, time.monotonic() + 5)

        thread = threading.Thread(target=ask)
        thread.start()
        try:
            began = time.monotonic()
            with sandbox.open(RIGHT) as other:
                assert other.call("right") == 1
            assert time.monotonic() - began < 5
        finally:
            left.set()
            thread.join()


def test_child_ends_although_another_program_holds_its_sockets(sandbox):
    with sandbox.open(RIGHT) as notebook:
        held = [one.dup() for one in (notebook.process.sock, notebook.process.status)]
        notebook.process.close()
        for sock in held:
            with sock, pytest.raises(frames.Closed):
                receive_until_closed(sock)
