"""How wrong answers stand to the right ones: all turned, all ten times as large, right but for one layout.

For what no known mistake explains, and for what cuts across all exercises. A relation explains a set of wrong answers;
it is told if it (or two together) explains all of them. Its evidence is one sentence, its hint a question, and neither
shows a right number beyond a factor. What there is in one answer is found by `differences`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from autograder.diagnosis.differences import NOT_ALONE, OF_ONE, TURNED, ComparedCall, order_of
from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.calls import Call, Failure, Reply
from autograder.sandbox.protocol.values import encode
from autograder.suites.alike import arrays, numbers, same_value

# Of two, each has to be plain: what holds for some calls only is easily found by chance.
TOGETHER = (
    "another-kind", "another-dtype", "axes-in-another-order", "another-order", "a-constant-factor", "another-error",
    "error-missing", "inputs-changed", "one-batch-layout", "memory-layout", "nothing-to-see",
)  # fmt: skip
LARGE = 1e3  # scores of ordinary size are below 10


@dataclass(frozen=True)
class Relation:
    """What a set of wrong answers (by their place) has in common.

    beside: the evidence in words that hold beside another cause
    """

    name: str
    evidence: str
    hint: str
    explains: frozenset[int]
    beside: str = ""


def relations(asked: Sequence[ComparedCall], wrong: frozenset[int]) -> Iterator[Relation]:
    """Every relation that explains some of the answers that are `wrong`, the most telling first."""
    for name, (find, hint) in OF_ONE.items():
        told = {i: said for i in sorted(wrong) if (said := find(asked[i]))}
        evidence = next((said for said in told.values() if said != NOT_ALONE), "")
        if evidence and (name != TURNED or len({order_of(asked[i]) for i in told}) == 1):
            yield Relation(name, evidence, hint, frozenset(told))
    right = frozenset(range(len(asked))) - wrong
    for name, (feature, evidence, hint) in OF_CALLS.items():
        has = {i for i in range(len(asked)) if feature(asked[i].call)}
        if wrong & has and right - has and 2 * len(wrong & has) >= len(has):
            yield Relation(name, evidence, hint, wrong & has)
    yield from _one_layout(asked, wrong, right)
    yield from _without_effect(asked, wrong)


def explained_by_relations(asked: Sequence[ComparedCall], wrong: frozenset[int]) -> tuple[Relation, ...]:
    """One relation that explains all that is wrong, or else two that do; none if there are none."""
    found = list(relations(asked, wrong))
    together = combinations([one for one in found if one.name in TOGETHER], 2)
    groups: list[tuple[Relation, ...]] = [*((one,) for one in found), *together]
    return next((group for group in groups if frozenset().union(*(one.explains for one in group)) == wrong), ())


def of_shown(pairs: Sequence[tuple[Any, Any]]) -> Relation | None:
    """One relation between what came out of visible checks and what they want, whose literals have four digits."""
    if not pairs:
        return None
    # As float32 two numbers are equal within a thousandth.
    asked = [ComparedCall(Call(""), *(Reply(_coarse(value)) for value in pair)) for pair in pairs]
    found = explained_by_relations(asked, frozenset(range(len(asked))))
    return found[0] if len(found) == 1 else None


def _coarse(value: Any) -> Any:
    array = numbers(value)
    return array.astype(np.float32) if array.dtype.kind == "f" else array


# ---------------------------------------------------------------- of the calls


def _given(call: Call) -> list[np.ndarray]:
    return arrays([*call.args, *call.kwargs.values()])


def _is_large(call: Call) -> bool:
    return any(a.dtype.kind == "f" and np.abs(a).max(initial=0) > LARGE for a in _given(call))


def _has_length_one(call: Call) -> bool:
    """But for masks: an axis of theirs is 1 long to broadcast."""
    return any(1 in a.shape for a in _given(call) if a.dtype.kind != "b")


def _lies_otherwise(call: Call) -> bool:
    return any(not a.flags.c_contiguous for a in _given(call))


def _has_none(call: Call) -> bool:
    return any(value is None for value in [*call.args, *call.kwargs.values()])


OF_CALLS: dict[str, tuple[Callable[[Call], bool], str, str]] = {
    "large-scores": (
        _is_large, "All is right but for numbers as large as thousands.",
        "What is np.exp(1000.0)? Print the largest number that goes into exp, and the smallest.",
    ),
    "lengths-of-one": (
        _has_length_one, "All is right but where an axis has length 1.", "What happens to an axis of length one?"
    ),
    "memory-layout": (
        _lies_otherwise, "All is right but for arrays that do not lie in order in memory.",
        "Does a step of yours read memory as it lies, as .view does?",
    ),
    "without-an-argument": (
        _has_none, "All is right but where an argument is None.", "What does your code do where it is not given?"
    ),
}  # fmt: skip


def lays_out_otherwise(one: ComparedCall) -> bool:
    """Does it raise, or is the shape another? A mistake in values may well take axes in its own way."""
    shapes = [[a.shape for a in arrays(answer.value)] for answer in (one.got, one.wanted) if isinstance(answer, Reply)]
    return len(shapes) < 2 or shapes[0] != shapes[1]


def _axes_of_input(call: Call) -> int:
    """Of the first array; if all come by name, in no order, of the one that has most and is no mask."""
    given = _given(call)[:1] if call.args else [a for a in _given(call) if a.dtype.kind != "b"]
    return max((a.ndim for a in given), default=0)


def _one_layout(asked: Sequence[ComparedCall], wrong: frozenset[int], right: frozenset[int]) -> Iterator[Relation]:
    """Right for one number of axes only."""
    axes = [_axes_of_input(one.call) for one in asked]
    good = {axes[i] for i in right if isinstance(asked[i].wanted, Reply)}
    missed = frozenset(i for i in wrong if axes[i] not in good)
    if len(good) == 1 and 0 not in good and missed:
        (only,) = good
        how = "raises" if all(isinstance(asked[i].got, Failure) for i in missed) else "is wrong"
        axes_of = "1 axis" if only == 1 else f"{only} axes"
        yield Relation(
            "one-batch-layout",
            f"With {axes_of} all is right; with more or fewer your code {how}.",
            "For how many axes is your code written? Could its axis numbers count from the end?",
            missed,
            f"That is all with {axes_of}; with more or fewer your code {how}.",
        )


def _without_effect(asked: Sequence[ComparedCall], wrong: frozenset[int]) -> Iterator[Relation]:
    """The same answer to all calls that differ in one argument alone, though the right ones differ."""
    given = [_arguments(one.call) for one in asked]
    for name in dict.fromkeys(name for one in given for name in one):
        groups: dict[Any, list[ComparedCall]] = defaultdict(list)
        for one, arguments in zip(asked, given, strict=True):
            if name in arguments and isinstance(one.got, Reply) and isinstance(one.wanted, Reply):
                others = frozenset(pair for pair in arguments.items() if pair[0] != name)
                groups[others, replace(one.call, args=(), kwargs={}, instance=None).as_bytes].append(one)
        pairs = [(group[0], other) for group in groups.values() for other in group[1:]]
        telling = [pair for pair in pairs if not same_value(*(one.wanted.value for one in pair))]  # type: ignore[union-attr]
        if telling and all(same_value(*(one.got.value for one in pair)) for pair in telling):  # type: ignore[union-attr]
            yield Relation(
                "argument-without-effect",
                f"Calls that differ in {name} alone get the same answer from your code, and should not.",
                "Where in your code does it go in, and what becomes of it there?",
                frozenset(i for i in wrong if name in given[i]),
            )


ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def _arguments(call: Call) -> dict[str, bytes]:
    """What a call gives, by a name in words: arguments, options, and the weights that a module gets.

    Nothing of a call that passes functions, for nobody can tell whether two of them are the same.
    """
    if any(map(callable, call.given())):
        return {}
    made = call.instance
    places = [*zip(ORDINALS, call.args, strict=False)]
    found = {f"the {place} argument": value for place, value in places} | dict(call.kwargs)
    if made is not None:
        found |= {f"the {place} argument of __init__": value for place, value in zip(ORDINALS, made.args, strict=False)}
        found |= {**made.kwargs, **made.parameters}
    return {name: frames.body({"value": encode(value)}) for name, value in found.items()}
