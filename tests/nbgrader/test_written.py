"""Written questions: what the grader sees and clicks, and what a student sees before anybody has graded them."""

from __future__ import annotations

import json
import shutil
import time

import nbformat
import pytest

from autograder.authoring.notebook_checks import rubrics
from autograder.course.assignments import Course
from autograder.errors import CourseError
from autograder.nbgrader.feedback_page import with_waiting
from autograder.nbgrader.pages import Page
from autograder.reports.written import MAX_TEXT, Answer, grouped
from tests.helpers.in_process import COURSE
from tests.helpers.small_course import (
    NAME,
    NOTEBOOK,
    RUBRIC,
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
    """One student, whose exercise is right and whose written answer nobody has read yet."""
    course = small_course(tmp_path_factory.mktemp("written") / "course", written=True)
    answered(course, "ann", "Because of <b>means</b>.")
    graded(course, feedback=True)
    return course


def feedback(course):
    return " ".join((course.root / "feedback" / "ann" / NAME / "first.html").read_text().split())


@pytest.mark.slow
def test_what_nobody_has_graded_has_no_zero_and_the_sum_is_not_the_last_word(course):
    page = feedback(course)
    assert "In your own words</a> (not graded yet, of 4.0)" in page
    assert "Not graded yet, of 4.0" in page
    assert "(Score so far: 3.0 / 7.0)" in page
    assert "Score: 0.0 / 4.0" not in page
    assert page.index("(not graded yet, of 4.0)") < page.index("(Score: 3.0 / 3.0)")
    grade_by_hand(course, "ann", WRITTEN, 0.0)
    graded(course, feedback=True)
    page = feedback(course)
    assert "(Score: 3.0 / 7.0)" in page
    assert "In your own words</a> (Score: 0.0 / 4.0)" in page
    assert "not graded yet" not in page.lower()


@pytest.mark.slow
def test_graders_see_rubric_and_model_answer_and_students_do_not(course):
    path = course.root / "autograded" / "ann" / NAME / NOTEBOOK
    page = Page(root=str(course.root)).from_filename(str(path), {"assignment_id": NAME})[0]
    assert "For graders, a model answer." in page
    assert "Since each row has a mean of its own" in page
    assert "says why it is the row" in page
    assert page.index("For graders") < page.index("Because of")
    assert "<b>means</b>" not in page
    assert "For graders" not in feedback(course)
    assert "Since each row" not in feedback(course)
    released = (course.root / "assignments" / NAME / NOTEBOOK).read_text()
    assert "names the mean" not in released
    assert "Since each row" not in released


def test_written_question_cannot_be_withdrawn_and_the_reason_is_given(course):
    said = said_by(course, "withdraw", WRITTEN, code=2)
    assert f"{WRITTEN} is a written question, and no exercise with tests" in said


def test_words_of_a_student_are_no_heading_of_a_cell():
    page = '<h4>first (Score: 1.0 / 5.0)</h4><p>&lt;a name="w"&gt; Score: 0.0 / 4.0</p><a name="w"></a>Score: 0.0 / 4.0'
    found = with_waiting(page, ["w"])
    assert found.count("Score: 0.0 / 4.0") == 1
    assert found.endswith("Not graded yet, of 4.0")


@pytest.mark.slow
def test_a_rubric_of_another_form_is_said_with_its_file(course, tmp_path):
    course = Course(shutil.copytree(course.root, tmp_path / "course"))
    (course.assignment(NAME).content / "rubric.toml").write_text('written-why = ["four points for style"]')
    with pytest.raises(CourseError, match=r"rubric.toml: written-why\[0\]: expected array, got str"):
        _ = course.assignment(NAME).written


# ---------------------------------------------------------------- answers that are alike

LONG = "Each row has a mean of its own, and what is left of a row sums to zero once that mean is taken away from it."


def told(texts, **names):
    """How answers of students 0, 1, 2, ... are grouped: one list of lists of students for each group."""
    answers = [Answer(str(number), text, **names) for number, text in enumerate(texts)]
    return [[[a.student for a in wording.answers] for wording in group.wordings] for group in grouped(answers)]


def test_equal_answers_are_one_wording_and_nearly_equal_ones_are_one_group():
    texts = ["No idea.", LONG, LONG.upper() + "\n", LONG.replace("zero", "nothing"), "It is the row's own mean.", ""]
    assert told(texts) == [[["1", "2"], ["3"]], [["0"]], [["4"]], [["5"]]]


def test_what_differs_is_marked():
    texts = [LONG, LONG, LONG.replace("zero", "nothing at all")]
    ((first, other),) = [group.wordings for group in grouped([Answer(str(n), text) for n, text in enumerate(texts)])]
    assert not any(new for _, new in first.parts)
    assert [part for part, new in other.parts if new] == ["nothing", "at", "all"]
    assert other.lacks == ("zero",)


@pytest.mark.parametrize("other", ["It is not the mean.", "The mean it is.", "mean"])
def test_short_answers_are_alike_if_they_have_the_same_words_in_order(other):
    assert len(told(["It is the mean.", other])) == 2
    assert len(told(["It is the mean.", "it is: the mean"])) == 1


def test_answers_with_pictures_are_like_no_other():
    assert len(told([LONG, LONG], pictures=True)) == 2


def test_what_a_person_has_graded_is_told_and_left_alone():
    graded_one, waiting = Answer("ann", LONG, 3.0, waits=False), Answer("bob", LONG)
    (group,) = grouped([graded_one, waiting])
    assert [a.student for wording in group.wordings for a in wording.answers] == ["bob"]
    assert (group.earlier, group.done) == ((3.0,), False)
    assert grouped([graded_one])[0].done


@pytest.mark.slow
def test_very_long_answers_are_compared_as_a_whole_so_that_a_class_of_them_takes_no_time():
    texts = [" ".join(f"{seed}w{n}" for n in range(2000)) + "!" * 2 * MAX_TEXT for seed in range(300)]
    started = time.process_time()
    assert len(told([*texts, texts[0], texts[0] + "and more"])) == 301
    assert time.process_time() - started < 5


# ---------------------------------------------------------------- the page, and what was decided on it

HOSTILE = "<img src=x onerror=\"document.title='taken'\"> </script><script>document.title='taken'</script> \u202eabc"
ANSWERS = {
    "ann": LONG,
    "bob": LONG.lower(),
    "cy": LONG.replace("zero", "nothing"),
    "dee": LONG.replace("a row", "every row"),
    "eve": HOSTILE,
    "fay": None,  # left as it was
}


def answered(course, student, text):
    path = submit(course, student)
    if text is not None:
        notebook = nbformat.read(path, as_version=4)
        notebook.cells[-1].source = text
        nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def class_of_six(tmp_path_factory):
    course = small_course(tmp_path_factory.mktemp("six") / "course", written=True)
    for student, text in ANSWERS.items():
        answered(course, student, text)
    graded(course)
    return course


@pytest.fixture
def six(class_of_six, tmp_path):
    return Course(shutil.copytree(class_of_six.root, tmp_path / "course"))


def scores(course):
    """Everybody's points for the question, None before a person has given any."""
    with book_of(course) as book:
        return {
            s.student_id: book.find_grade("written-why", "first", NAME, s.student_id).manual_score
            for s in book.assignment_submissions(NAME)
        }


def comment_on(course, student):
    with book_of(course) as book:
        return book.find_comment("written-why", "first", NAME, student).manual_comment


def decided(course, **changes):
    """What the page saves for ann, changed; the path of the file."""
    digest = Answer("ann", LONG).digest
    entry = {"question": "written-why", "student": "ann", "answer": digest, "before": None, "score": 3, "comment": "!"}
    path = course.root / "decisions.json"
    path.write_text(json.dumps({"assignment": NAME, "decisions": [entry | changes]}))
    return path


@pytest.mark.slow
def test_one_click_marks_a_group_and_one_answer_can_be_marked_apart(six, chromium):
    said_by(six, "written", NAME, "--page", "written.html")
    page = chromium.new_page(viewport={"width": 1100, "height": 900}, accept_downloads=True)
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.goto((six.root / "written.html").as_uri())
    text = page.locator("main").inner_text()
    assert "5 answers in 2 groups; 1 left it as it was" in text
    assert "Since each row has a mean of its own" in text
    assert not any(name in text.split() for name in ANSWERS)
    assert "<img src=x" in text
    assert page.locator("article img, article script").count() == 0

    group = page.locator("article", has_text="Each row").first
    group.locator(".wording", has_text="every row").locator(".apart").click()
    group.locator(".line", has_text="says why").click()
    assert group.locator(".points").input_value() == "3"
    group.locator(".comment").fill("Well said.")
    single = page.locator("article", has_text="every row").last
    single.locator(".line").first.click()
    single.locator(".line").last.click()
    assert "Decided: 4 of 4" in single.inner_text()
    assert "4 of 5 answers decided" in page.locator(".progress").inner_text()
    bad = page.locator("article", has_text="img src")
    bad.locator(".points").fill("7")
    assert "Points go from 0 to 4" in bad.locator(".state").inner_text()
    bad.locator(".none").click()
    assert "5 of 5 answers decided" in page.locator(".progress").inner_text()
    with page.expect_download() as download:
        page.locator(".save").click()
    download.value.save_as(six.root / "decisions.json")
    assert (page.title(), complaints) == (f"Written answers: {NAME}", [])
    page.close()

    assert said_by(six, "written", NAME, "--apply", "decisions.json").strip() == "entered 5 decisions"
    assert scores(six) == {"ann": 3, "bob": 3, "cy": 3, "dee": 4, "eve": 0, "fay": None}
    assert comment_on(six, "ann") == "- ✓ says why it is the row's own\n\nWell said."
    assert comment_on(six, "eve") is None, "no line was clicked"
    graded(six, feedback=True)
    shown = (six.root / "feedback" / "ann" / NAME / "first.html").read_text()
    assert "✓ says why it is the row" in shown
    assert "names the mean of a row" not in shown, "students read only the lines that were clicked"
    assert "(Score: 6.0 / 7.0)" in shown
    said_by(six, "written", NAME, "--page", "again.html")
    assert "Graded already: 2 groups" in " ".join((six.root / "again.html").read_text().split())


@pytest.mark.slow
def test_what_has_changed_since_is_left_out_and_named(six):
    grade_by_hand(six, "ann", WRITTEN, 1.0, waits=True)

    def applied(code=1, **changes):
        return said_by(six, "written", NAME, "--apply", decided(six, **changes), code=code)

    assert "ann, written-why: somebody has graded it since" in applied()
    applied(0, before=1)
    assert scores(six)["ann"] == 3
    assert "the answer is another one now" in applied(before=3, score=2, answer="other")
    assert "../ann, written-why: the gradebook has no such answer" in applied(student="../ann")
    assert scores(six)["ann"] == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"score": 5}, "ann: 5 points; written-why has 0 to 4"),
        ({"score": -1}, "ann: -1 points"),
        ({"score": True}, "Expected `float`, got `bool` - at `$.decisions[0].score`"),
        ({"score": float("nan")}, "JSON is malformed"),
        ({"question": "written-what"}, "no written question 'written-what'"),
        ({"comment": ["x"]}, "Expected `str | null`, got `array` - at `$.decisions[0].comment`"),
    ],
)
def test_a_decision_that_cannot_be_is_said_and_nothing_is_entered(class_of_six, changes, said):
    path = decided(class_of_six, **changes)
    text = said_by(class_of_six, "written", NAME, "--apply", path, code=2)
    assert said in " ".join(text.split())
    assert set(scores(class_of_six).values()) == {None}


