"""Written questions: what graders see and click, and what students see before and after grading."""

from __future__ import annotations

import json
import shutil
import time

import nbformat
import pytest

from autograder.authoring.notebook_checks import names_in_files
from autograder.course.assignments import Course
from autograder.nbgrader.pages import Page
from autograder.reports.written import MAX_PICTURE, MAX_TEXT, WrittenAnswer, grouped
from tests.helpers.small_course import (
    NAME,
    NOTEBOOK,
    WRITTEN,
    add_question,
    book_of,
    grade_by_hand,
    graded,
    said_by,
    small_course,
    submit,
)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """One student with a right exercise and an ungraded written answer."""
    course = small_course(tmp_path_factory.mktemp("written") / "course", written=True)
    submit_answer(course, "ann", "Because of <b>means</b>.")
    graded(course, feedback=True)
    return course


def feedback(course):
    return " ".join((course.root / "feedback" / "ann" / NAME / "first.html").read_text().split())


@pytest.mark.slow
def test_ungraded_answer_shows_no_zero_and_a_preliminary_score(course):
    page = feedback(course)
    assert "In your own words</a> (not graded yet, of 4.0)" in page
    assert "Not graded yet, of 4.0" in page
    assert "(Score so far: 3.0 / 7.0)" in page
    assert "Score: 0.0 / 4.0" not in page
    grade_by_hand(course, "ann", WRITTEN, 0.0)
    graded(course, feedback=True)
    page = feedback(course)
    assert "(Score: 3.0 / 7.0)" in page
    assert "In your own words</a> (Score: 0.0 / 4.0)" in page
    assert "not graded yet" not in page.lower()


@pytest.mark.slow
def test_graders_see_rubric_and_model_answer_and_students_do_not(course):
    assert f"{WRITTEN} is a written question" in said_by(course, "withdraw", WRITTEN, code=2)
    path = course.root / "autograded" / "ann" / NAME / NOTEBOOK
    page = Page(root=str(course.root)).from_filename(str(path), {"assignment_id": NAME})[0]
    assert "For graders, a model answer." in page
    assert "Since each row has a mean of its own" in page
    assert "says why it is the row" in page
    assert "<b>means</b>" not in page
    assert "For graders" not in feedback(course)
    assert "Since each row" not in feedback(course)
    released = (course.root / "assignments" / NAME / NOTEBOOK).read_text()
    assert "names the mean" not in released
    assert "Since each row" not in released


# ---------------------------------------------------------------- similar answers

LONG = "Each row has a mean of its own, and what is left of a row sums to zero once that mean is taken away from it."


def groups_of(texts):
    """How answers of students 0, 1, 2, ... are grouped: for each group, the students of each wording."""
    answers = [WrittenAnswer(str(number), text) for number, text in enumerate(texts)]
    return [[[a.student for a in wording.answers] for wording in group.wordings] for group in grouped(answers)]


def test_similar_answers_are_grouped():
    texts = ["No idea.", LONG, LONG.upper() + "\n", LONG.replace("zero", "nothing"), "It is the row's own mean.", ""]
    assert groups_of(texts) == [[["1", "2"], ["3"]], [["0"]], [["4"]], [["5"]]]
    assert len(groups_of(["It is the mean.", "it is: the mean"])) == 1
    assert len(groups_of(["It is the mean.", "It is not the mean."])) == 2


@pytest.mark.slow
def test_very_long_answers_are_grouped_quickly():
    texts = [" ".join(f"{seed}w{n}" for n in range(2000)) + "!" * 2 * MAX_TEXT for seed in range(100)]
    started = time.process_time()
    assert len(groups_of([*texts, texts[0], texts[0] + "and more"])) == 101
    assert time.process_time() - started < 2


# ---------------------------------------------------------------- the page and its decisions

