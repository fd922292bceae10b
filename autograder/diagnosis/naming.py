"""Naming what is wrong by behaviour alone.

While a suite runs, every call and what came back are kept. Where an exercise loses marks, the answers are looked up
among those of each hypothesis about it: the catalogue's known mistakes, and the many others that its recipes compose,
alone and two in one function. What they answer to the suite's calls is known beforehand, as prints
(`prints.py`); for two in one function, to a few of them. What is not known is asked. In this order, and each time only
if one name alone fits, or if two do, which are then told as the one or the other:

1. a mistake that gives the student's answer to every call, errors included;
2. one that does wherever the student's code gave a value;
3. one relation between the student's answers and the right ones (`relations.py`);
4. two mistakes in one function that do; or two of which each is right or gives the student's answer everywhere, and
   that explain all wrong answers together;
5. one, or two in one function, that give the student's answers on ordinary input, whatever happens at the edges
   (empty rows, huge scores);
6. two relations, or a mistake and a relation between the student's answers and that mistake's;
7. a mistake that gives every wrong answer, though it would be wrong elsewhere, too: the student's code makes it in some
   of the calls, with a batch axis, say.

What 2 to 5 leave unexplained, such as an exception on batches, is told as well if it is a relation. It is never more
than what is explained. Otherwise there is no guess. Equal answers are strong evidence: a suite's inputs are random
numbers, and its ordinary answers arrays of twelve and more. Right answers are never diagnosed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from autograder.diagnosis.catalogue import Mistake
from autograder.diagnosis.differences import ComparedCall, of_form
from autograder.diagnosis.hypotheses import SMALLEST, Compared, Hypotheses, is_ordinary
from autograder.diagnosis.relations import Relation, explained_by_relations, lays_out_otherwise, relations
from autograder.report import Cause
from autograder.sandbox.protocol.calls import Answer, Failure, Kind, Reply
from autograder.suites.alike import arrays, same_answer
from autograder.suites.quoted import coarse
from autograder.suites.rehearsal import Heard
from autograder.suites.student import Recorded

ENOUGH = 2  # answers that tell much, to tell of a mistake that is made in some calls only
# Relations that are a cause of their own beside a mistake. At the edges a mistake may do as it likes.
BESIDE = (
    "one-batch-layout",
    "another-dtype",
    "another-kind",
    "another-shape",
    "inputs-changed",
    "nan-in-the-gradient",
    "gradient-missing",
)
NEAREST = 4  # mistakes whose rest is compared with relations


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong, each cause with its name and a question, and a sentence of evidence.

    is_relation: is it no mistake by name, but how the answers stand to the right ones?
    """

    causes: tuple[Cause, ...]
    evidence: str = ""
    is_relation: bool = False


UNSTEADY = Diagnosis(
    (Cause("another-answer-each-time", "Is there something random, or does something outlive a call?"),),
    "The same call with the same arguments gave one answer first, and then another.",
)


def diagnose(hypotheses: Hypotheses, exercise: str, calls: Sequence[Recorded | Heard]) -> Diagnosis | None:
    """What is wrong with the answers in `calls`, or None where nothing is, or nothing can be told."""
    compared = hypotheses.compared(exercise, calls)
    if not compared.wrong:
        return None  # nothing here is wrong, so nothing here tells one mistake from another
    case = _Case(compared)
    return case.alone() or case.together() or case.in_some_calls()


