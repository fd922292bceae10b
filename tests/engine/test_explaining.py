"""If the diagnosis fails after marking, the marks stand and the report says what is missing."""

from __future__ import annotations

import shutil
import time

import pytest

from autograder.course.assignments import Exercise
from autograder.course.loading import TimeIsUp, in_time
from autograder.explain import explaining
from autograder.explain.explaining import Step, explain
from autograder.explain.material import Material
from autograder.judge.judging import Judged, bare
from autograder.judge.rules.rule import Attempt, Seen, TestRun
from autograder.nbgrader.pages import Page
from autograder.report import Finding
from autograder.testing.functions import Here
from autograder.testing.suite import Outcome, Suite, Test
from tests.helpers.small_course import EXERCISE, NAME, NOTEBOOK, command, graded, reports_of, small_course, submit

# A relation that fails in the way that the student's answer selects.
RELATIONS = """
import os
from autograder.testing import OfAnswer

def misbehaves(one):
    what = int(one.values[0].flat[0])
    if what == 1:
        raise TypeError("numpy boolean subtract")
    if what == 2:
        while True:
            pass
    if what == 3:
        os._exit(3)
    if what == 4:
        return misbehaves(one)
    if what == 5:
        raise MemoryError
    return ""

RELATIONS = (OfAnswer("misbehaving", misbehaves, "Does it?"),)
"""
CAUSES = {
    "raises": "TypeError: numpy boolean subtract, relations.py, line 8",
    "loops": "it took too long",
    "exits": "ended before it was done",
    "recurses": "RecursionError",
    "has no room": "MemoryError",
}


def answer(what: int) -> dict[str, str]:
    return {EXERCISE: f"def {EXERCISE}(X):\n    return X * 0 + {what}"}


@pytest.fixture(scope="module")
def course(tmp_path_factory, kept_workers):
    course = small_course(tmp_path_factory.mktemp("explaining") / "course", students=["ada"])
    (course.folder / "relations.py").write_text(RELATIONS)
    for number, student in enumerate(CAUSES, start=1):
        submit(course, student.replace(" ", "-"), answer(number))
    submit(course, "wrong", answer(6))
    return course


@pytest.mark.slow
def test_failing_diagnosis_does_not_change_marks(course):
    reports = reports_of(course)
    assert {one["status"] for one in reports.values()} == {"graded"}
    wrong = reports.pop("wrong")
    assert reports.pop("ada")["score"] == wrong["max_score"]
    assert {one["score"] for one in reports.values()} == {wrong["score"]}
    assert "not_produced" not in wrong["exercises"][0]
    for student, why in CAUSES.items():
        (exercise,) = reports[student.replace(" ", "-")]["exercises"]
        assert why in exercise["not_produced"][0], student
        points = [test["score"] for test in exercise["tests"]]
        assert points == [test["score"] for test in wrong["exercises"][0]["tests"]]
    assert "This does not change the mark" in command(course, "grade", "submitted/raises")[1]


@pytest.mark.slow
def test_failure_is_on_the_feedback_page_and_in_the_log(course, caplog):
    for path in (course.root / "submitted").iterdir():
        if path.name != "raises":
            shutil.rmtree(path)
    outcomes, _ = graded(course, feedback=True)
    assert all(outcome.reason is None for outcome in outcomes)
    page = (course.root / "feedback" / "raises" / "a1_first" / "first.html").read_text()
    assert "The grader could not produce the diagnosis (TypeError" in page
    assert "raises, a1_first, row_centred: the grader could not produce the diagnosis (TypeError" in caplog.text


def test_limit_of_a_step_ends_a_longer_one_within_it():
    def loops():
        while True:
            pass

    with pytest.raises(TimeIsUp), explaining.in_time(0.1):
        in_time(30, loops, lambda: "late")
    assert in_time(0.1, loops, lambda: "late") == "late"


@pytest.mark.slow
def test_graders_see_the_repair_and_students_only_its_place(tmp_path, kept_workers):
    course = small_course(tmp_path / "course")
    lines = "mean = X.mean(axis=-1, keepdims=True)", "mean = mean + 1", "return X - mean"
    submit(course, "sam", {EXERCISE: f"def {EXERCISE}(X):\n    " + "\n    ".join(lines)})
    graded(course, feedback=True)
    path = course.root / "autograded" / "sam" / NAME / NOTEBOOK
    for_graders = Page(root=str(course.root)).from_filename(str(path), {"assignment_id": NAME})[0]
    assert "For graders: all tests pass with line 3 as `# left out`" in for_graders
    feedback = (course.root / "feedback" / "sam" / NAME / "first.html").read_text()
    assert "Look at line 3" in feedback
    assert "For graders" not in feedback


def test_steps_end_at_the_time_limits_of_exercise_and_submission(monkeypatch):
    monkeypatch.setattr(explaining, "EXERCISE_SECONDS", 0.1)
    exercises = [Exercise(name, 1.0) for name in ("one", "two", "three", "four")]
    failed = Attempt([TestRun(Outcome(Test("one", "fails", "", 1.0), ValueError()), (), Seen())], {})
    judged, started = [Judged(exercise, failed) for exercise in exercises], time.process_time()

    def loops(subject):
        while True:
            pass

    def adds(subject):
        return subject.result.adding(Finding("cells", evidence="words"))

    steps = [Step("words", adds), Step("the diagnosis", loops), Step("messages", adds)]
    results = explain(Material(Suite(())), Here({}), judged, bare(judged), steps, seconds=0.15)
    assert time.process_time() - started < 0.5
    late = "the diagnosis (it took too long)", "messages (it took too long)"  # the submission has no time left
    assert all([one.name for one in result.of("not produced")] == [*late] for result in results)
    assert all(len(result.of("cells")) == 1 for result in results)