@pytest.mark.slow
def test_a_file_that_is_none_is_said(class_of_six):
    for text, said in (
        ("{", "holds no decisions"),
        ('{"assignment": "a9", "decisions": []}', "is of a9, not of a1_first"),
        ("[" * 200, "holds no decisions"),
    ):
        path = class_of_six.root / "other.json"
        path.write_text(text)
        told_so = said_by(class_of_six, "written", NAME, "--apply", path, code=2)
        assert said in " ".join(told_so.split())
    told_so = said_by(class_of_six, "written", NAME, code=2)
    assert "name --page before you grade" in " ".join(told_so.split())


def test_every_written_question_of_the_course_has_a_rubric_that_adds_up():
    for assignment in COURSE.assignments().values():
        points = assignment.graded_cells
        assert assignment.written, assignment.name
        for name, question in assignment.written.items():
            assert sum(worth for worth, _ in question.rubric) == points[name], name


def test_dev_check_finds_a_rubric_that_does_not_add_up_or_belongs_to_nothing(begun, tmp_path):
    course = Course(shutil.copytree(begun.root, tmp_path / "course"))
    add_question(course, 'written-why = [[1, "one"]]\nwritten-wy = [[4, "all"]]')
    found = {finding.cell: finding.what for finding in rubrics(course.assignment(NAME))}
    assert found == {
        "written-why": "its lines add up to 1 points, its cell says 4",
        "written-wy": "the notebook has no such written question",
    }