class _Case:
    """A student's answers beside those of the hypotheses, and what can be told of them."""

    def __init__(self, compared: Compared) -> None:
        self._compared, self._wrong, self._answers = compared, compared.wrong, [one.answer for one in compared.told]

    @cached_property
    def _related(self) -> tuple[Relation, ...]:
        """Relations that explain all that is wrong; looked for once."""
        return explained_by_relations(self._compared.asked, self._wrong)

    def alone(self) -> Diagnosis | None:
        """One cause for all, or one and what it leaves."""
        everywhere = range(len(self._answers))
        values = [i for i in everywhere if isinstance(self._answers[i], Reply)]
        for calls in (everywhere, values):
            fitting = self._fitting(self._compared.singles_giving, calls)
            for known in ([m for m in fitting if m.is_known], fitting):
                if told := self._told(known):
                    return told
        if len(self._related) == 1:
            return _of_relations(self._related)
        for calls in (everywhere, values):
            if told := self._told(self._fitting(self._compared.pairs_giving, calls)):
                return told
        return self._two(values)

    def together(self) -> Diagnosis | None:
        """Ordinary answers explained, or two causes of different kinds."""
        ordinary = [i for i, one in enumerate(self._compared.told) if is_ordinary(one.call, one.answer)]
        for giving in (self._compared.singles_giving, self._compared.pairs_giving):
            if told := self._told(self._fitting(giving, ordinary, where_finite=True)):
                return told
        return _of_relations(self._related) if self._related else self._with_relation()

    def in_some_calls(self) -> Diagnosis | None:
        """A mistake that gives every wrong answer, two ordinary values among them, whatever it gives elsewhere."""
        wrong = sorted(self._wrong)
        if sum(self._compared.told[i].is_whole and _different(self._answers[i]) >= SMALLEST for i in wrong) < ENOUGH:
            return None
        fitting = self._compared.singles_giving(wrong, lambda m: self._compared.is_beyond_doubt(m, wrong))
        if len(fitting) != 1:
            return None
        evidence = f"{self._evidence(self._wrong)} Your other answers are right. What have these calls in common?"
        return Diagnosis(fitting[0].causes, evidence)

    def _fitting(
        self, giving: Callable[..., list[Mistake]], calls: Sequence[int], where_finite: bool = False
    ) -> list[Mistake]:
        """Those that give the student's answer to all of `calls`, one a name; none if nothing there is wrong."""
        wrong = sorted(self._wrong.intersection(calls))
        if not wrong:
            return []
        if any(isinstance(self._answers[i], Reply) for i in wrong):
            return giving(calls, lambda m: self._compared.is_beyond_doubt(m, wrong), where_finite)
        # Exceptions of one kind alone are weak evidence, if nobody raised them: many slips end in one on batches.
        answer = self._compared.answer

        def in_the_same_words(mistake: Mistake) -> bool:
            return all(_in_the_same_words(self._answers[i], answer(mistake, i)) for i in wrong)

        return giving(calls, in_the_same_words, where_finite)

    def _told(self, fitting: Sequence[Mistake]) -> Diagnosis | None:
        """The name that fits alone, or two that do, and what is left unexplained if that is a relation."""
        if len(fitting) == 2 and not any(mistake.both for mistake in fitting):
            fitting = [_one_or_other(*fitting)]
        if len(fitting) != 1:
            return None
        (mistake,) = fitting
        given = frozenset(i for i in self._wrong if self._compared.gives_where_finite(mistake, i))
        rest = self._wrong - given
        if rest:
            related = self._rest(mistake, rest)
            if related is not None:
                return _with(mistake, related, self._evidence(given))
            if len(rest) > len(given):
                return None
        evidence = self._evidence(given)
        if mistake.also:
            evidence = f"{evidence.removesuffix('.')}, with one thing more: {mistake.also}"
        return Diagnosis(mistake.causes, evidence)

    def _rest(self, mistake: Mistake, rest: frozenset[int]) -> Relation | None:
        """One relation between the student's answers and a mistake's that explains all of `rest`."""
        asked = [
            ComparedCall(one.call, one.answer, self._compared.answer(mistake, i))
            for i, one in enumerate(self._compared.told)
        ]
        off = frozenset(i for i, one in enumerate(asked) if not same_answer(one.got, one.wanted))
        found = [one for one in relations(asked, off) if one.name in BESIDE] if off >= rest else []
        if not all(lays_out_otherwise(asked[i]) for i in rest):
            found = [one for one in found if one.name != "one-batch-layout"]
        return next((one for one in found if one.explains >= rest), None)

    def _two(self, values: Sequence[int]) -> Diagnosis | None:
        """Two mistakes of which each is right or gives the student's answer, and that explain all together."""
        wrong = sorted(self._wrong.intersection(values))
        gives = self._compared.gives
        pairs = {}
        # One of the two gives the first wrong answer; there are few of those.
        for one in [m for m in self._compared.singles if wrong and gives(m, wrong[0])]:
            given = self._explained(one, values)
            rest = [i for i in wrong if i not in given] if given else []
            for other in self._compared.singles if rest else ():
                gives_rest = one.name != other.name and all(gives(other, i) for i in rest)
                if gives_rest and self._explained(other, values):
                    pairs[tuple(sorted((one.name, other.name)))] = one, other
        if len(pairs) != 1:
            return None
        ((one, other),) = pairs.values()
        return Diagnosis((*one.causes, *other.causes), self._evidence(frozenset(wrong)))

    def _explained(self, mistake: Mistake, values: Iterable[int]) -> frozenset[int]:
        """The wrong answers that this mistake gives, too; none where it is wrong and the student right."""
        found = set()
        for i in values:
            if self._compared.gives(mistake, i):
                found |= {i} & self._wrong
            elif i not in self._wrong or not self._compared.is_right(mistake, i):
                return frozenset()
        return frozenset(found)

    def _with_relation(self) -> Diagnosis | None:
        """A mistake that gives some of the wrong answers, and a relation to its answers that gives the others."""
        for mistake, given in self._compared.giving_most()[:NEAREST]:
            rest = self._wrong - given
            related = self._rest(mistake, rest) if given and rest else None
            if related is not None:
                return _with(mistake, related, self._evidence(given))
        return None

    def _evidence(self, given: frozenset[int]) -> str:
        """How many of the wrong answers a mistake gives, and what is wrong with them if it is not their numbers."""
        forms = (of_form(self._compared.asked[i]) for i in sorted(given))
        form = next(forms, "")
        if not form or not all(forms):
            return _evidence(len(given), len(self._wrong))
        if len(self._wrong) == 1:
            return f"{form} This mistake does the same."
        count = len(self._wrong)
        of = f"{len(given)} of the {count}" if given != self._wrong else "both" if count == 2 else f"all {count}"
        return f"{form} This mistake does the same in {of} calls where your answer is not what is asked for."


