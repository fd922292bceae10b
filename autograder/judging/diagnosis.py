"""Naming what is wrong by behaviour alone.

While a suite runs, every call and what came back are kept. Where an exercise loses marks, each hypothesis about it is
asked the same questions: the mistakes written out in the catalogue, and the many that its recipes compose, alone and
two in one function. What they answer to a few telling calls is known beforehand, as prints (`prints.py`), so that most
of them are out at once. Of the rest, in this order, and each time only where one name alone fits:

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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from autograder.judging.alike import arrays, close, same
from autograder.judging.catalogue import Catalogue, Mistake
from autograder.judging.differences import Asked, of_form
from autograder.judging.here import answering, quiet
from autograder.judging.index import Prints, digest
from autograder.judging.prints import alike, print_of
from autograder.judging.relations import Relation, explained_by_relations, lays_out_otherwise, relations
from autograder.judging.student import Recorded, has_chance
from autograder.sandbox.inside.perform import perform
from autograder.sandbox.protocol.calls import Answer, Call, Failure, NoAnswer, Reply, call_bytes

Key = tuple[bytes, tuple[Any, ...]]
Alike = Callable[[Answer, Answer], bool]
TELLING, OF_PAIRS = 5, 2  # calls of an exercise whose answers are known beforehand; and those of pairs, which are many
SMALLEST = 4  # numbers in an answer that tells much
ENOUGH = 2  # such answers, to tell of a mistake that is made in some calls only
# Relations that are a cause of their own beside a mistake. At the edges a mistake may do as it likes.
BESIDE = ("one-batch-layout", "another-dtype", "another-kind", "another-shape", "inputs-changed", "gradient-missing")
NEAREST = 4  # mistakes whose rest is compared with relations


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong: its name (two names joined by `+` where it is two), a question, a sentence of evidence.

    is_relation: is it no mistake by name, but how the answers stand to the right ones?
    """

    name: str
    hint: str
    evidence: str = ""
    is_relation: bool = False


UNSTEADY = Diagnosis(
    "another-answer-each-time",
    "Is there something random, or does something outlive a call?",
    "The same call with the same arguments gave one answer first, and then another.",
)


@dataclass
class _Table:
    """The hypotheses on an exercise, and what they answer to telling calls, which are the columns."""

    singles: Sequence[Mistake]
    pairs: Sequence[Mistake]
    columns: dict[Key, int]
    prints: Prints


