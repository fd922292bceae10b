"""Sample classes that several test files use, and their marks."""

from __future__ import annotations

import nbformat

from autograder.authoring.sample_class import fill, hand_in, model_answers
from autograder.authoring.skeletons import begin_assignment
from autograder.course.assignments import Course
from autograder.nbgrader import api
from autograder.submission import grade_id
from tests.helpers.releases import filled
from tests.helpers.small_course import BUILT, EXERCISE, SOLVED, WRONG, command, small_course, submit

SLOW = "import time\ntime.sleep(1)"  # so that a run can be interrupted in the middle
STRANGE = '=<img src=x onerror="alert(1)">'  # a student's folder may have any name without a slash
# An endless loop that takes no processor time from other tests.
LOOP = f"def {EXERCISE}(X):\n    import time\n    time.sleep(1000)"


def class_of(folder, count, config="", slow=False):
    """A small course with right, wrong and unfinished submissions; the last one is unreadable."""
    course = small_course(folder, config)
    kinds = [None, {EXERCISE: WRONG}, {}]
    for number in range(count - 1):
        path = submit(course, f"student-{number:02}", kinds[number % 3])
        if slow:
            notebook = nbformat.read(path, as_version=4)
            notebook.cells.insert(0, nbformat.v4.new_code_cell(SLOW))
            nbformat.write(notebook, path)
    submit(course, "zoe").write_text("{")
    return course


def marks(book, assignment, student):
    """The automatic marks in the gradebook, by exercise."""
    submission = book.find_submission(assignment.name, student)
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades if grade.cell.cell_type == "code"]
    return {grade.name.removeprefix("test-"): grade.auto_score for grade in grades}


def report_of_a_class(folder):
    """A graded class: two right, two with one mistake, a loop, untouched, unreadable. Only the right ones did a2."""
    course = small_course(folder, students=("ada", "ben"), second=True)
    wrong, loops = {EXERCISE: WRONG, BUILT: SOLVED}, {EXERCISE: LOOP, BUILT: SOLVED}
    for student, answers in {"chloe": wrong, "dmitri": wrong, "eve": {}, "farid": loops}.items():
        submit(course, student, answers)
    submit(course, STRANGE, {}).write_text("{")
    list(begin_assignment(course, "a2_second", "column_centred"))
    a2 = Course(folder).assignment("a2_second")
    for student in ("ada", "ben"):
        hand_in(fill(a2.notebook, model_answers(a2)), folder / "submitted", student, a2)
    code, output = command(course, "grade", "submitted", "--json", "marks.json")
    assert code == 1, output
    return folder / "marks.json"


def class_with_pages(course, assignment, handed_in):
    """A class with all kinds of pages: feedback, written answers (`written.html`), class report (`class.html`).

    handed_in: for each student the answers by exercise, the written answer ("" keeps the text), more code cells, and
        the time of submission or ""
    """
    assert api(course.root).generate_assignment(assignment.name)["success"]
    for student, (answers, words, more, when) in handed_in.items():
        notebook = filled(course.assignment(assignment.name), answers)
        if words:
            (cell,) = [one for one in notebook.cells if grade_id(one) == "written-roles"]
            cell.source = words
        notebook.cells += map(nbformat.v4.new_code_cell, more)
        path = hand_in(notebook, course.root / "submitted", student, assignment)
        if when:
            path.with_name("timestamp.txt").write_text(when)
    beside = ("--gradebook", "--submitted", "submitted", "--feedback", "feedback")
    for words in (
        ("grade", "--gradebook", "--feedback"),
        ("written", assignment.name, "--page", "written.html"),
        ("grade", "submitted", "--json", "marks.json"),
        ("report", "marks.json", "--html", "class.html", *beside),
    ):
        code, output = command(course, *words)
        assert code == 0, output
