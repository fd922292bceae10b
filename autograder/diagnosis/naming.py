"""Names what is wrong by the code's behaviour alone.

If an exercise loses marks, the answers to its calls are looked up among those of each hypothesis about it: the known
mistakes of the catalogue, and the many mutants with one wrong option, or with two (`compared.py`).

`RULES` are tried in order, and the first that finds something decides. A rule needs a single name that fits; two names
are reported as one or the other. Otherwise there is no guess. What a mistake leaves unexplained, such as an exception
on batches, is reported beside it if it is a relation, and it may never be more than the mistake explains. Equal answers
are strong evidence: inputs are random numbers, and answers are usually arrays of twelve numbers or more. Right answers
are never diagnosed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from autograder.diagnosis.catalogue import Mistake
from autograder.diagnosis.compared import Compared
from autograder.diagnosis.differences import ComparedCall
from autograder.diagnosis.forms import of_form
from autograder.diagnosis.hypotheses import SMALLEST, Hypotheses
from autograder.diagnosis.relations import Kind, Relation, lays_out_otherwise, relations
from autograder.report import Cause
from autograder.testing.recording import RecordedCall
from autograder.testing.student import Recorded
from autograder.testing.values.core.comparing import arrays, same_answer
from cellcage.protocol.calls import Answer, Reply

ENOUGH = 2  # answers that are strong evidence, to name a mistake that is made in some calls only
# Relations that are a cause of their own beside a mistake. A mistake may show in other ways in unusual calls.
BESIDE = (
    "one-batch-layout", "another-dtype", "another-kind", "another-shape", "inputs-changed", "nan-in-the-gradient",
    "gradient-missing",
)  # fmt: skip
NEAREST = 4  # mistakes whose unexplained answers are compared with relations


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong: each cause with its name and a question, and a sentence of evidence.

    is_relation: it names no mistake, but a relation between the answers and the right ones
    at_random: the diagnosis in its place if the same call gets another answer each time
    """

    causes: tuple[Cause, ...]
    evidence: str = ""
    is_relation: bool = False
    at_random: Diagnosis | None = None


NON_DETERMINISTIC = Diagnosis(
    (Cause("another-answer-each-time", "Is there something random, or does something outlive a call?"),),
    "The same call with the same arguments gave one answer first, and then another.",
    is_relation=True,
)
DROPOUT = Diagnosis(
    (Cause("dropout", "Is there a dropout, and which line turns it off?"),),
    "While your code ran, a dropout was on.",
)


def _single(compared: Compared, calls: Sequence[int]) -> Diagnosis | None:
    """One mistake that gives the student's answers to all of `calls`, a known one rather than a mutant."""
    fitting = compared.fitting(compared.singles, calls)
    return _named(compared, [one for one in fitting if one.is_known]) or _named(compared, fitting)


def _named(compared: Compared, fitting: Sequence[Mistake]) -> Diagnosis | None:
    """The only name that fits, or two names, and a relation that explains what they leave unexplained."""
    if len(fitting) == 2 and not any(mistake.both for mistake in fitting):
        fitting = [_one_or_other(*fitting)]
    if len(fitting) != 1:
        return None
    (mistake,) = fitting
    given = frozenset(i for i in compared.wrong if compared.matches_where_finite(mistake, i))
    rest = compared.wrong - given
    if rest:
        with_relation = _with_relation(compared, mistake, given)
        if with_relation is not None or len(rest) > len(given):
            return with_relation
    evidence = _evidence(compared, given)
    if mistake.also:
        evidence = f"{evidence.removesuffix('.')}, with one thing more: {mistake.also}"
    return Diagnosis(mistake.causes, evidence)


def _with_relation(compared: Compared, mistake: Mistake, given: frozenset[int]) -> Diagnosis | None:
    """A mistake that gives some wrong answers, and one relation between the student's other wrong answers and its own.

    given: the places of the answers that the mistake gives
    """
    rest = compared.wrong - given
    pairs = [ComparedCall(one.call, one.answer, compared.answer(mistake, i)) for i, one in enumerate(compared.calls)]
    differ = frozenset(i for i, one in enumerate(pairs) if not same_answer(one.got, one.wanted))
    found = list(relations(pairs, differ, names=BESIDE)) if differ >= rest else []
    if not all(lays_out_otherwise(pairs[i]) for i in rest):
        found = [one for one in found if one.name != "one-batch-layout"]
    related = next((one for one in found if one.explains >= rest), None)
    if related is None:
        return None
    others = f"The others differ from it in one way. {related.beside or related.evidence}"
    return Diagnosis((*mistake.causes, Cause(related.name, related.hint)), f"{_evidence(compared, given)} {others}")


def _two_side_by_side(compared: Compared) -> Diagnosis | None:
    wrong = sorted(compared.wrong.intersection(compared.values))
    matches, pairs = compared.matches, {}
    # One of the two gives the first wrong answer; few mistakes do.
    for first in [m for m in compared.singles if wrong and matches(m, wrong[0])]:
        given = compared.explained(first)
        rest = [i for i in wrong if i not in given] if given else []
        for second in compared.singles if rest else ():
            gives_rest = first.name != second.name and all(matches(second, i) for i in rest)
            if gives_rest and compared.explained(second):
                pairs[tuple(sorted((first.name, second.name)))] = first, second
    if len(pairs) != 1:
        return None
    ((first, second),) = pairs.values()
    return Diagnosis((*first.causes, *second.causes), _evidence(compared, frozenset(wrong)))