def _one_or_other(one: Mistake, other: Mistake) -> Mistake:
    """Two that give the same answers to all that was asked, told as what they share."""
    hint = one.hint if one.hint == other.hint else f"{one.hint} Or: {other.hint}"
    also = f"there are two such mistakes, and your answers do not tell which one it is{one.also and f'. {one.also}'}."
    return replace(one, name=f"{one.name}-or-{other.name}", hint=hint, also=also)


def _of_relations(related: Sequence[Relation]) -> Diagnosis:
    return Diagnosis(
        tuple(Cause(one.name, one.hint) for one in related),
        " ".join(one.evidence for one in related),
        is_relation=True,
    )


def _with(mistake: Mistake, related: Relation, evidence: str) -> Diagnosis:
    evidence = f"{evidence} The others differ from it in one way. {related.beside or related.evidence}"
    return Diagnosis((*mistake.causes, Cause(related.name, related.hint)), evidence)


def _evidence(given: int, wrong: int) -> str:
    if given < wrong:
        return f"It gives {given} of your {wrong} wrong answers, number for number."
    if wrong == 1:
        return "It gives your wrong answer, number for number."
    return f"It gives {'both' if wrong == 2 else f'all {wrong}'} of your wrong answers, number for number."


def _in_the_same_words(one: Answer, other: Answer) -> bool:
    if not isinstance(one, Failure):
        return True
    if not isinstance(other, Failure) or one.kind is not other.kind:
        return False
    if one.kind is Kind.MEMORY:  # the text is how many bytes were held at once
        return coarse(one.text) == coarse(other.text)
    on_purpose = bool(one.lines) and one.lines[-1].text.lstrip().startswith("raise ")
    return on_purpose or one.text == other.text


def _different(answer: Answer) -> int:
    """How many different numbers are in it: of zeros and ones there are many by chance."""
    return len({float(n) for a in arrays(answer.value) for n in a.flat}) if isinstance(answer, Reply) else 0
