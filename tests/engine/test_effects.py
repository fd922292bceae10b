"""What a call prints, writes and reads, as a suite meets it."""

from __future__ import annotations

import os

import pytest

from autograder.testing import expect
from autograder.testing.expect import Mismatch
from autograder.testing.local import answering
from autograder.testing.student import Student
from autograder.testing.student_errors import Missing, Raised
from cellcage.protocol.objects import NoField


def student_of(function):
    return Student(answering({"f": function, "__folder__": ""}), lambda name: [])


SAME = [("a\nb", "a  \nb\n\n"), ("a", "a\r\n"), ("", "\n"), ("  a", "  a")]
OTHER = [
    ("a\nc", "a\nb", "line 2 of what it prints is `c`, which is not right."),
    ("A", "a", "line 1 of what it prints is `A`, which is not right, though only small and capital letters differ."),
    (" a", "a", "line 1 of what it prints is `' a'`, which is not right, though only spaces differ."),
    ("a", "a\nb", "what it prints ends after line 1, and more is asked for."),
    ("a\nb", "a", "line 2 of what it prints is `b`, and no more is asked for."),
    ("", "a", "what it prints is empty."),
    (3, "a", "what it prints is a value of type int, where a text belongs."),
]


@pytest.mark.parametrize(("got", "wanted"), SAME)
def test_blanks_that_nobody_sees_do_not_count_unless_asked(got, wanted):
    expect.text(got, wanted)
    if got != wanted:
        with pytest.raises(Mismatch):
            expect.text(got, wanted, strict=True)


@pytest.mark.parametrize(("got", "wanted", "said"), OTHER)
def test_the_first_line_that_differs_is_told(got, wanted, said):
    with pytest.raises(Mismatch) as raised:
        expect.text(got, wanted)
    assert str(raised.value) == said


def test_endless_text_is_cut():
    assert len(student_of(lambda: print("x" * 10**7)).f.printed()) < 20_000


@pytest.mark.parametrize("lines", [(), ("1",), ("1", "2")])
def test_input_is_what_is_typed_in(lines):
    asked = [
        "asks for input, and none is",
        "asks for a second input, and only 1 is",
        "asks for a third input, and only 2",
    ]
    with pytest.raises(Raised, match=asked[len(lines)]):
        student_of(lambda: [input("?") for _ in range(3)]).f.typed(*lines)()
    student = student_of(lambda: input("?") + input())
    assert student.f.typed("a", "b")() == "ab"
    assert student.f.typed("a", "b").printed() == ""


def test_files_are_those_of_one_call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.txt").write_text("2")

    def write(name, data, times=1):
        os.makedirs("deep", exist_ok=True)
        with open(f"deep/{name}", "ab") as file:
            file.write(bytes(data) * times)
        os.symlink("/etc/hostname", "link")

    for _ in range(2):
        assert student_of(write).f.files("a.txt", list("é\n".encode())) == {"deep/a.txt": "é\n"}
    assert student_of(write).f.files("a.bin", [255, 0]) == {"deep/a.bin": b"\xff\0"}
    assert student_of(write).f.files("long.txt", [120], 10**6)["deep/long.txt"] == "x" * 10**6
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.txt"]
    with pytest.raises(NoField, match=r"wrote no file `a\.txt`, and 1 of another name"):
        _ = student_of(write).f.files("b.txt", [])["a.txt"]
    with pytest.raises(NoField, match="more files, or longer ones"):
        student_of(write).f.files("huge.txt", [120], 5 * 2**20)
    with pytest.raises(NoField, match="more files, or longer ones"):
        student_of(lambda: [open(f"{n}.txt", "w").close() for n in range(100)]).f.files()


def test_files_beside_the_notebook_are_found_and_told_only_if_they_change(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.txt").write_text("2")

    def twice(path):
        with open("data.txt") as data, open(path, "w") as file:
            file.write(data.read() * 2)

    student = Student(answering({"f": twice}), lambda name: [])
    assert student.f.files("out.txt") == {"out.txt": "22"}
    with pytest.raises(Raised, match="OSError"):  # the reference has none
        student_of(twice).f.files("out.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["data.txt"]
    assert (tmp_path / "data.txt").read_text() == "2"


def test_a_name_that_is_not_there_is_told():
    with pytest.raises(Missing, match="nothing under the name `other`"):
        student_of(None).value("other")
    assert student_of({"a": (1, 2)}).value("f") == {"a": (1, 2)}
