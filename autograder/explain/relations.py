"""How wrong answers are related to the right ones: all of another dtype or shape, right for one layout only.

Relations serve where no known mistake explains the answers, and are the same for all exercises. A relation explains a
set of wrong answers; it is reported if it explains all of them. Its evidence is a sentence, its hint a question, and
neither shows a right number. `differences` and `forms` find what is wrong with one answer.

A course adds relations of its own subject in the `relations.py` of its folder, which students have, too:

    RELATIONS = (OfAnswer("unsorted", unsorted, "Which of two neighbours should come first?"),)
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from autograder.explain import differences
from autograder.explain.differences import NOT_ALONE, ComparedCall
from autograder.report import Finding
from autograder.testing.catalogue import OfAnswer
from autograder.testing.student_errors import reworded
from cellcage.protocol.calls import Answer, Call, Failure, NoAnswer, Reply, Why
from cellcage.protocol.calls import Kind as FailureKind
from cellcage.values.value import arrays, numbers

# A relation, and the wrong answers (by their places) in which it shows.
Explained = tuple[Finding, frozenset[int]]
Finder = Callable[[Sequence[ComparedCall], frozenset[int]], Iterator[Explained]]


def among(relation: OfAnswer, compared: Sequence[ComparedCall], wrong: frozenset[int]) -> Iterator[Explained]:
    """The relation with the wrong answers in which it shows; nothing if there are none."""
    found = {i: evidence for i in sorted(wrong) if (evidence := relation.find(compared[i]))}
    clear = [evidence for evidence in found.values() if evidence != NOT_ALONE]
    if clear:
        yield Finding("relation", relation.name, clear[0], relation.hint), frozenset(found)


NAN = "not-a-number"
ONE_LAYOUT = "For how many axes is your code written? Could its axis numbers count from the end?"
DO_NOT_BROADCAST = (
    "Print the shapes of the two that do not broadcast. Counted from the end, which axis meets which? "
    "Is an axis lost, or does one stand elsewhere than you thought?"
)

# The strongest evidence first: the first relation that explains all wrong answers is reported.
OF_ANSWERS = (
    OfAnswer("another-kind", differences.kind,
             "What type do you return, and which one does the docstring promise?"),
    OfAnswer("another-dtype", differences.dtype,
             "Print the dtype after each line. After which line is it no longer the expected one?"),
    OfAnswer("another-shape", differences.reshaped,
             "Write down the shape after each step: where does it differ from the docstring's?"),
    OfAnswer(NAN, differences.nan,
             "Print each step: where is the first NaN? What are 0 times infinity, infinity minus infinity, and 0 / 0?"),
    OfAnswer("inputs-changed", differences.inputs_changed,
             "Print the arguments before and after the call. Which line writes into one?"),
    OfAnswer("gradient-missing", differences.gradients,
             "For which numbers does no gradient come back? Which step, or which option of a layer, lets go of it?"),
)  # fmt: skip


def relation_among(
    compared: Sequence[ComparedCall], wrong: frozenset[int], of_course: Sequence[OfAnswer] = ()
) -> Finding | None:
    """The first relation that explains all `wrong` answers; None if there is none.

    A call that ran out of memory or time has no wrong value, so it is left out.
    of_course: the course's own relations, see `autograder.course.content.course_relations`
    """
    kept = [i for i, one in enumerate(compared) if not _ran_out(one.got)]
    compared, wrong = [compared[i] for i in kept], frozenset(n for n, i in enumerate(kept) if i in wrong)
    if not wrong:
        return None
    finders: list[Finder] = [partial(among, one) for one in (*of_course, *OF_ANSWERS)]
    found = (relation for find in (*finders, _one_layout) for relation in find(compared, wrong))
    return next((relation for relation, explains in found if explains == wrong), None)


def of_shown(pairs: Sequence[tuple[Any, Any]], of_course: Sequence[OfAnswer] = ()) -> Finding | None:
    """A relation between answers to visible tests and what they expect, which is written with four digits."""
    # In float32 two numbers count as equal within a thousandth.
    compared = [ComparedCall(Call(""), *(Reply(_coarse(value)) for value in pair)) for pair in pairs]
    return relation_among(compared, frozenset(range(len(compared))), of_course)


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


def _one_layout(compared: Sequence[ComparedCall], wrong: frozenset[int]) -> Iterator[Explained]:
    """Answers are right for one number of axes only."""
    axes = [_axes_of_input(one.call) for one in compared]
    good = {axes[i] for i, one in enumerate(compared) if i not in wrong and isinstance(one.wanted, Reply)}
    missed = frozenset(i for i in wrong if axes[i] not in good)
    if len(good) == 1 and 0 not in good and missed:
        (only,) = good
        answers = [compared[i].got for i in missed]
        how = "raises" if all(isinstance(answer, Failure) for answer in answers) else "is wrong"
        axes_of = "1 axis" if only == 1 else f"{only} axes"
        about_shapes, about_axes = ("shapes-do-not-broadcast", DO_NOT_BROADCAST), ("one-batch-layout", ONE_LAYOUT)
        name, hint = about_shapes if any(map(_does_not_broadcast, answers)) else about_axes
        evidence = f"With a first array of {axes_of} everything is right; with more or fewer axes your code {how}."
        yield Finding("relation", name, evidence, hint), missed


def _does_not_broadcast(answer: Answer) -> bool:
    return isinstance(answer, Failure) and "do not broadcast" in reworded(answer.text)
