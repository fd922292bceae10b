"""An exercise's result in words, for terminals, tables and whoever puts them on a page."""

from __future__ import annotations

from autograder.report import ExerciseResult

MARKS = {"passed": "✓ passed", "failed": "✗ not yet", "not known": "– not known"}


def points(value: float) -> str:
    """Points without needless zeros: 3, 2.5, 1.67."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def summary(result: ExerciseResult) -> str:
    """One line on the whole exercise."""
    if result.withdrawn:
        worth = f"everybody gets its {points(result.max_score)} points" if result.max_score else "it does not count"
        return f"{result.name}: withdrawn, so {worth}."
    if not result.started:
        state = "its cell does not run" if result.evidence else "not started yet"
        return f"{result.name}: {state}. 0 of {points(result.max_score)} points."
    passed = sum(test.state == "passed" for test in result.tests)
    earned = f"{points(result.score)} of {points(result.max_score)} points"
    return f"{result.name}: {earned}, {passed} of {len(result.tests)} tests passed."


def notes(result: ExerciseResult) -> list[str]:
    """What else the student should know about how this exercise was judged."""
    found = []
    if said := looks_like(result):
        found.append(said)
    if result.with_reference:
        names = ", ".join(result.with_reference)
        found.append(
            f"Your code calls {names}. Here it was judged with the right one in its place, so that what is wrong "
            "there costs nothing here."
        )
    return found


def looks_like(result: ExerciseResult) -> str:
    """What is wrong in words, by what it is known, and a question; empty where nothing can be told.

    A known mistake is told by its name. How answers stand to the right ones is told by the evidence, if there is one.
    """
    names = ", and ".join(name.replace("-", " ") for name in mistakes_in(result))
    said = f"Known mistake: {names}." if names else ""
    return " ".join(filter(None, (said, result.evidence, result.hint)))


def mistakes_in(result: ExerciseResult) -> list[str]:
    """The names of the known mistakes that a result was told by; none where relations tell what is wrong."""
    is_known = result.known_mistake or not result.evidence
    return [cause.name for cause in result.causes if cause.name and is_known]


def as_text(result: ExerciseResult) -> str:
    """All of it: a line for each test, its message below."""
    lines = [summary(result), *notes(result)]
    if result.started:
        for test in result.tests:
            lines.append(f"  {MARKS[test.state]:<12} {test.sentence} ({points(test.score)}/{points(test.max_score)})")
            if test.message:
                lines.append(f"               {test.message}")
    return "\n".join(lines)
