"""An exercise's result as plain text."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.report import ExerciseResult

MARKS = {"passed": "✓ passed", "failed": "✗ not yet", "not known": "– not known"}


def points(value: float) -> str:
    """Points without trailing zeros: 3, 2.5, 1.67."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def by_reason(failed: Iterable[tuple[str, str | None]]) -> list[tuple[str, str]]:
    """Each reason once: the names of all who share it, joined, and the reason. failed: name and reason"""
    found: dict[str, list[str]] = {}
    for name, reason in failed:
        found.setdefault(reason or "", []).append(name)
    return [(", ".join(names), reason) for reason, names in found.items()]


def summary(result: ExerciseResult) -> str:
    """One line on the whole exercise."""
    if result.withdrawn:
        effect = f"everybody gets its {points(result.max_score)} points" if result.max_score else "it does not count"
        return f"{result.name}: withdrawn, so {effect}."
    if not result.started:
        state = "its cell does not run" if result.evidence else "not started yet"
        return f"{result.name}: {state}. 0 of {points(result.max_score)} points."
    passed = sum(test.state == "passed" for test in result.tests)
    earned = f"{points(result.score)} of {points(result.max_score)} points"
    return f"{result.name}: {earned}, {passed} of {len(result.tests)} tests passed."


def notes(result: ExerciseResult) -> list[str]:
    """Sentences on the errors, and on how this exercise was judged."""
    found = list(filter(None, [looks_like(result)]))
    if result.with_reference:
        names = ", ".join(result.with_reference)
        found.append(
            f"Your code calls {names}. Here it was judged with the right one in its place, so a mistake there "
            "costs nothing here."
        )
    if mentioned := ", ".join(one.name for one in result.of("mention")):
        found.append(
            f"The cell mentions the ready-made {mentioned}, but no call of it was noticed. "
            "A person should look at it. This does not change the mark."
        )
    if missing := ", ".join(one.name for one in result.of("not produced")):
        found.append(f"The grader could not produce {missing}. This does not change the mark.")
    return found


def looks_like(result: ExerciseResult) -> str:
    """The diagnosis in words: a known mistake by name, the evidence, and a hint; empty without a diagnosis."""
    known = [f"Known mistake: {one.name.replace('-', ' ')}." for one in result.of("known mistake")]
    return " ".join(filter(None, (*known, result.evidence, result.hint)))


def as_text(result: ExerciseResult) -> str:
    """The whole result: summary, notes, and a line for each test with its message below."""
    lines = [summary(result), *notes(result)]
    if result.started:
        for test in result.tests:
            lines.append(f"  {MARKS[test.state]:<12} {test.sentence} ({points(test.score)}/{points(test.max_score)})")
            if test.message:
                lines.append(f"               {test.message}")
    lines += [f"  {place.where}" for place in result.of("place")]
    return "\n".join(lines)
