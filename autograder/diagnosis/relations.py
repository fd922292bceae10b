"""How wrong answers are related to the right ones: all transposed, all ten times as large, right for one layout only.

Relations serve where no known mistake explains the answers, and are the same for all exercises. A relation explains a
set of wrong answers; it is reported if it explains all of them, alone or with another one. Its evidence is a sentence,
its hint a question, and neither shows a right number beyond a factor. `differences` and `forms` find what is wrong with
one answer.

A course adds relations of its own subject in the `relations.py` of its folder, which students have, too:

    RELATIONS = (OfAnswer("unsorted", unsorted, "Which of two neighbours should come first?"),)
"""

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from msgspec.structs import replace

from autograder.diagnosis import differences, forms, tables
from autograder.diagnosis.differences import NOT_ALONE, UNLIKELY, ComparedCall
from autograder.testing.callbacks import passes_functions
from autograder.testing.values.core.comparing import arrays, numbers, same_value
from cellcage.protocol import frames
from cellcage.protocol.calls import Answer, Call, Failure, NoAnswer, Reply
from cellcage.protocol.kinds import Kind as FailureKind
from cellcage.protocol.kinds import Why
from cellcage.values.codec import encode


@dataclass(frozen=True)
class Relation:
    """What a set of wrong answers (given by their places) has in common.

    with_another: whether it may be one of two that explain all wrong answers. Only a plain relation may, since what
        holds for some calls only is easily found by chance
    beside: the evidence in a form that holds beside another cause
    at_random: see `OfCalls`
    """

    name: str
    evidence: str
    hint: str
    explains: frozenset[int]
    with_another: bool = False
    beside: str = ""
    at_random: tuple[str, str] | None = None


@dataclass(frozen=True)
class OfAnswer:
    """A relation that shows in each single answer.

    find: gives the evidence in one sentence; empty if it does not hold; `NOT_ALONE` or `UNLIKELY` if other answers must
        show it
    shared: gives what has to be the same in all these answers
    """

    name: str
    find: Callable[[ComparedCall], str]
    hint: str
    with_another: bool = False
    shared: Callable[[ComparedCall], Any] = lambda one: None

    def among(self, compared: Sequence[ComparedCall], wrong: frozenset[int]) -> Relation | None:
        """The relation with the wrong answers in which it shows; None if there are none."""
        found = {i: evidence for i in sorted(wrong) if (evidence := self.find(compared[i]))}
        clear = [evidence for evidence in found.values() if evidence not in (NOT_ALONE, UNLIKELY)]
        if len(clear) <= 3 * [*found.values()].count(UNLIKELY) or len({self.shared(compared[i]) for i in found}) > 1:
            return None
        return Relation(self.name, clear[0], self.hint, frozenset(found), self.with_another)


@dataclass(frozen=True)
class OfCalls:
    """What calls with wrong answers have in common, while other calls have right answers.

    at_random: its name and hint if such a call gets another answer each time
    """

    name: str
    has: Callable[[Call], bool]
    evidence: str
    hint: str
    with_another: bool = False
    at_random: tuple[str, str] | None = None

    def among(self, compared: Sequence[ComparedCall], wrong: frozenset[int]) -> Relation | None:
        """The relation, if at least half of the answers to such calls are wrong, and some other answer is right."""
        having = {i for i, one in enumerate(compared) if self.has(one.call)}
        others_right = frozenset(range(len(compared))) - wrong - having
        explains = wrong & having
        if not explains or not others_right or 2 * len(explains) < len(having):
            return None
        return Relation(self.name, self.evidence, self.hint, explains, self.with_another, at_random=self.at_random)


Kind = OfAnswer | OfCalls


def relations(
    compared: Sequence[ComparedCall],
    wrong: frozenset[int],
    of_course: Sequence[Kind] = (),
    names: Container[str] | None = None,
) -> Iterator[Relation]:
    """Every relation that explains some of the `wrong` answers, the strongest evidence first.

    of_course: the course's own relations, see `autograder.content.course_relations`
    names: of the relations to look for; None for all
    """

    def of_kinds(*kinds: Kind) -> Iterator[Relation]:
        for kind in kinds:
            if (names is None or kind.name in names) and (found := kind.among(compared, wrong)) is not None:
                yield found

    yield from of_kinds(*of_course, *KINDS)
    for name, find in OF_ALL_CALLS.items():
        if names is None or name in names:
            yield from find(name, compared, wrong)
    yield from of_kinds(ITEMS_ZERO)  # last: a size at which code stops says more


