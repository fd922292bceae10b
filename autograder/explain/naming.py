"""Names what is wrong by the code's behaviour.

If an exercise loses marks, the answers to its calls are looked up among those of each hypothesis about it: the known
mistakes of the catalogue, and mutants with one wrong option (`Compared`).

`RULES` are tried in order, and the first that finds something decides. A rule needs a single name that fits; two names
are reported as one or the other. Otherwise there is no guess. A mistake must explain at least half of the wrong
answers. Equal answers are strong evidence: inputs are random numbers, and answers are usually arrays of twelve numbers
or more. Right answers are never diagnosed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from autograder.explain import relations, visible_fingerprints
from autograder.explain.fingerprints import Hypotheses
from autograder.explain.material import Subject
from autograder.explain.relations import USUAL, ComparedCall, of_form, takes_large_numbers
from autograder.judge.rules.rule import Attempt
from autograder.report import Finding
from autograder.testing.catalogue import Mistake, OfAnswer
from autograder.testing.comparing import same_answer, same_array, same_value
from autograder.testing.functions import AnsweredCall, has_chance
from autograder.testing.mismatch import Mismatch
from autograder.testing.plan import PlannedCall
from cellcage.notebook_calls import read
from cellcage.protocol.calls import Answer, Failure, Kind, Reply
from cellcage.values.value import arrays, parts_of

NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+")

NO_DOUBT = 3  # wrong values whose fingerprints agree; fewer are compared in full


class Compared:
    """A student's answers beside the right ones and those of every hypothesis. A call is known by its place in `calls`.

    Most answers of hypotheses are looked up in a table of fingerprints. On calls that were not planned, such as those
    that pass a model, the remaining candidates are run.

    calls: with the student's answers; compared: with the right answers as well
    of_course: relations that the course adds
    everywhere: the places of all calls; values: of calls that returned a value; raised: of calls that rightly raised
    wrong: the places where the student's answer is wrong
    """

    def __init__(
        self,
        hypotheses: Hypotheses,
        exercise: str,
        calls: Sequence[AnsweredCall | PlannedCall],
        of_course: Sequence[OfAnswer],
    ) -> None:
        self._hypotheses, self._table, self.of_course = hypotheses, hypotheses.table(exercise), of_course
        self.calls = hypotheses.answered(calls)
        self.compared = [ComparedCall(one.call, one.answer, hypotheses.answer(None, one)) for one in self.calls]
        self.everywhere = range(len(self.calls))
        self.values = [i for i, one in enumerate(self.calls) if isinstance(one.answer, Reply)]
        self.raised = [i for i, one in enumerate(self.compared) if _raise(one.got, one.wanted)]
        self.wrong = frozenset(
            i
            for i, one in enumerate(self.compared)
            if one.got is not one.wanted and not same_answer(one.got, one.wanted)
        )
        # Answers that may differ by chance are not looked up.
        columns = [None if has_chance(one.call, one.answer) else self._table.columns.get(one.key) for one in self.calls]
        self._is_planned = [column is not None for column in columns]
        # Axes: mistake, call.
        self._has_same_answer, self._has_same_value = self._table.alike([one.got for one in self.compared], columns)

    @cached_property
    def ordinary(self) -> list[int]:
        """The places of calls with values of usual size, in and out."""
        return [i for i, one in enumerate(self.compared) if _is_ordinary(one)]

    def matches(self, mistake: Mistake, i: int) -> bool:
        """True if the mistake gives the student's answer to a call."""
        if self._is_planned[i]:
            return bool(self._has_same_answer[self._table.rows[mistake], i])
        return same_answer(self.calls[i].answer, self._answer(mistake, i))

    def matches_where_finite(self, mistake: Mistake, i: int) -> bool:
        """True if the mistake gives the student's value wherever that is finite."""
        if self._is_planned[i] and self.calls[i].is_whole:
            return bool(self._has_same_value[self._table.rows[mistake], i])
        return self.matches(mistake, i) or _same_where_finite(self.calls[i].answer, self._answer(mistake, i))

    def fitting(self, calls: Sequence[int], where_finite: bool = False) -> list[Mistake]:
        """Mistakes that give the student's answers to all of `calls`, one a name, a known one if there is one.

        There are none if no answer to `calls` is wrong. A mistake that returns a value where the student's code rightly
        raises was not made, whichever `calls` are looked at.
        """
        wrong = sorted(self.wrong.intersection(calls))
        if not wrong:
            return []
        looked_up = [i for i in calls if self._is_planned[i] and (self.calls[i].is_whole or not where_finite)]
        table = self._has_same_value if where_finite else self._has_same_answer
        candidates = [self._table.mistakes[row] for row in np.flatnonzero(table[:, looked_up].all(axis=1)).tolist()]
        rest = sorted(set(calls).difference(looked_up), key=lambda i: (i not in self.wrong, i))
        match = self.matches_where_finite if where_finite else self.matches
        found: dict[str, Mistake] = {}
        for mistake in sorted(candidates, key=lambda m: (not m.is_known, len(m.also))):
            is_new = mistake.name not in found
            if not is_new or not all(match(mistake, i) for i in rest) or not self._is_confirmed(mistake, wrong):
                continue
            if all(_raise(self._answer(mistake, i)) for i in self.raised):
                found[mistake.name] = mistake
        return list(found.values())

    def _is_confirmed(self, mistake: Mistake, wrong: Sequence[int]) -> bool:
        """True if the mistake, when run, is wrong where the student is. Few values must be the student's as well."""
        values = [i for i in wrong if isinstance(self.calls[i].answer, Reply)]
        if not values:
            # The kind of an exception is weak evidence, unless the code raises it: many mistakes fail on batches.
            return all(_has_same_text(self.calls[i].answer, self._answer(mistake, i)) for i in wrong)
        if len(values) >= NO_DOUBT:
            return not any(same_answer(self._answer(mistake, i), self.compared[i].wanted) for i in values)
        both = [(self.calls[i].answer, self._answer(mistake, i)) for i in values]
        return all(same_answer(*pair) or _same_where_finite(*pair) for pair in both)

    def _answer(self, mistake: Mistake, i: int) -> Answer:
        return self._hypotheses.answer(mistake, self.calls[i])