class Diagnoser:
    """Knows what the reference and each mistake of an assignment answer; asks each question once.

    foreseen: the calls that the suite will make, by exercise; none if it passes functions or models
    kept: what hypotheses answer to some of them, if that is known from before
    """

    def __init__(
        self,
        catalogue: Catalogue,
        names: Mapping[str, Any],
        foreseen: Mapping[str, Sequence[Call]],
        kept: Mapping[str, Prints] = MappingProxyType({}),
    ) -> None:
        self._catalogue, self._names, self._foreseen, self._known = catalogue, names, foreseen, kept
        self._right = answering(names)
        self._answering: dict[Mistake, Callable[[Call], Answer]] = {}
        self._tables: dict[str, _Table] = {}
        self._kept: dict[tuple[Mistake | None, Key], Answer] = {}

    def prepare(self, exercise: str, calls: Sequence[Call] = ()) -> None:
        """Know before what every hypothesis answers to some calls of an exercise: foreseen ones, else of `calls`."""
        if exercise in self._tables:
            return
        heard = [_Heard.of(call, NoAnswer) for call in self._foreseen.get(exercise) or calls]
        telling = self._telling(heard)
        singles = [m for m in (*self._catalogue.mistakes, *self._catalogue.variants) if m.exercise == exercise]
        pairs = [m for m in self._catalogue.pairs if m.exercise == exercise]
        of = digest([one.key[0] for one in telling], [m.name for m in (*singles, *pairs)])
        right = np.array([print_of(self._answer(None, one)) for one in telling])
        prints = self._known.get(exercise)
        if prints is None or not prints.fits(of, right):
            prints = Prints(of, right, self._asked(singles, telling), self._asked(pairs, telling[:OF_PAIRS]))
        self._tables[exercise] = _Table(singles, pairs, {one.key: i for i, one in enumerate(telling)}, prints)

    def prints(self) -> dict[str, Prints]:
        """What is known of each exercise that was prepared."""
        return {name: table.prints for name, table in self._tables.items()}

    def diagnose(self, exercise: str, calls: Sequence[Recorded]) -> Diagnosis | None:
        """What is wrong with the replies in `calls`, or None where nothing is, or nothing can be told."""
        answered = [one for one in calls if not isinstance(one.answer, NoAnswer)]
        heard = list({(one := _Heard.of(r.call, r.answer)).key: one for r in answered}.values())
        wrong = frozenset(i for i, one in enumerate(heard) if not same(one.reply, self._answer(None, one)))
        if not wrong:
            return None  # nothing here is wrong, so nothing here tells one mistake from another
        if exercise not in self._tables:
            self.prepare(exercise, [one.call for one in heard])
        asked = [Asked(one.call, one.reply, self._answer(None, one)) for one in heard]
        case = _Case(heard, asked, wrong, *self._plausible(self._tables[exercise], heard))
        return self._alone(case) or self._together(case) or self._in_some_calls(case)

    def _alone(self, case: _Case) -> Diagnosis | None:
        """One cause for all, or one and what it leaves."""
        written = [m for m in case.exact if m.is_written]
        everywhere = range(len(case.heard))
        values = [i for i in everywhere if isinstance(case.heard[i].reply, Reply)]
        for calls in (everywhere, values):
            for known in (written, case.exact):
                if told := self._told(case, self._fitting(case, known, calls, same)):
                    return told
        if len(case.related) == 1:
            return _of_relations(case.related, len(case.wrong))
        for calls in (everywhere, values):
            if told := self._told(case, self._fitting(case, case.pairs, calls, same)):
                return told
        return self._two(case, values)

    def _together(self, case: _Case) -> Diagnosis | None:
        """Ordinary answers explained, or two causes of different kinds."""
        ordinary = [i for i, one in enumerate(case.heard) if _is_ordinary(one)]
        for known in (case.exact, case.pairs):
            if told := self._told(case, self._fitting(case, known, ordinary, _same_where_finite)):
                return told
        return _of_relations(case.related, len(case.wrong)) if case.related else self._with_relation(case)

    def _in_some_calls(self, case: _Case) -> Diagnosis | None:
        """A mistake that gives every wrong answer, two ordinary values among them, whatever it gives elsewhere."""
        wrong = [case.heard[i] for i in sorted(case.wrong)]
        if sum(_is_whole(one) and _different(one.reply) >= SMALLEST for one in wrong) < ENOUGH:
            return None
        fitting = [m for m in case.wherever_wrong if all(same(one.reply, self._answer(m, one)) for one in wrong)]
        if len({mistake.name for mistake in fitting}) != 1:
            return None
        evidence = f"{case.evidence(case.wrong)} Your other answers are right. What have these calls in common?"
        return Diagnosis(fitting[0].name, fitting[0].hint, evidence)

    def _fitting(self, case: _Case, known: Sequence[Mistake], calls: Sequence[int], like: Alike) -> list[Mistake]:
        """Those that give the student's answer to all of `calls`; none if nothing there is wrong."""
        if case.wrong.isdisjoint(calls):
            return []
        ones = [case.heard[i] for i in sorted(calls, key=lambda i: i not in case.wrong)]
        fitting = [m for m in known if all(like(one.reply, self._answer(m, one)) for one in ones)]
        wrong = [case.heard[i] for i in sorted(case.wrong.intersection(calls))]
        if any(isinstance(one.reply, Reply) for one in wrong):
            return fitting
        # Exceptions of one kind alone are weak evidence, if nobody raised them: many slips end in one on batches.
        return [m for m in fitting if all(_in_the_same_words(one.reply, self._answer(m, one)) for one in wrong)]

    def _told(self, case: _Case, fitting: Sequence[Mistake]) -> Diagnosis | None:
        """The name that fits alone, and what it leaves unexplained if that is a relation."""
        if len({mistake.name for mistake in fitting}) != 1:
            return None
        mistake = fitting[0]
        given = frozenset(i for i in case.wrong if self._gives(mistake, case.heard[i]))
        rest = case.wrong - given
        if rest:
            related = self._rest(case, mistake, rest)
            if related is not None:
                return _with(mistake, related, case.evidence(given))
            if len(rest) > len(given):
                return None
        also = min((one.also for one in fitting), key=len)  # if the code that is right besides fits, it is that
        evidence = case.evidence(given)
        if also:
            evidence = f"{evidence.removesuffix('.')}, with one thing more: {also}"
        return Diagnosis(mistake.name, mistake.hint, evidence)

    def _rest(self, case: _Case, mistake: Mistake, rest: frozenset[int]) -> Relation | None:
        """One relation between the student's answers and a mistake's that explains all of `rest`."""
        asked = [Asked(one.call, one.reply, self._answer(mistake, one)) for one in case.heard]
        off = frozenset(i for i, one in enumerate(asked) if not same(one.got, one.wanted))
        found = [one for one in relations(asked, off) if one.name in BESIDE] if off >= rest else []
        if not all(lays_out_otherwise(asked[i]) for i in rest):
            found = [one for one in found if one.name != "one-batch-layout"]
        return next((one for one in found if one.explains >= rest), None)

    def _two(self, case: _Case, values: Sequence[int]) -> Diagnosis | None:
        """Two mistakes of which each is right or gives the student's answer, and that explain all together."""
        wrong = sorted(case.wrong.intersection(values))
        pairs = {}
        # One of the two gives the first wrong answer; there are few of those.
        for one in [m for m in case.singles if wrong and self._is_of(m, case.heard[wrong[0]])]:
            given = self._explained(one, case, values)
            rest = [i for i in wrong if i not in given] if given else []
            for other in case.singles if rest else ():
                gives_rest = one.name != other.name and all(self._is_of(other, case.heard[i]) for i in rest)
                if gives_rest and self._explained(other, case, values):
                    pairs[tuple(sorted((one.name, other.name)))] = one, other
        if len(pairs) != 1:
            return None
        ((one, other),) = pairs.values()
        return Diagnosis(f"{one.name}+{other.name}", f"{one.hint} And: {other.hint}", case.evidence(frozenset(wrong)))

    def _is_of(self, mistake: Mistake, one: _Heard) -> bool:
        """Does it give the student's answer?"""
        return same(one.reply, self._answer(mistake, one))

    def _explained(self, mistake: Mistake, case: _Case, values: Iterable[int]) -> frozenset[int]:
        """The wrong answers that this mistake gives, too; none where it is wrong and the student right."""
        found = set()
        for i in values:
            one = case.heard[i]
            if self._is_of(mistake, one):
                found |= {i} & case.wrong
            elif i not in case.wrong or not same(self._answer(None, one), self._answer(mistake, one)):
                return frozenset()
        return frozenset(found)

    def _with_relation(self, case: _Case) -> Diagnosis | None:
        """A mistake that gives some of the wrong answers, and a relation to its answers that gives the others."""
        gives = {m: frozenset(i for i in case.wrong if self._gives(m, case.heard[i])) for m in case.near}
        for mistake in sorted(gives, key=lambda m: -len(gives[m]))[:NEAREST]:
            rest = case.wrong - gives[mistake]
            related = self._rest(case, mistake, rest) if gives[mistake] and rest else None
            if related is not None:
                return _with(mistake, related, case.evidence(gives[mistake]))
        return None

    def _gives(self, mistake: Mistake, one: _Heard) -> bool:
        answer = self._answer(mistake, one)
        return same(one.reply, answer) or _same_where_finite(one.reply, answer)

    def _plausible(self, table: _Table, heard: Sequence[_Heard]) -> tuple[list[Mistake], ...]:
        """Singles that are right or give the student's answer to every telling call; those that give it to all; pairs
        that do; singles that give a wrong one; and those that give every wrong one."""
        lasting = [one for one in heard if _is_whole(one) and not has_chance(one.call, one.reply)]
        mine = {table.columns[one.key]: print_of(one.reply) for one in lasting if one.key in table.columns}
        columns, prints = list(mine), np.array(list(mine.values()))
        if not columns:
            singles = list(table.singles)
            return singles, singles, [], singles, singles  # too many pairs to ask each of them
        right = alike(table.prints.right[columns], prints)
        like = alike(table.prints.singles[:, columns], prints)
        harmless = alike(table.prints.singles[:, columns], table.prints.right[columns])
        in_question = (like | harmless).all(axis=1)
        of_pairs = [i for i in columns if i < OF_PAIRS]
        pairs_like = alike(table.prints.pairs[:, of_pairs], prints[[columns.index(i) for i in of_pairs]]).all(axis=1)
        near = (like & ~right).any(axis=1)
        return (
            [m for m, ok in zip(table.singles, in_question, strict=True) if ok],
            [m for m, ok in zip(table.singles, like.all(axis=1), strict=True) if ok],
            [m for m, ok in zip(table.pairs, pairs_like, strict=True) if ok],
            [m for m, ok in zip(table.singles, near, strict=True) if ok],
            [m for m, ok in zip(table.singles, (like | right).all(axis=1), strict=True) if ok],
        )

    def _asked(self, mistakes: Sequence[Mistake], telling: Sequence[_Heard]) -> np.ndarray:
        """Quicker than the answers in full: nothing goes through bytes."""
        found = np.empty((len(mistakes), len(telling)))
        with quiet():
            for i, mistake in enumerate(mistakes):
                names = {**self._names, mistake.exercise: mistake.code}
                for j, one in enumerate(telling):
                    found[i, j] = print_of(perform(names, one.call.with_given(_copied)))
        return found

    def _telling(self, heard: Iterable[_Heard]) -> list[_Heard]:
        """Some calls whose right answers are ordinary arrays, each of another form than those before it."""
        usable = [one for one in heard if not any(map(callable, one.call.given())) and not one.call.build]
        forms: dict[str, _Heard] = {}
        for one in usable:
            answered = _Heard(one.call, self._answer(None, one), one.key)
            if _is_ordinary(answered, any_dtype=True) and _size(answered.reply) >= SMALLEST:
                forms.setdefault(str([getattr(a, "ndim", type(a).__name__) for a in one.call.given()]), one)
        # Those with most arguments tell most: what is done to a mask shows nowhere else.
        ordered = [*sorted(forms.values(), key=lambda one: -len(arrays(one.call.given()))), *usable]
        # If something fails every test, the suite's first call may be all that was heard, so it is among them.
        found = {one.key: one for one in [*ordered[: TELLING - 1], *usable[:1], *ordered]}
        return list(found.values())[:TELLING]

    def _answer(self, mistake: Mistake | None, one: _Heard) -> Answer:
        if (mistake, one.key) not in self._kept:
            self._kept[mistake, one.key] = (self._right if mistake is None else self._of(mistake))(one.call)
        return self._kept[mistake, one.key]

    def _of(self, mistake: Mistake) -> Callable[[Call], Answer]:
        if mistake not in self._answering:
            self._answering[mistake] = answering({**self._names, mistake.exercise: mistake.code})
        return self._answering[mistake]