def explained_by_relations(
    compared: Sequence[ComparedCall], wrong: frozenset[int], of_course: Sequence[Kind] = ()
) -> tuple[Relation, ...]:
    """One relation that explains all wrong answers, or else two that do together; empty if there are none.

    A call that ran out of memory or time has no wrong value, so it is left out; `explains` counts the others.
    """
    kept = [i for i, one in enumerate(compared) if not _ran_out(one.got)]
    compared, wrong = [compared[i] for i in kept], frozenset(n for n, i in enumerate(kept) if i in wrong)
    if not wrong:
        return ()
    found = list(relations(compared, wrong, of_course))
    together = combinations([one for one in found if one.with_another], 2)
    groups: list[tuple[Relation, ...]] = [*((one,) for one in found), *together]
    return next((group for group in groups if frozenset().union(*(one.explains for one in group)) == wrong), ())


def _ran_out(answer: Answer) -> bool:
    if isinstance(answer, NoAnswer):
        return answer.why is not Why.UNREADABLE
    return isinstance(answer, Failure) and answer.kind is FailureKind.MEMORY


def of_shown(pairs: Sequence[tuple[Any, Any]], of_course: Sequence[Kind] = ()) -> Relation | None:
    """One relation between answers to visible tests and what they expect, which is written with four digits."""
    # In float32 two numbers count as equal within a thousandth.
    compared = [ComparedCall(Call(""), *(Reply(_coarse(value)) for value in pair)) for pair in pairs]
    found = explained_by_relations(compared, frozenset(range(len(compared))), of_course)
    # The expected numbers are rounded themselves, so a wrong number close to one looks as if digits were lost.
    return found[0] if len(found) == 1 and found[0].name != "rounded" else None


def _coarse(value: Any) -> Any:
    array = numbers(value)
    return array.astype(np.float32) if array.dtype.kind == "f" else array


def arrays_given(call: Call) -> list[np.ndarray]:
    """The arrays among a call's arguments."""
    return arrays([*call.args, *call.kwargs.values()])


