"""Naming what is wrong by behaviour alone.

While a suite runs, every call and what came back are kept. Where an exercise loses marks, the answers are looked up
among those of each hypothesis about it: the catalogue's known mistakes, and the many others that its sets of mutants
compose, alone and two in one function (`compared.py`).

`RULES` says what is then told: a list of rules, of which the first that has something to say decides. A rule speaks
only if one name alone fits, or two do, which are then told as the one or the other. Otherwise there is no guess. What a
mistake leaves unexplained, such as an exception on batches, is told beside it if it is a relation, and it is never more
than what is explained. Equal answers are strong evidence: a suite's inputs are random numbers, and its ordinary answers
arrays of twelve and more. Right answers are never diagnosed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from autograder.diagnosis.catalogue import Mistake
from autograder.diagnosis.compared import Compared
from autograder.diagnosis.differences import ComparedCall
from autograder.diagnosis.forms import of_form
from autograder.diagnosis.hypotheses import SMALLEST, Hypotheses, is_ordinary
from autograder.diagnosis.relations import Kind as KindOfRelation
from autograder.diagnosis.relations import Relation, explained_by_relations, lays_out_otherwise, relations
from autograder.report import Cause
from autograder.sandbox.protocol.calls import Answer, Failure, Kind, Reply
from autograder.testing.comparing import arrays, same_answer
from autograder.testing.quoting import may_be
from autograder.testing.recording import RecordedCall
from autograder.testing.redaction import coarse
from autograder.testing.student import Recorded

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
    at_random: what it is instead, if the same call is answered otherwise each time
    """

    causes: tuple[Cause, ...]
    evidence: str = ""
    is_relation: bool = False
    at_random: "Diagnosis | None" = None


NON_DETERMINISTIC = Diagnosis(
    (Cause("another-answer-each-time", "Is there something random, or does something outlive a call?"),),
    "The same call with the same arguments gave one answer first, and then another.",
    is_relation=True,
)


DROPOUT = Diagnosis(
    (Cause("dropout", "Is there a dropout, and which line turns it off?"),),
    "While your code ran, a dropout was on.",
)


@dataclass(frozen=True)
class Rule:
    """One way to find what is wrong.

    reason: why it may be told, and why where it stands
    """

    name: str
    reason: str
    find: "Callable[[Case], Diagnosis | None]"