@dataclass(frozen=True)
class _Heard:
    """A call, its answer, and what to know the call by: its bytes, and the functions and models among its arguments."""

    call: Call
    reply: Answer
    key: Key

    @classmethod
    def of(cls, call: Call, answer: Any) -> _Heard:
        return cls(call, answer, (call_bytes(call), tuple(filter(callable, call.given()))))


@dataclass(frozen=True)
class _Case:
    """What was heard, with what is right; which of it is wrong (by place); and which hypotheses are in question."""

    heard: Sequence[_Heard]
    asked: Sequence[Asked]
    wrong: frozenset[int]
    singles: Sequence[Mistake] = field(default_factory=list)
    exact: Sequence[Mistake] = field(default_factory=list)
    pairs: Sequence[Mistake] = field(default_factory=list)
    near: Sequence[Mistake] = field(default_factory=list)
    wherever_wrong: Sequence[Mistake] = field(default_factory=list)

    @cached_property
    def related(self) -> tuple[Relation, ...]:
        """Relations that explain all that is wrong; looked for once."""
        return explained_by_relations(self.asked, self.wrong)

    def evidence(self, given: frozenset[int]) -> str:
        """How many of the wrong answers a mistake gives, and what is wrong with them if it is not their numbers."""
        forms = (of_form(self.asked[i]) for i in sorted(given))
        form = next(forms, "")
        if not form or not all(forms):
            return _evidence(len(given), len(self.wrong))
        if len(self.wrong) == 1:
            return f"{form} This mistake does the same."
        count = len(self.wrong)
        of = f"{len(given)} of the {count}" if given != self.wrong else "both" if count == 2 else f"all {count}"
        return f"{form} This mistake does the same in {of} calls where your answer is not what is asked for."