# The strongest evidence first: the first relation that explains all wrong answers is reported.
KINDS: tuple[Kind, ...] = (
    *(OfAnswer(*one) for one in tables.BEFORE),
    OfAnswer("tuple-swapped", forms.parts_swapped, "In which order does the docstring name what comes back?"),
    OfAnswer("another-kind", forms.kind,
             "What is the type of what you give back, and which one does the docstring promise?", with_another=True),
    OfAnswer("another-dtype", forms.dtype,
             "Print the dtype after each line. Where does it part from the one that is asked for?", with_another=True),
    OfAnswer("complement", differences.complement, "Which of the two does True stand for here?"),
    OfAnswer("axes-in-another-order", differences.turned,
             "Which axis does the docstring name first, and which is first in yours?", True, differences.order_of),
    OfAnswer("another-shape", differences.reshaped,
             "Write down the shape after each step: where does it part from the docstring's?"),
    OfAnswer("a-constant-factor", differences.factor,
             "Print each number that you multiply or divide by. Is it the one that the formula has?",
             with_another=True),
    OfAnswer("shifted-by-a-constant", differences.offset,
             "What do you add or take off at the end, and does the docstring ask for it?"),
    OfAnswer("rounded", differences.rounded,
             "On which line are digits lost: is something rounded there, or is its dtype a small one?"),
    OfAnswer("another-order", differences.order,
             "Number the items by hand: which one stands first in yours?", with_another=True),
    OfAnswer("all-zero", differences.all_zero, "Which of your steps gives the first zeros? What is multiplied there?"),
    OfAnswer("items-repeated", differences.repeated,
             "Number the items by hand: which one stands twice in yours, and which is missing?"),
    OfAnswer("negative-numbers-lost", differences.cut_at_zero,
             "Which step lets no negative number through, and is it in the formula?"),
    OfAnswer("first-item-only", differences.first_for_all,
             "Along the first axis, what is the second item of your result made from?"),
    OfAnswer("another-length", differences.cut_short,
             "Which of your lines says how long this axis is, and what does the docstring say?"),
    OfAnswer("parts-missing", forms.parts_missing, "How many things does the docstring promise?"),
    OfAnswer("argument-handed-back", forms.handed_back,
             "Which step changes what came in, and does your code reach it?"),
    OfAnswer("another-error", forms.another_error, "Which exception does the docstring name?", with_another=True),
    OfAnswer("error-missing", forms.no_error,
             "For which arguments is there no right answer, and who is told?", with_another=True),
    OfAnswer("inputs-changed", forms.inputs_changed,
             "Print the arguments before and after the call. Which line writes into one?", with_another=True),
    OfAnswer("nan-in-the-gradient", forms.nan_gradients,
             "Where could a 0 / 0 or an inf - inf hide, even if its result is replaced later?"),
    OfAnswer("gradient-missing", forms.gradients,
             "Which step on the way gives a tensor that autograd knows nothing of?"),
    OfCalls(
        # An axis of truth values has length 1 to be broadcast.
        "lengths-of-one", lambda call: any(1 in a.shape for a in arrays_given(call) if a.dtype.kind != "b"),
        "All is right but where an axis has length 1.",
        "What happens to an axis of length one?",
    ),
    OfCalls(
        "memory-layout", lambda call: any(not a.flags.c_contiguous for a in arrays_given(call)),
        "All is right but for arrays that do not lie in order in memory.",
        "Does a step of yours read memory as it lies, as .view does?", with_another=True,
    ),
    OfCalls(
        "without-an-argument", lambda call: any(value is None for value in [*call.args, *call.kwargs.values()]),
        "All is right but where an argument is None.",
        "What does your code do where it is not given?",
    ),
    *(OfAnswer(*one) for one in tables.AFTER),
)  # fmt: skip


ITEMS_ZERO = OfAnswer(
    "items-zero", differences.emptied, "Number the items by hand: which step of yours leaves some out?"
)


def lays_out_otherwise(one: ComparedCall) -> bool:
    """True if the code raises or gives another shape: a mistake in values may well treat axes in its own way."""
    return one.values is None or not _same_shapes(*one.values)


def _same_shapes(actual: Any, right: Any) -> bool:
    return [a.shape for a in arrays(actual)] == [a.shape for a in arrays(right)]


def _axes_of_input(call: Call) -> int:
    """How many axes the first array has; of keyword arguments, the array with most, without those of truth values."""
    given = arrays_given(call)[:1] if call.args else [a for a in arrays_given(call) if a.dtype.kind != "b"]
    return max((a.ndim for a in given), default=0)


def _one_layout(name: str, compared: Sequence[ComparedCall], wrong: frozenset[int]) -> Iterator[Relation]:
    """Answers are right for one number of axes only."""
    axes = [_axes_of_input(one.call) for one in compared]
    good = {axes[i] for i, one in enumerate(compared) if i not in wrong and isinstance(one.wanted, Reply)}
    missed = frozenset(i for i in wrong if axes[i] not in good)
    if len(good) == 1 and 0 not in good and missed:
        (only,) = good
        how = "raises" if all(isinstance(compared[i].got, Failure) for i in missed) else "is wrong"
        axes_of = "1 axis" if only == 1 else f"{only} axes"
        yield Relation(
            name,
            f"With a first array of {axes_of} all is right; with more or fewer axes your code {how}.",
            "For how many axes is your code written? Could its axis numbers count from the end?",
            missed,
            with_another=True,
            beside=f"That is all with a first array of {axes_of}; with more or fewer axes your code {how}.",
        )


