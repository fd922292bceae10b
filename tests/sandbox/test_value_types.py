"""Another distribution can add a type of values with one entry point."""

from __future__ import annotations

import datetime
import textwrap

import pytest

from autograder.authoring.generated_files import visible_files
from autograder.submission import CodeCell
from autograder.task import Task
from autograder.testing import expect
from autograder.worker.worker import Judges, Worker
from cellcage import choose_backend
from cellcage.limits import Limits
from cellcage.outside import zygote_client
from cellcage.values import value_type
from cellcage.values.codec import decode, encode
from cellcage.wire import WireError
from tests.courses.own import SUITE, course_of, exercise

NAME = "a1_spans"
FILES = {
    "spans/__init__.py": "",
    "spans/span_type.py": """
        import datetime

        from cellcage.values.value_type import Difference, ValueType


        class SpanType(ValueType):
            tag = "span"
            imports = {"datetime": "import datetime"}

            def knows(self, kind):
                return kind is datetime.timedelta

            def parts(self, value):
                return [value.days, value.seconds, value.microseconds]

            def made_of(self, parts):
                days, seconds, microseconds = parts
                if not type(days) is type(seconds) is type(microseconds) is int:
                    raise TypeError("not whole numbers")
                return datetime.timedelta(days, seconds, microseconds)

            def hashable(self, value):
                return True

            def named(self, value):
                return "a span of time"

            def difference(self, got, wanted, atol, tells=False):
                return None if got == wanted else Difference("value", f"takes {got}, which is not right")


        SPAN = SpanType()
    """,
    "spans-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: spans\nVersion: 1\n",
    "spans-1.dist-info/entry_points.txt": """
        [cellcage.values]
        span = spans.span_type:SPAN
    """,
}
SOLUTION = """
import datetime

def after(span, times):
    \"\"\"A span that is so many times as long.\"\"\"
    ### BEGIN SOLUTION
    return span * times
    ### END SOLUTION
"""
TESTS = """
import datetime

from autograder.testing import cases


@pytest.mark.exercise("after")
class TestAfter:
    test_minutes = cases("Ninety minutes.", [((datetime.timedelta(minutes=30), 3),)], "How often?", visible=True)

    def test_days(self, student, reference):
        \"\"\"Three days.\"\"\"
        day = datetime.timedelta(days=1)
        expect.equal(student.after(day, 3), reference.after(day, 3), "How often?")
"""


@pytest.fixture
def spans(tmp_path, monkeypatch):
    """Installs the toy distribution for this process and for the sandbox."""
    folder = tmp_path / "installed"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(
        zygote_client, "PROGRAM", f"import sys; sys.path.append({str(folder)!r}); {zygote_client.PROGRAM}"
    )
    caches = value_type.by_tag, value_type._of_class
    for cache in caches:
        cache.cache_clear()
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("spans")
def test_value_of_added_type_round_trips_and_rejects_malformed_data():
    spans = [datetime.timedelta(days=-1, microseconds=3), {datetime.timedelta(1): (datetime.timedelta(2), 3)}]
    assert decode(encode(spans)) == spans
    for forged in (None, 1, ["list", []], ["list", [1, 2, 3.5]], ["list", [10**12, 0, 0]], ["list", ["1", 0, 0]]):
        with pytest.raises(WireError):
            decode(["span", forged])


@pytest.mark.usefixtures("spans")
def test_value_of_added_type_is_compared_and_named():
    hour = datetime.timedelta(hours=1)
    expect.equal(hour, datetime.timedelta(minutes=60))
    with pytest.raises(expect.Mismatch, match="the result takes 1:00:00, which is not right"):
        expect.equal(hour, datetime.timedelta(minutes=61))
    with pytest.raises(expect.Mismatch, match="returned a value of type float, not a span"):
        expect.equal(3600.0, hour)


def test_value_of_unknown_type_arrives_as_its_name():
    assert decode(encode(datetime.timedelta(1))).type_name == "timedelta"


@pytest.mark.slow
@pytest.mark.usefixtures("spans")
def test_added_type_can_be_graded(tmp_path):
    course = course_of(tmp_path / "days", NAME, exercise("after", SOLUTION), {"after/hidden_tests.py": SUITE + TESTS})
    assignment = course.assignment(NAME)
    ((_, text),) = visible_files(assignment)
    assert "import datetime" in text
    assert "((datetime.timedelta(seconds=1800), 3,), datetime.timedelta(seconds=5400))" in text
    judges = Judges(course.root, choose_backend("process")[0])
    worker = Worker(judges, Limits())

    def marked(answer):
        report = worker.mark(Task("ada", NAME, assignment.version).of([CodeCell(0, answer)])).report
        assert not report.reason, report.reason
        (found,) = report.exercises
        return found.score, " ".join(test.message for test in found.tests)

    try:
        assert marked(SOLUTION) == (2, " ")
        score, message = marked("def after(span, times):\n    return span")
        assert score == 0
        assert "after(span=datetime.timedelta(days=1), times=3)" in message
        assert "the result takes 1 day, 0:00:00, which is not right" in message
        assert marked("def after(span, times):\n    return span.total_seconds() * times")[0] == 0
    finally:
        worker.end()
        judges.end()