class Case:
    """A student's answers to an exercise's calls, beside those of its hypotheses.

    everywhere, values: places of all calls, and of those that the student's code gave a value to
    wrong: places of wrong answers
    """

    def __init__(self, compared: Compared, of_course: Sequence[KindOfRelation] = ()) -> None:
        self.compared, self.wrong, self._of_course = compared, compared.wrong, of_course
        self.answers = [one.answer for one in compared.calls]
        self.everywhere = range(len(self.answers))
        self.values = [i for i in self.everywhere if isinstance(self.answers[i], Reply)]

    @cached_property
    def ordinary(self) -> list[int]:
        """Places of plain calls whose values are of ordinary size."""
        return [i for i, one in enumerate(self.compared.calls) if is_ordinary(one.call, one.answer)]

    @cached_property
    def related(self) -> tuple[Relation, ...]:
        """Relations that explain all that is wrong; looked for once."""
        return explained_by_relations(self.compared.asked, self.wrong, self._of_course)

    def single(self, calls: Sequence[int]) -> Diagnosis | None:
        """One mistake that gives the student's answers to all of `calls`: a known one before a mutant."""
        fitting = self.fitting(self.compared.singles_giving, calls)
        return self.told([one for one in fitting if one.is_known]) or self.told(fitting)

    def pair(self, calls: Sequence[int]) -> Diagnosis | None:
        """Two mistakes in one function that do."""
        return self.told(self.fitting(self.compared.pairs_giving, calls))

    def fitting(
        self, giving: Callable[..., list[Mistake]], calls: Sequence[int], where_finite: bool = False
    ) -> list[Mistake]:
        """Those that give the student's answer to all of `calls`, one a name; none if nothing there is wrong."""
        wrong = sorted(self.wrong.intersection(calls))
        if not wrong:
            return []
        if any(isinstance(self.answers[i], Reply) for i in wrong):
            return giving(calls, lambda m: self.compared.is_beyond_doubt(m, wrong), where_finite)
        # Exceptions of one kind alone are weak evidence, if nobody raised them: many slips end in one on batches.
        answer = self.compared.answer

        def in_the_same_words(mistake: Mistake) -> bool:
            return all(_in_the_same_words(self.answers[i], answer(mistake, i)) for i in wrong)

        return giving(calls, in_the_same_words, where_finite)

    def told(self, fitting: Sequence[Mistake]) -> Diagnosis | None:
        """The name that fits alone, or two that do, and what is left unexplained if that is a relation."""
        if len(fitting) == 2 and not any(mistake.both for mistake in fitting):
            fitting = [_one_or_other(*fitting)]
        if len(fitting) != 1:
            return None
        (mistake,) = fitting
        given = frozenset(i for i in self.wrong if self.compared.gives_where_finite(mistake, i))
        rest = self.wrong - given
        if rest:
            related = self.rest(mistake, rest)
            if related is not None:
                return _with(mistake, related, self.evidence(given))
            if len(rest) > len(given):
                return None
        evidence = self.evidence(given)
        if mistake.also:
            evidence = f"{evidence.removesuffix('.')}, with one thing more: {mistake.also}"
        return Diagnosis(mistake.causes, evidence)

    def rest(self, mistake: Mistake, rest: frozenset[int]) -> Relation | None:
        """One relation between the student's answers and a mistake's that explains all of `rest`."""
        asked = [
            ComparedCall(one.call, one.answer, self.compared.answer(mistake, i))
            for i, one in enumerate(self.compared.calls)
        ]
        off = frozenset(i for i, one in enumerate(asked) if not same_answer(one.got, one.wanted))
        found = [one for one in relations(asked, off) if one.name in BESIDE] if off >= rest else []
        if not all(lays_out_otherwise(asked[i]) for i in rest):
            found = [one for one in found if one.name != "one-batch-layout"]
        return next((one for one in found if one.explains >= rest), None)

    def explained(self, mistake: Mistake, values: Iterable[int]) -> frozenset[int]:
        """The wrong answers that this mistake gives, too; none where it is wrong and the student right."""
        found = set()
        for i in values:
            if self.compared.gives(mistake, i):
                found |= {i} & self.wrong
            elif i not in self.wrong or not self.compared.is_right(mistake, i):
                return frozenset()
        return frozenset(found)

    def evidence(self, given: frozenset[int]) -> str:
        """How many of the wrong answers a mistake gives, and what is wrong with them if it is not their numbers."""
        forms = (of_form(self.compared.asked[i]) for i in sorted(given))
        form = next(forms, "")
        if not form or not all(forms):
            return _evidence(len(given), len(self.wrong))
        if len(self.wrong) == 1:
            return f"{form} This mistake does the same."
        count = len(self.wrong)
        of = f"{len(given)} of the {count}" if given != self.wrong else "both" if count == 2 else f"all {count}"
        return f"{form} This mistake does the same in {of} calls where your answer is not what is asked for."


def _two_side_by_side(case: Case) -> Diagnosis | None:
    wrong = sorted(case.wrong.intersection(case.values))
    gives = case.compared.gives
    pairs = {}
    # One of the two gives the first wrong answer; there are few of those.
    for one in [m for m in case.compared.singles if wrong and gives(m, wrong[0])]:
        given = case.explained(one, case.values)
        rest = [i for i in wrong if i not in given] if given else []
        for other in case.compared.singles if rest else ():
            gives_rest = one.name != other.name and all(gives(other, i) for i in rest)
            if gives_rest and case.explained(other, case.values):
                pairs[tuple(sorted((one.name, other.name)))] = one, other
    if len(pairs) != 1:
        return None
    ((one, other),) = pairs.values()
    return Diagnosis((*one.causes, *other.causes), case.evidence(frozenset(wrong)))


def _mistake_and_relation(case: Case) -> Diagnosis | None:
    for mistake, given in case.compared.giving_most()[:NEAREST]:
        rest = case.wrong - given
        related = case.rest(mistake, rest) if given and rest else None
        if related is not None:
            return _with(mistake, related, case.evidence(given))
    return None


def _in_some_calls(case: Case) -> Diagnosis | None:
    wrong, calls = sorted(case.wrong), case.compared.calls
    if sum(calls[i].is_whole and _different(case.answers[i]) >= SMALLEST for i in wrong) < ENOUGH:
        return None
    fitting = case.compared.singles_giving(wrong, lambda m: case.compared.is_beyond_doubt(m, wrong))
    if len(fitting) != 1:
        return None
    evidence = f"{case.evidence(case.wrong)} Your other answers are right. What have these calls in common?"
    return Diagnosis(fitting[0].causes, evidence)