def _raise(*answers: Answer) -> bool:
    return all(isinstance(answer, Failure) and answer.kind is not Kind.MEMORY for answer in answers)


def _is_ordinary(one: ComparedCall) -> bool:
    """True for a call in double precision without gradients, with mostly finite numbers of usual size in and out."""
    if not isinstance(one.got, Reply) or one.got.gradients is not None or takes_large_numbers(one.call):
        return False
    out, wanted = arrays(one.got.value), arrays(one.wanted.value) if isinstance(one.wanted, Reply) else []
    if not out or any(a.dtype == np.float32 for a in (*out, *wanted)):
        return False
    finite = [a[np.isfinite(a)] for a in out]
    return all(f.size >= a.size / 2 for f, a in zip(finite, out, strict=True)) and all(
        np.abs(f.astype(float)).max(initial=0.0) < USUAL for f in finite
    )


def _same_where_finite(first: Answer, second: Answer) -> bool:
    """True if two values are the same, apart from places where the first has NaN or infinity."""
    if not isinstance(first, Reply) or not isinstance(second, Reply):
        return False
    plain = [[part for part in parts_of(reply.value) if not hasattr(part, "dtype")] for reply in (first, second)]
    actual, others = arrays(first.value), arrays(second.value)
    if not same_value(*plain) or not others or [a.shape for a in actual] != [a.shape for a in others]:
        return False
    finite = [np.isfinite(a) for a in actual]
    return all(a.dtype == b.dtype and same_array(a[m], b[m]) for a, b, m in zip(actual, others, finite, strict=True))


def _has_same_text(first: Answer, second: Answer) -> bool:
    """True if two exceptions have the same text apart from numbers, or the first comes from a `raise` in the code."""
    if not isinstance(first, Failure):
        return True
    if not isinstance(second, Failure) or first.kind is not second.kind:
        return False
    same_text = _coarse(first.text) == _coarse(second.text)
    if first.kind is Kind.MEMORY:  # the text is how many bytes were held at once
        return same_text
    on_purpose = bool(first.lines) and first.lines[-1].text.lstrip().startswith(("raise ", "assert "))
    return on_purpose or same_text


def _coarse(text: str) -> str:
    """The text with numbers in two digits: sizes and bytes may differ a little."""
    return NUMBER.sub(lambda number: f"{float(number[0]):.2g}", text.strip())