def _mistake_and_relation(compared: Compared) -> Diagnosis | None:
    for mistake, given in compared.best_matches()[:NEAREST]:
        if given and given != compared.wrong and (found := _with_relation(compared, mistake, given)):
            return found
    return None


def _in_some_calls(compared: Compared) -> Diagnosis | None:
    wrong, calls = sorted(compared.wrong), compared.calls
    if sum(calls[i].is_whole and _count_different(calls[i].answer) >= SMALLEST for i in wrong) < ENOUGH:
        return None
    fitting = compared.fitting(compared.singles, wrong)
    if len(fitting) != 1:
        return None
    also = "Your other answers are right. What have these calls in common?"
    return Diagnosis(fitting[0].causes, f"{_evidence(compared, compared.wrong)} {also}")


Rule = tuple[str, Callable[[Compared], Diagnosis | None]]
RULES: tuple[Rule, ...] = (
    # Nothing is left to explain: it gives exceptions as well.
    ("a mistake, everywhere", lambda c: _single(c, c.everywhere)),
    # Where the student's code raises, there may be another cause.
    ("a mistake, in all values", lambda c: _single(c, c.values)),
    # One cause that explains all is likelier than two mistakes that do.
    ("a relation", lambda c: _of_relations(c.related) if len(c.related) == 1 else None),
    ("two in one function, everywhere", lambda c: _named(c, c.fitting(c.pairs, c.everywhere))),
    ("two in one function, in all values", lambda c: _named(c, c.fitting(c.pairs, c.values))),
    # Each is right or gives the student's value everywhere, and together they explain all wrong values.
    ("two, each where it shows", _two_side_by_side),
    # On unusual input (empty rows, huge numbers) a mistake may show in another way.
    ("a mistake, on ordinary input", lambda c: _named(c, c.fitting(c.singles, c.ordinary, True))),
    ("two in one function, on ordinary input", lambda c: _named(c, c.fitting(c.pairs, c.ordinary, True))),
    # Each explains some wrong answers, and both explain all.
    ("two relations", lambda c: _of_relations(c.related) if len(c.related) == 2 else None),
    # The relation is between the student's answers and the mistake's.
    ("a mistake and a relation", _mistake_and_relation),
    # Elsewhere it would be wrong, too: the student's code makes it in some calls only, such as those with a batch axis.
    ("a mistake, in some calls", _in_some_calls),
)


def diagnose(
    hypotheses: Hypotheses,
    exercise: str,
    calls: Sequence[Recorded | RecordedCall],
    of_course: Sequence[Kind] = (),
) -> Diagnosis | None:
    """What is wrong with the answers in `calls`; None if nothing is, or if it has no name.

    of_course: relations that the course adds
    """
    compared = Compared(hypotheses, exercise, calls, of_course)
    if not compared.wrong:
        return None
    return next((found for _, find in RULES if (found := find(compared))), None)


def _one_or_other(first: Mistake, second: Mistake) -> Mistake:
    """Two mistakes that give the same answers to all calls, as one with both names."""
    hint = first.hint if first.hint == second.hint else f"{first.hint} Or: {second.hint}"
    more = first.also and f". {first.also}"
    also = f"there are two such mistakes, and your answers do not tell which one it is{more}."
    return replace(first, name=f"{first.name}-or-{second.name}", hint=hint, also=also)


def _of_relations(related: Sequence[Relation]) -> Diagnosis:
    evidence = " ".join(one.evidence for one in related)
    causes = tuple(Cause(one.name, one.hint) for one in related)
    at_random = None
    if len(related) == 1 and related[0].at_random is not None:
        cause = Cause(*related[0].at_random)
        at_random = Diagnosis((cause,), f"{evidence} {NON_DETERMINISTIC.evidence}", is_relation=True)
    return Diagnosis(causes, evidence, is_relation=True, at_random=at_random)


def _evidence(compared: Compared, given: frozenset[int]) -> str:
    """In how many wrong calls a mistake gives the student's answer; what is wrong there, if it is not the numbers."""
    forms = (of_form(compared.compared[i]) for i in sorted(given))
    form, count = next(forms, ""), len(compared.wrong)
    if form and all(forms):
        if count == 1:
            return f"{form} This mistake does the same."
        of = f"{len(given)} of the {count}" if given != compared.wrong else "both" if count == 2 else f"all {count}"
        return f"{form} This mistake does the same in {of} calls where your answer is not what is asked for."
    if len(given) < count:
        return f"This mistake gives exactly your answers in {len(given)} of {count} wrong calls."
    calls = {1: "the wrong call", 2: "both wrong calls"}.get(count, f"all {count} wrong calls")
    return f"This mistake gives exactly your answer{'s' if count > 1 else ''} in {calls}."


def _count_different(answer: Answer) -> int:
    """How many different numbers an answer has; many zeros and ones would be weak evidence."""
    return len({float(n) for a in arrays(answer.value) for n in a.flat}) if isinstance(answer, Reply) else 0