def test_no_mark_by_tests_depends_on_a_rubric(begun, tmp_path):
    course = Course(shutil.copytree(begun.root, tmp_path / "course"))
    before = course.assignment(NAME).version()
    (course.assignment(NAME).content / "rubric.toml").write_text(RUBRIC)
    assert course.assignment(NAME).version() == before


# ---------------------------------------------------------------- an answer whose cell has lost its name


def without_names(path, change=lambda cells: cells):
    """The notebook as an editor leaves it that knows nothing of nbgrader: cells without metadata."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.metadata.clear()
    notebook.cells = change(notebook.cells)
    nbformat.write(notebook, path)


@pytest.mark.slow
def test_an_answer_that_lost_its_name_is_read_by_a_person_and_gets_no_silent_zero(tmp_path):
    course = small_course(tmp_path / "course", written=True)
    for student in ("ann", "bob", "cy", "dee"):
        answered(course, student, {"cy": None, "dee": "Outliers of one column move it."}.get(student, "Rows differ."))
    submitted = {name: course.root / "submitted" / name / NAME / NOTEBOOK for name in ("ann", "bob", "cy", "dee")}
    without_names(submitted["ann"])
    without_names(submitted["bob"], lambda cells: cells[:-1])
    without_names(submitted["cy"])
    notebook = nbformat.read(submitted["dee"], as_version=4)  # turned into code, as one key does it
    notebook.cells[-1] = nbformat.v4.new_code_cell(notebook.cells[-1].source, metadata=notebook.cells[-1].metadata)
    nbformat.write(notebook, submitted["dee"])
    said = said_by(course, "grade", "--gradebook", "--quiet")
    told = [name for name in submitted if f"warning: {name}, {NAME}: the answer to 'written-why'" in said]
    assert told == ["ann", "bob", "dee"], said
    with book_of(course) as book:
        grades = {name: book.find_grade("written-why", "first", NAME, name) for name in submitted}
        found = {name: (grade.auto_score, grade.needs_manual_grade) for name, grade in grades.items()}
        assert found == {"ann": (None, True), "bob": (None, True), "cy": (0, False), "dee": (None, True)}
    said_by(course, "written", NAME, "--page", "written.html")
    page = (course.root / "written.html").read_text()
    assert "Rows differ." in page
    assert "Outliers of one column move it." in page
    assert "has no words of the student" in page