RULES = (
    Rule(
        "a mistake, everywhere",
        "It gives the student's answer to every call, exceptions included: nothing is left to explain.",
        lambda case: case.single(case.everywhere),
    ),
    Rule(
        "a mistake, in all values",
        "It gives every value. Where the student's code raises, there may be another cause.",
        lambda case: case.single(case.values),
    ),
    Rule(
        "a relation",
        "One cause that explains all is likelier than two mistakes that do.",
        lambda case: _of_relations(case.related) if len(case.related) == 1 else None,
    ),
    Rule(
        "two in one function, everywhere",
        "Two mistakes that compose one function, which gives every answer.",
        lambda case: case.pair(case.everywhere),
    ),
    Rule(
        "two in one function, in all values",
        "The same wherever there is a value.",
        lambda case: case.pair(case.values),
    ),
    Rule(
        "two, each where it shows",
        "Each of the two is right or gives the student's value everywhere, and together they explain all wrong ones.",
        _two_side_by_side,
    ),
    Rule(
        "a mistake, on ordinary input",
        "It gives the ordinary answers. What happens at the edges (empty rows, huge numbers) is not held against it.",
        lambda case: case.told(case.fitting(case.compared.singles_giving, case.ordinary, where_finite=True)),
    ),
    Rule(
        "two in one function, on ordinary input",
        "The same of two in one function.",
        lambda case: case.told(case.fitting(case.compared.pairs_giving, case.ordinary, where_finite=True)),
    ),
    Rule(
        "two relations",
        "Each explains some wrong answers, and both explain all.",
        lambda case: _of_relations(case.related) if len(case.related) == 2 else None,
    ),
    Rule(
        "a mistake and a relation",
        "The mistake gives some wrong answers, and the others stand in one relation to what it gives.",
        _mistake_and_relation,
    ),
    Rule(
        "a mistake, in some calls",
        "It gives every wrong answer, two ordinary values among them. It would be wrong elsewhere, too: the student's "
        "code makes it in some of the calls, with a batch axis, say.",
        _in_some_calls,
    ),
)


def diagnose(
    hypotheses: Hypotheses,
    exercise: str,
    calls: Sequence[Recorded | RecordedCall],
    of_course: Sequence[KindOfRelation] = (),
    rules: Sequence[Rule] = RULES,
) -> Diagnosis | None:
    """What is wrong with the answers in `calls`, or None where nothing is, or nothing can be told.

    of_course: relations that the course adds
    """
    compared = Compared(hypotheses, exercise, calls)
    if not compared.wrong:
        return None  # nothing here is wrong, so nothing here tells one mistake from another
    if any(one.call.chance for one in calls):  # right draws may be others: only those of a mistake tell of it
        rules = RULES[:2]
    case = Case(compared, of_course)
    return next((found for rule in rules if (found := rule.find(case))), None)


def _one_or_other(one: Mistake, other: Mistake) -> Mistake:
    """Two that give the same answers to all that was asked, told as what they share."""
    hint = one.hint if one.hint == other.hint else f"{one.hint} Or: {other.hint}"
    also = f"there are two such mistakes, and your answers do not tell which one it is{one.also and f'. {one.also}'}."
    return replace(one, name=f"{one.name}-or-{other.name}", hint=hint, also=also)


def _of_relations(related: Sequence[Relation]) -> Diagnosis:
    evidence = " ".join(one.evidence for one in related)
    random = [Cause(*one.at_random) for one in related if one.at_random is not None]
    said = f"{evidence} {NON_DETERMINISTIC.evidence}"
    at_random = Diagnosis(tuple(random), said, is_relation=True) if len(related) == 1 else None
    causes = tuple(Cause(one.name, one.hint) for one in related)
    return Diagnosis(causes, evidence, is_relation=True, at_random=at_random if random else None)


def _with(mistake: Mistake, related: Relation, evidence: str) -> Diagnosis:
    evidence = f"{evidence} The others differ from it in one way. {related.beside or related.evidence}"
    return Diagnosis((*mistake.causes, Cause(related.name, related.hint)), evidence)


def _evidence(given: int, wrong: int) -> str:
    if given < wrong:
        return f"This mistake gives exactly your answers in {given} of {wrong} wrong calls."
    calls = {1: "the wrong call", 2: "both wrong calls"}.get(wrong, f"all {wrong} wrong calls")
    return f"This mistake gives exactly your answer{'s' if wrong > 1 else ''} in {calls}."


def _in_the_same_words(one: Answer, other: Answer) -> bool:
    if not isinstance(one, Failure):
        return True
    if not isinstance(other, Failure) or one.kind is not other.kind:
        return False
    if one.kind is Kind.MEMORY:  # the text is how many bytes were held at once
        return coarse(one.text) == coarse(other.text)
    on_purpose = bool(one.lines) and one.lines[-1].text.lstrip().startswith("raise ")
    texts = coarse(one.text), coarse(other.text)
    return on_purpose or may_be(*texts) or may_be(*reversed(texts))


def _different(answer: Answer) -> int:
    """How many different numbers are in it: of zeros and ones there are many by chance."""
    return len({float(n) for a in arrays(answer.value) for n in a.flat}) if isinstance(answer, Reply) else 0
