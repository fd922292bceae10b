"""A judge that goes wrong as a submission's cell asks it to, and judges all others as ever.

`FAULT = "..."`: before it sends any marks; `LATE = "..."`: after the marks
"""

from __future__ import annotations

import ctypes
import os
import re
import socket
import time
from typing import Any
from unittest import mock

import msgspec

from autograder.judge import process
from autograder.messages import FromJudge, Order
from cellcage.protocol import frames

OTHER = "second_one"  # the second of two exercises


class Judge(process.Judge):
    def serve(self, sock: socket.socket, limits: Any, sandbox: Any) -> None:
        task = frames.receive(sock)
        fault = re.search(r'(FAULT|LATE) = "(.*)"', "\n".join(task["cells"]))
        if fault is None:
            frames.send(sock, {"verdict": self.judged(sock, task)})
            return
        with_marks = fault[1] == "LATE"
        if with_marks or fault[2] in SAYS:
            verdict = self.judged(sock, task, with_marks)
        if fault[2] in ENDS:
            ENDS[fault[2]](sock)
        else:
            frames.send(sock, SAYS[fault[2]](verdict))

    def judged(self, sock, task, with_marks=True):
        """An honest verdict, as data whose lists can be changed."""
        send = frames.send

        def all_but_marks(to, message, *rest):
            if not (isinstance(message, FromJudge) and message.marks):
                send(to, message, *rest)

        with mock.patch.object(frames, "send", send if with_marks else all_but_marks):
            verdict = self.verdict(sock, msgspec.convert(task, Order))
        return frames.parse(frames.body(msgspec.to_builtins(verdict)))


def allocate(sock):
    held = []
    while True:
        held.append(bytearray(64 * 2**20))


def loop(sock):
    """To the supervisor it is a loop, and it takes no processor time from the tests beside it."""
    while True:
        time.sleep(1)


def open_without_end(sock):
    while True:
        frames.send(sock, {"open": True})
        frames.receive_with_descriptors(sock)[1]


def bytes_of(data):
    return lambda sock: frames.send_all(sock, data)


def half(sock):
    frames.send_all(sock, b"\x00\x00\x10\x00half")
    loop(sock)


def raising(sock):
    raise RecursionError("in the judge")


ENDS = {
    "exits": lambda sock: os._exit(3),
    "crashes": lambda sock: ctypes.string_at(0),
    "aborts": lambda sock: os.abort(),
    "allocates": allocate,
    "loops": loop,
    "raises": raising,
    "hangs up": lambda sock: sock.close(),
    "half a frame": half,
    "a frame without end": bytes_of(b"\xff\xff\xff\xff" + bytes(2**20)),
    "an empty frame": bytes_of(bytes(4)),
    "no msgpack": bytes_of(b"\x00\x00\x00\x04\xc1\xc1\xc1\xc1"),
    "opens without end": open_without_end,
    "opens twice at once": lambda sock: [frames.send(sock, {"open": True}) for _ in range(100)],
    "too large": lambda sock: frames.send(sock, {"verdict": "x" * (9 * 2**20)}),
    "many small things": lambda sock: frames.send(sock, {"verdict": [[]] * 2_000_000}),
}


def changed(*path):
    """A verdict with something else at a path; the last word is what."""
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
    "none": says({"verdict": None}),
    "a number": says({"verdict": 5}),
    "a text": says({"verdict": "full marks"}),
    "a list": says({"verdict": []}),
    "no exercises": changed("exercises", []),
    "exercises that are one": changed("exercises", 1),
    "an exercise that is none": changed("exercises", 0, None),
    "another exercise": changed(*FIRST, "name", OTHER),
    "more points": changed(*FIRST, "max_score", 1e6),
    "no tests": changed(*FIRST, "tests", []),
    "twice the tests": more_tests,
    "tests without end": changed(*FIRST, "tests", [{}] * 5000),
    "a score above": changed(*TEST, "score", 1e9),
    "a score of NaN": changed(*TEST, "score", float("nan")),
    "a score of infinity": changed(*TEST, "score", float("inf")),
    "a score that is true": changed(*TEST, "score", True),
    "a score that is a text": changed(*TEST, "score", "10"),
    "worth NaN": changed(*TEST, "max_score", float("nan")),
    "worth less than nothing": changed(*TEST, "max_score", -1.0),
    "a state of its own": changed(*TEST, "state", "excellent"),
    "a state that is a list": changed(*TEST, "state", ["passed"]),
    "a message that is none": changed(*TEST, "message", None),
    "a name that is bytes": changed(*TEST, "name", b"x"),
    "stopped that is a number": changed(*TEST, "stopped", 1),
    "a cause that is another map": changed(*FIRST, "cause", {"a": 1}),
    "a hint that is a map": changed(*FIRST, "cause", {"name": "a", "hint": {"a": 1}}),
    "a cause that is a number": changed(*FIRST, "cause", {"name": 7, "hint": ""}),
    "causes in a list": changed(*FIRST, "cause", [{"name": "a", "hint": ""}]),
    "behind that is a text": changed(*FIRST, "with_reference", "softmax"),
    "a picture that is a number": changed(*FIRST, "picture", 1),
    "a picture without matrices": changed(*FIRST, "picture", {**PICTURE, "matrices": []}),
    "a picture with a hole": changed(*FIRST, "picture", {**PICTURE, "matrices": [[[]]]}),
    "a picture of texts": changed(*FIRST, "picture", {**PICTURE, "matrices": [[["<b>"]]]}),
    "no cells": changed("cells", []),
    "a cell that is none": changed("cells", 0, None),
    "lines that are numbers": changed("cells", 0, "lines", [1, 2, 3]),
    "a line with a half": changed("cells", 0, "lines", [["f", 0.5, "x"]]),
    "extra that is a list": changed("extra", ["x"]),
    "no extra": lambda data: {"verdict": {key: value for key, value in data.items() if key != "extra"}},
    "broken by nothing": says({"broken": None}),
    "broken by a number": says({"broken": 5}),
    "broken by numbers": says({"broken": [1, 2]}),
    "broken by a map": says({"broken": {"CourseError": "x"}}),
    "a course at fault": says({"broken": ["CourseError", "the course is broken"]}),
    "a kind of its own": says({"broken": ["\x1b[2J" * 50, "x\n" * 5000]}),
}  # fmt: skip