def _of_relations(related: Sequence[Relation], wrong: int) -> Diagnosis:
    return Diagnosis(
        "+".join(one.name for one in related),
        " And: ".join(one.hint for one in related),
        " ".join(one.evidence for one in related),
        is_relation=True,
    )


def _with(mistake: Mistake, related: Relation, evidence: str) -> Diagnosis:
    evidence = f"{evidence} The others differ from it in one way. {related.beside or related.evidence}"
    return Diagnosis(f"{mistake.name}+{related.name}", f"{mistake.hint} And: {related.hint}", evidence)


def _evidence(given: int, wrong: int) -> str:
    if given < wrong:
        return f"It gives {given} of your {wrong} wrong answers, number for number."
    if wrong == 1:
        return "It gives your wrong answer, number for number."
    return f"It gives {'both' if wrong == 2 else f'all {wrong}'} of your wrong answers, number for number."


def _copied(value: Any) -> Any:
    """An array or tensor of its own, which a mistake may write into."""
    if hasattr(value, "detach"):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return value.copy() if isinstance(value, np.ndarray | list) else value


def _is_whole(one: _Heard) -> bool:
    """Is it a value without NaN? A mistake that does other things at the edges has other prints there."""
    return isinstance(one.reply, Reply) and all(np.isfinite(a.astype(float)).all() for a in arrays(one.reply.value))