HOSTILE = "<img src=x onerror=\"document.title='taken'\"> </script><script>document.title='taken'</script> \u202eabc"
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PICTURES = {
    "small": {"image/png": DOT},
    "large": {"image/jpeg": DOT + "A" * MAX_PICTURE},
    "active": {"image/svg+xml": "PHN2Zy8+"},
    "hostile": {"image/gif": "\" onerror=\"document.title='taken'"},
}
ANSWERS = {
    "ann": LONG,
    "bob": LONG.lower(),
    "cy": LONG.replace("zero", "nothing"),
    "dee": LONG.replace("a row", "every row"),
    "eve": HOSTILE,
    "fay": None,  # untouched
}


def submit_answer(course, student, text):
    path = submit(course, student)
    if text is not None:
        notebook = nbformat.read(path, as_version=4)
        notebook.cells[-1].source = text
        if text == HOSTILE:
            notebook.cells[-1].attachments = {f"{kind}.png": data for kind, data in PICTURES.items()}
        nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def class_of_six(tmp_path_factory):
    course = small_course(tmp_path_factory.mktemp("six") / "course", written=True)
    for student, text in ANSWERS.items():
        submit_answer(course, student, text)
    graded(course)
    return course


@pytest.fixture
def six(class_of_six, tmp_path):
    return Course(shutil.copytree(class_of_six.root, tmp_path / "course"))


def scores(course):
    """Everybody's points for the question, None if it is not graded."""
    with book_of(course) as book:
        return {
            s.student_id: book.find_grade("written-why", "first", NAME, s.student_id).manual_score
            for s in book.assignment_submissions(NAME)
        }


def decisions_file(course, **changes):
    """The path of the page's file with a decision for ann, with changes."""
    digest = WrittenAnswer("ann", LONG).digest
    entry = {"question": "written-why", "student": "ann", "answer": digest, "before": None, "score": 3, "comment": "!"}
    path = course.root / "decisions.json"
    path.write_text(json.dumps({"assignment": NAME, "decisions": [entry | changes]}))
    return path


@pytest.mark.slow
def test_one_click_grades_a_group_and_answers_can_be_separated(six, chromium):
    said_by(six, "written", NAME, "--page", "written.html")
    page = chromium.new_page(viewport={"width": 1100, "height": 900}, accept_downloads=True)
    page.goto((six.root / "written.html").as_uri())
    text = page.locator("main").inner_text()
    assert "5 answers in 2 groups; 1 left it as it was" in text
    assert "Since each row has a mean of its own" in text
    assert not any(name in text.split() for name in ANSWERS)
    assert "<img src=x" in text
    assert page.locator("article script").count() == 0
    assert "A large picture was pasted into it. Look at it in formgrader." in text
    shown = page.locator("article img[alt='A picture in this answer']")
    assert [one.evaluate("picture => picture.naturalWidth") for one in shown.all()] == [0, 1]

    group = page.locator("article", has_text="Each row").first
    group.locator(".wording", has_text="every row").locator(".apart").click()
    group.locator(".line", has_text="says why").click()
    group.locator(".comment").fill("Well said.")
    single = page.locator("article", has_text="every row").last
    single.locator(".line").first.click()
    single.locator(".line").last.click()
    page.locator("article", has_text="img src").locator(".none").click()
    assert "5 of 5 answers decided" in page.locator(".progress").inner_text()
    with page.expect_download() as download:
        page.locator(".save").click()
    download.value.save_as(six.root / "decisions.json")
    assert page.title() == f"Written answers: {NAME}", "a script in an answer ran"
    page.close()

    assert said_by(six, "written", NAME, "--apply", "decisions.json").strip() == "entered 5 decisions"
    assert scores(six) == {"ann": 3, "bob": 3, "cy": 3, "dee": 4, "eve": 0, "fay": None}
    with book_of(six) as book:
        comment = book.find_comment("written-why", "first", NAME, "ann").manual_comment
    assert comment == "- ✓ says why it is the row's own\n\nWell said."
    graded(six, feedback=True)
    shown = (six.root / "feedback" / "ann" / NAME / "first.html").read_text()
    assert "✓ says why it is the row" in shown
    assert "names the mean of a row" not in shown, "students see only the lines that were clicked"


