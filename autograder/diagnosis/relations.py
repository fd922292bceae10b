"""How wrong answers are related to the right ones: all of another dtype, all rounded, right for one layout only.

Relations serve where no known mistake explains the answers, and are the same for all exercises. A relation explains a
set of wrong answers; it is reported if it explains all of them. Its evidence is a sentence, its hint a question, and
neither shows a right number. `differences` and `forms` find what is wrong with one answer.

A course adds relations of its own subject in the `relations.py` of its folder, which students have, too:

    RELATIONS = (OfAnswer("unsorted", unsorted, "Which of two neighbours should come first?"),)
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from autograder.diagnosis import differences, forms
from autograder.diagnosis.differences import NOT_ALONE, UNLIKELY, ComparedCall
from autograder.testing.relation import OfAnswer
from autograder.testing.values.core.comparing import arrays, numbers
from cellcage.protocol.calls import Answer, Call, Failure, NoAnswer, Reply
from cellcage.protocol.kinds import Kind as FailureKind
from cellcage.protocol.kinds import Why

MOST_SIZES = 4  # in one sentence: a long text is often a wide one, too
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")

Finder = Callable[[Sequence[ComparedCall], frozenset[int]], Iterator["Relation"]]


@dataclass(frozen=True)
class Relation:
    """What a set of wrong answers (given by their places) has in common."""

    name: str
    evidence: str
    hint: str
    explains: frozenset[int]


def among(relation: OfAnswer, compared: Sequence[ComparedCall], wrong: frozenset[int]) -> Iterator[Relation]:
    """The relation with the wrong answers in which it shows; nothing if there are none."""
    found = {i: evidence for i in sorted(wrong) if (evidence := relation.find(compared[i]))}
    clear = [evidence for evidence in found.values() if evidence not in (NOT_ALONE, UNLIKELY)]
    if len(clear) > 3 * [*found.values()].count(UNLIKELY):
        yield Relation(relation.name, clear[0], relation.hint, frozenset(found))


# The strongest evidence first: the first relation that explains all wrong answers is reported.
OF_ANSWERS = (
    OfAnswer("another-kind", forms.kind,
             "What type do you return, and which one does the docstring promise?"),
    OfAnswer("another-dtype", forms.dtype,
             "Print the dtype after each line. After which line is it no longer the expected one?"),
    OfAnswer("another-shape", differences.reshaped,
             "Write down the shape after each step: where does it differ from the docstring's?"),
    OfAnswer("rounded", differences.rounded,
             "On which line are digits lost: is something rounded there, or is its dtype a small one?"),
    OfAnswer("another-length", differences.cut_short,
             "Which of your lines says how long this axis is, and what does the docstring say?"),
    OfAnswer("another-error", forms.another_error, "Which exception does the docstring name?"),
    OfAnswer("inputs-changed", forms.inputs_changed,
             "Print the arguments before and after the call. Which line writes into one?"),
    OfAnswer("gradient-missing", forms.gradients,
             "Which step gives a tensor that autograd does not track?"),
)  # fmt: skip


def relation_among(
    compared: Sequence[ComparedCall], wrong: frozenset[int], of_course: Sequence[OfAnswer] = ()
) -> Relation | None:
    """The first relation that explains all `wrong` answers; None if there is none.

    A call that ran out of memory or time has no wrong value, so it is left out.
    of_course: the course's own relations, see `autograder.course.content.course_relations`
    """
    kept = [i for i, one in enumerate(compared) if not _ran_out(one.got)]
    compared, wrong = [compared[i] for i in kept], frozenset(n for n, i in enumerate(kept) if i in wrong)
    if not wrong:
        return None
    finders: list[Finder] = [partial(among, one) for one in (*of_course, *OF_ANSWERS)]
    finders += [_one_layout, _up_to_a_size]
    found = (relation for find in finders for relation in find(compared, wrong))
    return next((relation for relation in found if relation.explains == wrong), None)


def of_shown(pairs: Sequence[tuple[Any, Any]], of_course: Sequence[OfAnswer] = ()) -> Relation | None:
    """A relation between answers to visible tests and what they expect, which is written with four digits."""
    # In float32 two numbers count as equal within a thousandth.
    compared = [ComparedCall(Call(""), *(Reply(_coarse(value)) for value in pair)) for pair in pairs]
    found = relation_among(compared, frozenset(range(len(compared))), of_course)
    # The expected numbers are rounded themselves, so a wrong number close to one looks as if digits were lost.
    return found if found and found.name != "rounded" else None


def arrays_given(call: Call) -> list[np.ndarray]:
    """The arrays among a call's arguments."""
    return arrays([*call.args, *call.kwargs.values()])


def _ran_out(answer: Answer) -> bool:
    if isinstance(answer, NoAnswer):
        return answer.why is not Why.UNREADABLE
    return isinstance(answer, Failure) and answer.kind is FailureKind.MEMORY


def _coarse(value: Any) -> Any:
    array = numbers(value)
    return array.astype(np.float32) if array.dtype.kind == "f" else array


def _axes_of_input(call: Call) -> int:
    """How many axes the first array has; of keyword arguments, the array with most, without those of truth values."""
    given = arrays_given(call)[:1] if call.args else [a for a in arrays_given(call) if a.dtype.kind != "b"]
    return max((a.ndim for a in given), default=0)


def _one_layout(compared: Sequence[ComparedCall], wrong: frozenset[int]) -> Iterator[Relation]:
    """Answers are right for one number of axes only."""
    axes = [_axes_of_input(one.call) for one in compared]
    good = {axes[i] for i, one in enumerate(compared) if i not in wrong and isinstance(one.wanted, Reply)}
    missed = frozenset(i for i in wrong if axes[i] not in good)
    if len(good) == 1 and 0 not in good and missed:
        (only,) = good
        how = "raises" if all(isinstance(compared[i].got, Failure) for i in missed) else "is wrong"
        axes_of = "1 axis" if only == 1 else f"{only} axes"
        yield Relation(
            "one-batch-layout",
            f"With a first array of {axes_of} everything is right; with more or fewer axes your code {how}.",
            "For how many axes is your code written? Could its axis numbers count from the end?",
            missed,
        )


def _up_to_a_size(compared: Sequence[ComparedCall], wrong: frozenset[int]) -> Iterator[Relation]:
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
        evidence = f"Everything is right where {last}, and nothing beyond that."
        if others:  # it may be any of them, or their product
            at_most = f"{', '.join(others)} and {last}"
            evidence = f"In the calls that are right, {at_most}; in the wrong ones each of these is larger."
        # Many causes have such a limit: a table, a dtype, memory, a block. It only says what was observed.
        hint = "Try one of the larger calls by itself. Which line is the first to give something unexpected?"
        yield Relation("right-up-to-a-size", evidence, hint, missed)


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