# To name a mistake that is made in some calls only, so many answers with so many different numbers must agree.
ENOUGH_ANSWERS, ENOUGH_NUMBERS = 2, 4


NON_DETERMINISTIC = Finding(
    "relation",
    "another-answer-each-time",
    "The same call with the same arguments gave one answer first, and then another.",
    "Is something random, or does something survive from one call to the next?",
)
DROPOUT = Finding(
    "known mistake",
    "dropout",
    "While your code ran, a dropout was on.",
    "Is there a dropout? The docstring says what train() may change.",
)


def _in_all(compared: Compared, calls: Sequence[int]) -> Finding | None:
    """One mistake that gives the student's answers to all of `calls`, a known one rather than a mutant."""
    fitting = compared.fitting(calls)
    return _named(compared, [one for one in fitting if one.is_known]) or _named(compared, fitting)


def say_little(answers: Sequence[Answer]) -> bool:
    """True if the answers are only zeros, or NaN and hardly any numbers: that tells no mistake from another."""
    found = [
        a for answer in answers if isinstance(answer, Reply) for a in arrays(answer.value) if a.dtype.kind in "biuf"
    ]
    if not any(a.dtype.kind == "f" for a in found):  # a mask has few numbers anyway
        return False
    finite = np.concatenate([a[np.isfinite(a)].astype(float) for a in found])
    are_zeros = not finite.any() and not any(np.isinf(a).any() for a in found)
    return are_zeros or (any(np.isnan(a).any() for a in found) and len(np.unique(finite)) < ENOUGH_NUMBERS)


def _on_ordinary_input(compared: Compared) -> Finding | None:
    """One mistake that gives the student's answers to ordinary calls, and is rarely wrong where these are right."""
    wrong_values = (compared.compared[i].values for i in compared.wrong.intersection(compared.ordinary))
    if all(both and same_value(*both) for both in wrong_values):
        return None  # the values are right, and only they are looked at here
    right = [i for i in compared.everywhere if i not in compared.wrong]
    fitting = [
        mistake
        for mistake in compared.fitting(compared.ordinary, where_finite=True)
        if sum(not compared.matches(mistake, i) for i in right) < len(compared.wrong)
    ]
    return _named(compared, fitting)


def _in_some_calls(compared: Compared) -> Finding | None:
    wrong, calls = sorted(compared.wrong), compared.calls
    strong = [i for i in wrong if calls[i].is_whole and _count_different(calls[i].answer) >= ENOUGH_NUMBERS]
    fitting = compared.fitting(wrong)
    if len(strong) < ENOUGH_ANSWERS or len(fitting) != 1:
        return None
    also = "Your other answers are right. What have these calls in common?"
    return _known_mistake(fitting, f"{_evidence(compared, compared.wrong)} {also}", is_certain=False)


def _relation(compared: Compared) -> Finding | None:
    return relations.relation_among(compared.compared, compared.wrong, compared.of_course)


Rule = tuple[str, Callable[[Compared], Finding | None]]
RULES: tuple[Rule, ...] = (
    # Nothing is left to explain: it gives exceptions as well.
    ("a mistake, everywhere", lambda compared: _in_all(compared, compared.everywhere)),
    # Where the student's code raises, there may be another cause.
    ("a mistake, in all values", lambda compared: _in_all(compared, compared.values)),
    ("a relation", _relation),
    # On unusual input (empty rows, huge numbers) a mistake may show in another way.
    ("a mistake, on ordinary input", _on_ordinary_input),
    # Elsewhere it would be wrong, too: the student's code makes it in some calls only, such as those with a batch axis.
    ("a mistake, in some calls", _in_some_calls),
)


def diagnose(
    hypotheses: Hypotheses,
    exercise: str,
    calls: Sequence[AnsweredCall | PlannedCall],
    of_course: Sequence[OfAnswer],
) -> Finding | None:
    """What is wrong with the answers in `calls`; None if nothing is, or if it has no name.

    of_course: relations that the course adds
    """
    compared = Compared(hypotheses, exercise, calls, of_course)
    if not compared.wrong:
        return None
    # Many mistakes raise: without a single value, nothing tells one from another.
    if not compared.values or say_little([one.answer for one in compared.calls]):
        return _relation(compared)
    return next((found for _, find in RULES if (found := find(compared))), None)


