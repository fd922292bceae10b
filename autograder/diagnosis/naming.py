"""Names what is wrong by the code's behaviour.

If an exercise loses marks, the answers to its calls are looked up among those of each hypothesis about it: the known
mistakes of the catalogue, and mutants with one wrong option (`compared.py`).

`RULES` are tried in order, and the first that finds something decides. A rule needs a single name that fits; two names
are reported as one or the other. Otherwise there is no guess. A mistake must explain at least half of the wrong
answers. Equal answers are strong evidence: inputs are random numbers, and answers are usually arrays of twelve numbers
or more. Right answers are never diagnosed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from autograder.diagnosis.compared import Compared
from autograder.diagnosis.forms import of_form
from autograder.diagnosis.hypotheses import Hypotheses
from autograder.diagnosis.relations import relation_among
from autograder.report import Finding
from autograder.testing.catalogue import Mistake
from autograder.testing.functions import AnsweredCall
from autograder.testing.plan import PlannedCall
from autograder.testing.relation import OfAnswer
from autograder.testing.values.core.comparing import arrays
from cellcage.protocol.calls import Answer, Reply

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
    return not finite.any() or (any(np.isnan(a).any() for a in found) and len(np.unique(finite)) < ENOUGH_NUMBERS)


def _on_ordinary_input(compared: Compared) -> Finding | None:
    """One mistake that gives the student's answers to ordinary calls, and is rarely wrong where these are right."""
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
    return relation_among(compared.compared, compared.wrong, compared.of_course)


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
    of_course: Sequence[OfAnswer] = (),
) -> Finding | None:
    """What is wrong with the answers in `calls`; None if nothing is, or if it has no name.

    of_course: relations that the course adds
    """
    compared = Compared(hypotheses, exercise, calls, of_course)
    if not compared.wrong:
        return None
    if say_little([one.answer for one in compared.calls]):
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