@pytest.mark.slow
def test_decision_about_a_changed_answer_is_not_applied(six):
    grade_by_hand(six, "ann", WRITTEN, 1.0, waits=True)

    def applied(code=1, **changes):
        return said_by(six, "written", NAME, "--apply", decisions_file(six, **changes), code=code)

    assert "ann, written-why: somebody has graded it since" in applied()
    applied(0, before=1)
    assert scores(six)["ann"] == 3
    assert "the answer has changed" in applied(before=3, score=2, answer="other")
    assert "../ann, written-why: the gradebook has no such answer" in applied(student="../ann")
    assert scores(six)["ann"] == 3


@pytest.mark.slow
def test_invalid_decision_is_reported_and_nothing_is_entered(class_of_six):
    for changes, reason in (
        ({"score": 5}, "ann: 5 points; written-why has 0 to 4"),
        ({"score": -1}, "ann: -1 points"),
        ({"score": True}, "Expected `float`, got `bool` - at `$.decisions[0].score`"),
        ({"question": "written-what"}, "no written question 'written-what'"),
    ):
        path = decisions_file(class_of_six, **changes)
        assert reason in " ".join(said_by(class_of_six, "written", NAME, "--apply", path, code=2).split())
    path.write_text("{")
    assert "holds no decisions" in " ".join(said_by(class_of_six, "written", NAME, "--apply", path, code=2).split())
    path.write_text('{"assignment": "a9", "decisions": []}')
    assert "is of a9, not of a1_first" in said_by(class_of_six, "written", NAME, "--apply", path, code=2)
    assert set(scores(class_of_six).values()) == {None}


def test_dev_check_finds_wrong_rubrics(original, tmp_path):
    course = Course(shutil.copytree(original.root, tmp_path / "course"))
    add_question(course, 'written-why = [[1, "one"]]\nwritten-wy = [[4, "all"]]')
    found = {finding.cell: finding.what for finding in names_in_files(course.assignment(NAME))}
    assert found == {
        "written-why": "its lines add up to 1 points, its cell says 4",
        "written-wy": "the notebook has no such written question",
    }


# ---------------------------------------------------------------- answers without their cell's id


@pytest.mark.slow
def test_answer_without_cell_id_needs_manual_grading(tmp_path):
    """Saved by an editor without nbgrader. One that was turned into a code cell with one key keeps its place."""
    course = small_course(tmp_path / "course", written=True)
    for student, text in (("ann", "Rows differ."), ("cy", None), ("dee", "Outliers of one column move it.")):
        submit_answer(course, student, text)
        path = course.root / "submitted" / student / NAME / NOTEBOOK
        notebook = nbformat.read(path, as_version=4)
        if student == "dee":
            last = notebook.cells[-1]
            notebook.cells[-1] = nbformat.v4.new_code_cell(last.source, metadata=last.metadata)
        else:
            for cell in notebook.cells:
                cell.metadata.clear()
        nbformat.write(notebook, path)
    output = said_by(course, "grade", "--gradebook", "--quiet")
    warned = [name for name in ("ann", "cy", "dee") if f"warning: {name}, {NAME}: " in output]
    assert warned == ["ann"], output
    with book_of(course) as book:
        grades = {name: book.find_grade("written-why", "first", NAME, name) for name in ("ann", "cy", "dee")}
        found = {name: (grade.auto_score, grade.needs_manual_grade) for name, grade in grades.items()}
        assert found == {"ann": (None, True), "cy": (0, False), "dee": (None, True)}
    said_by(course, "written", NAME, "--page", "written.html")
    page = (course.root / "written.html").read_text()
    assert "Rows differ." in page
    assert "Outliers of one column move it." in page