def _named(compared: Compared, fitting: Sequence[Mistake]) -> Finding | None:
    """The only mistake that fits, or one of two, if at least half of the wrong answers are its."""
    if not 1 <= len(fitting) <= 2:
        return None
    given = frozenset(i for i in compared.wrong if compared.matches_where_finite(fitting[0], i))
    if 2 * len(given) < len(compared.wrong):
        return None
    also = [fitting[0].also] if fitting[0].also else []
    if len(fitting) == 2:
        also.insert(0, "there are two such mistakes, and your answers do not tell which one it is.")
    evidence = _evidence(compared, given)
    if also:
        evidence = f"{evidence.removesuffix('.')}, with one thing more: {' '.join(also)}"
    return _known_mistake(fitting, evidence, is_certain=len(fitting) == 1 and given == compared.wrong)


def _known_mistake(mistakes: Sequence[Mistake], evidence: str, is_certain: bool) -> Finding:
    """One mistake, or mistakes that give the same answers to all calls, under all their names."""
    name, hints = "-or-".join(one.name for one in mistakes), dict.fromkeys(one.hint for one in mistakes)
    return Finding("known mistake", name, evidence, " Or: ".join(hints), is_certain)


def _evidence(compared: Compared, given: frozenset[int]) -> str:
    """In how many wrong calls a mistake gives the student's answer; what is wrong there, if it is not the numbers."""
    forms = (of_form(compared.compared[i]) for i in sorted(given))
    form, count = next(forms, ""), len(compared.wrong)
    if form and all(forms):
        if count == 1:
            return f"{form} This mistake does the same."
        of = f"{len(given)} of the {count}" if given != compared.wrong else "both" if count == 2 else f"all {count}"
        return f"{form} This mistake does the same in {of} calls where your answer is wrong."
    if len(given) < count:
        return f"This mistake gives exactly your answers in {len(given)} of {count} wrong calls."
    calls = {1: "the wrong call", 2: "both wrong calls"}.get(count, f"all {count} wrong calls")
    return f"This mistake gives exactly your answer{'s' if count > 1 else ''} in {calls}."


def _count_different(answer: Answer) -> int:
    """How many different numbers an answer has; many zeros and ones would be weak evidence."""
    return len({float(n) for a in arrays(answer.value) for n in a.flat}) if isinstance(answer, Reply) else 0


def in_hidden_tests(subject: Subject) -> Finding | None:
    """What is wrong with the answers to hidden tests: a known mistake's name, or else a relation to right answers."""
    material, exercise, best = subject.material, subject.judged.exercise.name, subject.judged.best
    if material.hypotheses is None or not any(run.outcome.started for run in best.runs if run.outcome.error):
        return None
    known = diagnose(material.hypotheses, exercise, best.calls, material.relations)
    if known is None and best.corrected:
        known = diagnose(material.hypotheses, exercise, best.corrected, material.relations)
        known = None if known and known.name == relations.NAN else known  # there NaN stands for what did not come back
    if not best.non_deterministic or (known is not None and known.kind == "known mistake"):
        return known
    # Non-deterministic answers are related to the right ones by chance only. Which calls they answer is not by chance.
    return DROPOUT if _has_dropped(best) else NON_DETERMINISTIC


def in_visible_tests(subject: Subject) -> Finding | None:
    """The same from only the visible tests, without a solution."""
    material, exercise, best = subject.material, subject.judged.exercise.name, subject.judged.best
    wrong = [run.outcome.error for run in best.runs if run.outcome.error]
    pairs = [(error.got, error.wanted) for error in wrong if isinstance(error, Mismatch)]
    if not pairs:  # exceptions are weak evidence if there is nothing else
        return None
    if _has_dropped(best):
        return DROPOUT
    if best.non_deterministic:
        return NON_DETERMINISTIC
    answers = [read(one.answer) for one in best.calls]
    if not say_little(answers):
        names = visible_fingerprints.read(material.suite.folder)
        if known := visible_fingerprints.named(names, exercise, answers):
            return known
    if len(pairs) < len(wrong) or not all(hasattr(value, "dtype") for pair in pairs for value in pair):
        return None
    return relations.of_shown(pairs, material.relations)


def _has_dropped(best: Attempt) -> bool:
    """Whether a dropout was on in a call: two such calls may be equal by chance."""
    answers = (read(one.answer) for one in best.calls)
    return any(isinstance(answer, Reply) and answer.dropped for answer in answers)