def _in_the_same_words(one: Answer, other: Answer) -> bool:
    if not isinstance(one, Failure):
        return True
    on_purpose = bool(one.lines) and one.lines[-1].text.lstrip().startswith("raise ")
    return isinstance(other, Failure) and (on_purpose or one.text == other.text)


def _size(answer: Answer) -> int:
    """How many numbers are in it."""
    return sum(a.size for a in arrays(answer.value)) if isinstance(answer, Reply) else 0


def _different(answer: Answer) -> int:
    """How many different numbers are in it: of zeros and ones there are many by chance."""
    return len({float(n) for a in arrays(answer.value) for n in a.flat}) if isinstance(answer, Reply) else 0


def _is_ordinary(one: _Heard, any_dtype: bool = False) -> bool:
    """A plain call in double precision, no gradients, with mostly finite numbers of ordinary size in and out."""
    if not isinstance(one.reply, Reply) or one.reply.gradients is not None:
        return False
    out, built_with = arrays(one.reply.value), one.call.instance or one.call
    if not out or (not any_dtype and any(a.dtype == np.float32 for a in out)):
        return False
    given = arrays([*built_with.args, *built_with.kwargs.values()])
    if any(np.abs(a.astype(float)).max(initial=0.0) > 1e3 for a in given):
        return False
    finite = [a[np.isfinite(a)] for a in out]
    return all(f.size >= a.size / 2 for f, a in zip(finite, out, strict=True)) and all(
        np.abs(f.astype(float)).max(initial=0.0) < 1e3 for f in finite
    )


def _same_where_finite(one: Answer, other: Answer) -> bool:
    """Are the arrays of two replies the same wherever the first has finite numbers?"""
    if not isinstance(one, Reply) or not isinstance(other, Reply):
        return False
    ours, theirs = arrays(one.value), arrays(other.value)
    if not theirs or [a.shape for a in ours] != [a.shape for a in theirs]:
        return False
    masks = [np.isfinite(a) for a in ours]
    return all(a.dtype == b.dtype and close(a[m], b[m]) for a, b, m in zip(ours, theirs, masks, strict=True))