def _up_to_a_size(name: str, compared: Sequence[ComparedCall], wrong: frozenset[int]) -> Iterator[Relation]:
    """Answers are right up to some size of one or more arguments, and wrong wherever it is larger."""
    given, axes = [dict(_sizes(one.call)) for one in compared], [_axes_of_input(one.call) for one in compared]
    # Some answer with as many axes has to be right, or else the cause is not the size.
    layouts = {axes[i] for i in range(len(compared)) if i not in wrong}
    ends: dict[frozenset[int], list[str]] = defaultdict(list)
    for what in dict.fromkeys(what for sizes in given for what in sizes):
        missed = frozenset(i for i in wrong if what in given[i] and axes[i] in layouts)
        right = {sizes[what] for i, sizes in enumerate(given) if what in sizes and i not in wrong}
        if len(right) > 1 and max(right) < min((given[i][what] for i in missed), default=0):
            ends[missed].append(f"{what} is at most {max(right)}")
    for missed, found in ends.items():
        *others, last = found[:MOST_SIZES]
        evidence = f"All is right where {last}; beyond it is not."
        if others:  # which of them it is, or whether it is their product, nobody knows
            at_most = f"{', '.join(others)} and {last}"
            evidence = f"In the calls that are right, {at_most}; in the wrong ones each of these is larger."
        hint = "Is a number of your code a size, and what becomes of all that is larger?"
        yield Relation(name, evidence, hint, missed)


def _sizes(call: Call) -> Iterator[tuple[str, int]]:
    """Each axis's length, each whole number among the arguments, and the number of method calls."""
    places = [*zip(ORDINALS, call.args, strict=False)]
    if call.instance is not None:
        places += [
            (f"{place} (of __init__)", value) for place, value in zip(ORDINALS, call.instance.args, strict=False)
        ]
    for place, value in places:
        if isinstance(value, int) and not isinstance(value, bool):
            yield f"the {place} argument", value
        for axis, length in enumerate(getattr(value, "shape", ())):
            yield f"axis {axis - len(value.shape)} of the {place} argument", int(length)
    if call.steps:
        yield "the number of calls", len(call.steps)


def _without_effect(name: str, compared: Sequence[ComparedCall], wrong: frozenset[int]) -> Iterator[Relation]:
    """Calls that differ in one argument only get the same answer, though their right answers differ."""
    given = [_arguments(one.call) for one in compared]
    for which in dict.fromkeys(which for one in given for which in one):
        groups: dict[Any, list[tuple[Any, Any]]] = defaultdict(list)
        for one, arguments in zip(compared, given, strict=True):
            if which in arguments and one.values is not None:
                others = frozenset(pair for pair in arguments.items() if pair[0] != which)
                groups[others, replace(one.call, args=(), kwargs={}, instance=None).as_bytes].append(one.values)
        pairs = [(group[0], other) for group in groups.values() for other in group[1:]]
        telling = [pair for pair in pairs if not same_value(pair[0][1], pair[1][1])]  # whose right values differ
        # Wrong types and shapes are no evidence: None, for instance, is the same for all arguments.
        has_form = all(type(a) is type(b) and _same_shapes(a, b) for pair in telling for a, b in pair)
        if telling and has_form and all(same_value(first, second) for (first, _), (second, _) in telling):
            yield Relation(
                name,
                f"Calls that differ in {which} alone get the same answer from your code, and should not.",
                "Where in your code does it go in, and what becomes of it there?",
                frozenset(i for i in wrong if which in given[i]),
            )


MOST_SIZES = 4  # that are named: a long text is often a wide one, too
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def _arguments(call: Call) -> dict[str, bytes]:
    """A call's arguments, options and module parameters as bytes, by a name that students read.

    Empty if a call passes functions, since two functions cannot be compared.
    """
    if passes_functions(call):
        return {}
    made = call.instance
    found = {f"the {place} argument": value for place, value in zip(ORDINALS, call.args, strict=False)}
    found |= call.kwargs
    if made is not None:
        found |= {f"the {place} argument of __init__": value for place, value in zip(ORDINALS, made.args, strict=False)}
        found |= {**made.kwargs, **made.parameters}
    return {name: frames.body({"value": encode(value)}) for name, value in found.items()}


OF_ALL_CALLS = {
    "one-batch-layout": _one_layout,
    "stops-at-a-size": _up_to_a_size,
    "argument-without-effect": _without_effect,
}
