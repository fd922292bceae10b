"""A judge that fails if a submission's cell asks for it, and judges all others normally.

A cell with `FAULT = "..."` makes it fail before it sends marks, one with `BARE = "..."` after the bare marks, and one
with `LATE = "..."` after the explained ones.
"""

from __future__ import annotations

import os
import re
import socket
import time
from typing import Any
from unittest import mock

import msgspec

from autograder import judge_process as process
from autograder.task import FromJudge, Task
from cellcage.protocol import frames
from cellcage.protocol.messages import HowEnded

OTHER = "second_one"  # the second of two exercises


class Judge(process.Judge):
    def serve(self, sock: socket.socket, limits: Any, sandbox: Any) -> None:
        task = frames.receive(sock)
        assert not task["student"] and not task["notices"], "a judge need not know whose submission it is"
        fault = re.search(r'(FAULT|BARE|LATE) = "(.*)"', "\n".join(task["cells"]))
        if fault is None:
            frames.send(sock, {"verdict": self.judged(sock, task)})
            return
        marks = {"FAULT": 0, "BARE": 1, "LATE": 2}[fault[1]]
        if marks or fault[2] in SAYS:
            verdict = self.judged(sock, task, marks)
        if fault[2] in ENDS:
            ENDS[fault[2]](sock)
        else:
            frames.send(sock, SAYS[fault[2]](verdict))

    def judged(self, sock, task, marks=2):
        """A correct verdict, as data that can be changed. marks: how many messages with marks are sent before it"""
        send, left = frames.send, [None] * marks

        def without_late_marks(to, message, *rest):
            if not (isinstance(message, FromJudge) and message.marks) or (left and not left.pop()):
                send(to, message, *rest)

        with mock.patch.object(frames, "send", without_late_marks):
            verdict = self.verdict(sock, msgspec.convert(task, Task))
        return frames.parse(frames.body(msgspec.to_builtins(verdict)))


def allocate(sock):
    held = []
    while True:
        held.append(bytearray(64 * 2**20))


def loop(sock):
    """An endless loop that takes no processor time from other tests."""
    while True:
        time.sleep(1)


def open_without_end(sock):
    while True:
        frames.send(sock, {"open": True})
        frames.receive_with_descriptors(sock)[1]


def opened(sock):
    """The socket on which the students' fork server answers about a notebook."""
    frames.send(sock, {"open": True})
    return socket.socket(fileno=frames.receive_with_descriptors(sock)[1][1])


def flood(sock):
    status = opened(sock)
    while True:
        status.sendall(bytes(2**16))


def ask_without_end(sock):
    status = opened(sock)
    while True:
        frames.send(status, HowEnded())
        frames.receive(status)


def bytes_of(data):
    return lambda sock: frames.send_all(sock, data)


def half(sock):
    frames.send_all(sock, b"\x00\x00\x10\x00half")
    loop(sock)


def raising(sock):
    raise RecursionError("in the judge")


ENDS = {
    "exits": lambda sock: os._exit(3),
    "allocates": allocate,
    "loops": loop,
    "raises": raising,
    "half a frame": half,
    "a frame without end": bytes_of(b"\xff\xff\xff\xff" + bytes(2**20)),
    "no msgpack": bytes_of(b"\x00\x00\x00\x04\xc1\xc1\xc1\xc1"),
    "opens without end": open_without_end,
    "asks without end": ask_without_end,
    "floods a fork server": flood,
    "too large": lambda sock: frames.send(sock, {"verdict": "x" * (9 * 2**20)}),
    "many small things": lambda sock: frames.send(sock, {"verdict": [[]] * 2_000_000}),
}


def changed(*path):
    """A function that changes a verdict: the last argument replaces the value at the path before it."""
    *path, what = path

    def change(data):
        place = data
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = what
        return {"verdict": data}

    return change


def more_tests(data):
    data["exercises"][0]["tests"] *= 2
    return {"verdict": data}


def says(message):
    return lambda data: message


PICTURE = {"rows": ["a"], "columns": ["a"], "boolean": False}
FIRST = ("exercises", 0)
TEST = (*FIRST, "tests", 0)
SAYS = {
    "nothing": says({}),
    "no exercises": changed("exercises", []),
    "an exercise that is none": changed("exercises", 0, None),
    "another exercise": changed(*FIRST, "name", OTHER),
    "twice the tests": more_tests,
    "tests without end": changed(*FIRST, "tests", [{}] * 5000),
    "a score above": changed(*TEST, "score", 1e9),
    "a score of NaN": changed(*TEST, "score", float("nan")),
    "a state of its own": changed(*TEST, "state", "excellent"),
    "a message that is none": changed(*TEST, "message", None),
    "findings that are a map": changed(*FIRST, "findings", {"a": 1}),
    "a picture with a hole": changed(*FIRST, "picture", {**PICTURE, "matrices": [[[]]]}),
    "a withdrawal": changed(*FIRST, "withdrawn", True),
    "no cells": changed("cells", []),
    "lines that are numbers": changed("cells", 0, "lines", [1, 2, 3]),
    "broken by nothing": says({"broken": None}),
    "a course at fault": says({"broken": ["CourseError", "the course is broken"]}),
    "a kind of its own": says({"broken": ["\x1b[2J" * 50, "x\n" * 5000]}),
}  # fmt: skip
