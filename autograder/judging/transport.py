"""Where a student's calls go: over the wall, or to names in this process. A suite cannot tell the two apart."""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from types import ModuleType
from typing import Any

from autograder.judging.foresight import Foresight, Heard, Place, Question
from autograder.judging.questions import Questions
from autograder.judging.stateless import is_stateless
from autograder.judging.student import Stopped, here
from autograder.judging.suite import Outcome, Test
from autograder.sandbox.outside.client import BadMessage, Gone, TestProcess, TooSlow, read_reply
from autograder.sandbox.outside.client import Submission as Running
from autograder.sandbox.protocol import wire


class Behind:
    """To one submission behind the wall; each test in a process that no other test has run in.

    With `foresight`, what the suite is known to ask is asked ahead. Where the notebook's text does not show that no
    call leaves behind what could reach another, it is asked twice: once in the suite's order and once the other way
    round, in another process. Where both give the same answers, the tests are judged on these answers. Where not, and
    for all that was not foreseen, every test makes its own calls.
    """

    def __init__(self, running: Running, module: ModuleType | None, foresight: Foresight | None = None) -> None:
        self.running = running
        self.questions = Questions(vars(module) if module else {}, foresight.asked_with if foresight else None)
        self.foresight = foresight
        asked = {one.request["name"] for one in foresight.plan} if foresight else set()
        self.stateless = is_stateless(running.cells, asked)
        self.process: TestProcess | None = None
        self.own = self._ask_ahead(foresight.plan) if foresight else {}
        self.begin(())

    def begin(self, stand_ins: tuple[str, ...], exercise: str = "") -> None:
        """Begin tests, with the reference behind the names in `stand_ins`; an exercise's questions are asked ahead."""
        self.questions.begin(stand_ins)
        self.seconds: float | None = None
        self.isolate()
        self.answers = self._followed(exercise) if stand_ins else self.own

    def isolate(self) -> None:
        """Begin a test: the next call runs in a process that no call has run in before."""
        self.heard: list[Heard] | None = []
        self._asked: Counter[bytes] = Counter()
        if self.process is not None:
            self.process.close()
            self.process = None

    def known(self, test: Test) -> tuple[Outcome, list[Heard]] | None:
        """What comes of a test by what it heard before, and the calls that led there; None where it has to be run."""
        return self.foresight.walk(test, self.answers) if self.foresight else None

    def learn(self, test: Test, outcome: Outcome) -> None:
        """Keep what came of a test that was run, for the next submission that answers the same."""
        if self.foresight is not None and self.heard is not None:
            self.foresight.learn(test, self.heard, outcome)

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """Perform a request; raises `Stopped` where no reply came."""
        try:
            return self._answer(request)
        except (TooSlow, Gone, BadMessage) as error:
            if isinstance(error, TooSlow):
                self.seconds = self.running.limits.call_seconds_again
            if self.process is not None:
                self.process.close()
                self.process = None
            self.heard = None
            if self.questions.ready_made:
                return {"ready_made": self.questions.ready_made}
            raise Stopped(_stopped(error)) from None

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        prepared = self.questions.prepare(request)
        key = self.foresight.key(_alone(prepared)) if self.foresight else None
        if key is not None:
            reply = self.answers.get((key, self._asked[key]))
            self._asked[key] += 1
            if reply is not None:
                self._hear(request, key, reply)
                return read_reply(reply)
        if self.process is None:
            self.process = self.running.test()
        reply = self.process.request(prepared, self.questions.answer, self.seconds)
        if self.questions.ready_made:
            # What this side knows is no part of the reply's bytes: another's same bytes are not to mean the same.
            self.heard = None
            return {"ready_made": self.questions.ready_made}
        self._hear(request, key, reply)
        return read_reply(reply)

    def _hear(self, request: dict[str, Any], key: bytes | None, reply: bytes) -> None:
        if self.heard is not None:
            self.heard = None if key is None else [*self.heard, Heard(request, key, reply)]

    def _ask_ahead(self, plan: list[Question]) -> dict[Place, bytes]:
        """Answers to what the suite is known to ask; none where they depend on what was asked before."""
        forwards = self._stream(plan)
        if self.questions.stand_ins and not self.questions.asked:
            return self.own  # nothing stood behind anything
        if self.stateless:
            return forwards
        backwards = self._stream([one for one in reversed(plan) if one.place in forwards])
        return forwards if forwards == backwards else {}

    def _followed(self, exercise: str) -> dict[Place, bytes]:
        """Answers with the reference behind some names, where the student's own code has answered all by itself."""
        plan = [one for one in self.foresight.plan if one.exercise == exercise] if self.foresight else []
        return self._ask_ahead(plan) if all(one.place in self.own for one in plan) else {}

    def _stream(self, plan: list[Question]) -> dict[Place, bytes]:
        """Replies to the questions of a plan; an exercise in which one fails to come is left out whole."""
        replies: dict[Place, bytes] = {}
        left = plan
        while left:
            got = self._stream_once(left)
            replies |= {one.place: reply for one, reply in zip(left, got, strict=False)}
            if len(got) == len(left):
                break
            culprit = left[len(got)].exercise
            left = [one for one in left[len(got) :] if one.exercise != culprit]
            for one in plan:
                if one.exercise == culprit:
                    replies.pop(one.place, None)
        return replies

    def _stream_once(self, plan: list[Question]) -> list[bytes]:
        got: list[bytes] = []
        try:
            process = self.running.test()
        except Gone:
            return got
        answer = self.questions.answer if self.questions.stand_ins else None
        behind = self.questions.behind
        groups = [
            [_with_behind(one.place[0], behind) for one in questions]
            for _, questions in itertools.groupby(plan, key=lambda one: one.exercise)
        ]
        replies = process.stream(groups, answer)
        with contextlib.closing(process), contextlib.suppress(TooSlow, Gone, BadMessage):
            for one in plan:
                if answer:
                    self.questions.prepare(one.request)
                reply = next(replies)
                if self.questions.ready_made:
                    break
                got.append(reply)
        return got


class Here:
    """To names in this very process: `check` in a notebook, stock nbgrader, and the kit's own tests."""

    def __init__(self, names: dict[str, Any], module: ModuleType | None) -> None:
        self.names = names
        self.questions = Questions(vars(module) if module else {})
        self._transport = here(names, self.questions)

    def begin(self, stand_ins: tuple[str, ...], exercise: str = "") -> None:
        """Begin an exercise's tests, with the reference behind the names in `stand_ins`."""
        self.questions.begin(stand_ins)

    def isolate(self) -> None:
        """One process is all there is here."""

    def known(self, test: Test) -> None:
        """Nothing is known beforehand."""

    def learn(self, test: Test, outcome: Outcome) -> None:
        """Nothing is kept."""

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """Perform a request."""
        return self._transport(request)


def _alone(request: dict[str, Any]) -> dict[str, Any]:
    """What is asked, whatever stands behind which name."""
    return {key: value for key, value in request.items() if key != "behind"}


def _with_behind(body: bytes, behind: dict[str, Any]) -> bytes:
    """A request as it crosses the wall, with what stands behind which name."""
    return wire.body(wire.parse(body) | {"behind": wire.encode(behind)}) if behind else body


def _stopped(error: Exception) -> str:
    if isinstance(error, TooSlow):
        return f"{error}. Is there a loop that never ends?"
    if isinstance(error, Gone):
        return "the Python process ended during the call. Does the code exit, or use far more memory than its input?"
    return f"what came back could not be read ({error})."
