"""nbgrader's zip_collect on what Canvas, Moodle and Gradescope give to download, and on hand-ins that mean harm.

Names are as in `lib/content_zipper.rb` of https://github.com/instructure/canvas-lms, and in
`mod/assign/classes/downloader.php` of https://github.com/moodle/moodle.
"""

from __future__ import annotations

import csv
import os
import shutil
import stat
import zipfile

import pytest

from autograder.nbgrader import zip_collect
from autograder.nbgrader.collectors import Moodle
from tests.helpers.downloads import archive_of, collect, download, files_collected, packed
from tests.helpers.small_course import EXERCISE, NAME, NOTEBOOK, WRONG, released, said_by, submit

CANVAS = {
    "doejane_4321_98765_first.ipynb": "doejane_4321",
    "mullerzoe_LATE_17_98770_first-1.ipynb": "mullerzoe_17",
    "doejane_4400_98771_first (2).ipynb": "doejane_4400",
}
MOODLE = {
    "Jane Doe_123456_assignsubmission_file/first.ipynb": "Jane Doe",
    "Zoë Müller-Łoś_123457_assignsubmission_file_/first.ipynb": "Zoë Müller-Łoś",
    "Ada L_123458_assignsubmission_file_first.ipynb": "Ada L",
}
JANE, ADA = "Jane Doe_123_assignsubmission_file", "Ada L_124_assignsubmission_file"


def model_of(notebook):
    """The name of a saved model that was handed in beside it."""
    return notebook.replace("first", "model").replace(" (2)", "").replace(".ipynb", ".safetensors")


def told_of(left, name):
    """The lines that name a student or a file."""
    return [line for line in left if name in line]


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(("collector", "names"), [("Canvas", CANVAS), ("Moodle", MOODLE)])
def test_a_zip_from_the_system_is_collected(course, collector, names):
    entries = dict.fromkeys(names, released(course).read_text()) | dict.fromkeys(map(model_of, names), "x")
    download(course, entries | {"notes.txt": "x", NOTEBOOK: "{}"})
    _, left = collect(course, collector, code=1)
    assert len(left) == 3, left
    assert [len(told_of(left, f"submissions/{name}: ")) for name in ("notes.txt", NOTEBOOK)] == [1, 1]
    assert files_collected(course) == {student: [NOTEBOOK, "model.safetensors"] for student in names.values()}


# ---------------------------------------------------------------- a hand-in that bears another student's name


def as_another(student):
    """Hand-ins whose insides bear another student's name: as a folder, in a zip, in a zip within a zip."""
    inner = {f"{student}/mine.ipynb": "{}", f"{student}/{NOTEBOOK}": "{}"}
    return {"work.zip": packed(inner), "more.zip": packed({"inner.zip": packed(inner)})} | inner


@pytest.mark.slow
def test_moodle_gives_nobody_anothers_mark(course):
    """Jane hands in folders and zips with Ada's name and her own number: Ada's page would go to Jane."""
    texts = {
        name: submit(course, "x", answers).read_text()
        for name, answers in (("right", None), ("wrong", {EXERCISE: WRONG}))
    }
    shutil.rmtree(course.root / "submitted")
    forged = {f"{JANE}/{name}": content for name, content in as_another("Ada L_123_assignsubmission_file").items()}
    download(course, {f"{JANE}/{NOTEBOOK}": texts["wrong"], f"{ADA}/{NOTEBOOK}": texts["right"]} | forged)
    collect(course, "Moodle")
    assert files_collected(course) == {"Ada L": [NOTEBOOK], "Jane Doe": [NOTEBOOK, "mine.ipynb"]}
    said_by(course, "grade", "--gradebook", "--feedback")
    (course.root / "sheet.csv").write_text("Identifier,Full name,Grade\nParticipant 123,Jane,\nParticipant 124,Ada,\n")
    words = ("return", NAME, "--to", "moodle", "--sheet", "sheet.csv", "--marks", "m.csv", "--feedback", "p.zip")
    said_by(course, *words)
    rows = csv.DictReader((course.root / "m.csv").read_text().splitlines())
    grades = {row["Identifier"]: row["Grade"] for row in rows}
    assert grades["Participant 124"] == "3"
    assert float(grades["Participant 123"]) < 3
    with zipfile.ZipFile(course.root / "p.zip") as pages:
        assert sorted(pages.namelist()) == [f"{ADA}/first.html", f"{JANE}/first.html"]
        page = pages.read(f"{JANE}/first.html").decode()
    assert page == (course.root / "feedback" / "Jane Doe" / NAME / "first.html").read_text()


@pytest.mark.parametrize("collector", ["Canvas", "Gradescope"])
def test_the_name_that_the_system_wrote_says_whose_it_is(course, collector):
    work = released(course).read_text()
    if collector == "Canvas":
        other, jane = "bob_99_5", {f"doejane_4321_98765_{NOTEBOOK}": work}
        forged = {
            f"doejane_4321_98766_{name}": data for name, data in as_another(other).items() if name.endswith("zip")
        }
        forged["doejane_4321_98767_work.zip"] = packed({f"bob_99_5_{NOTEBOOK}": "{}"})
        student = "doejane_4321"
    else:
        metadata = "submission_7:\n  :submitters:\n  - :sid: '{}'\n"
        jane = {f"e/submission_7/{NOTEBOOK}": work, "e/submission_metadata.yml": metadata.format("jane")}
        forged = {f"e/submission_7/{name}": data for name, data in as_another("submission_7").items()}
        forged["e/submission_7/submission_metadata.yml"] = metadata.format("bob")
        student = "jane"
    download(course, jane | forged)
    collect(course, collector)
    assert files_collected(course).keys() == {student}
    assert (course.root / "submitted" / student / NAME / NOTEBOOK).read_text() == work


def test_whoever_hands_in_an_archive_alone_is_named(course):
    work = released(course).read_text()
    download(course, {f"{JANE}/work.zip": packed({f"Bob_9_assignsubmission_file/{NOTEBOOK}": work}),
                        f"{ADA}/{NOTEBOOK}": work, "Eve_9_assignsubmission_file/broken.zip": "PK no zip"})  # fmt: skip
    _, left = collect(course, "Moodle", code=1)
    assert files_collected(course).keys() == {"Ada L"}
    (jane,), (eve,) = told_of(left, "Jane Doe"), told_of(left, "Eve")
    assert "work.zip" in jane
    assert "an archive within a hand-in is not opened, so ask for the notebook itself" in jane
    assert "broken.zip" in eve


# ---------------------------------------------------------------- two of one name


def test_two_students_of_one_name_are_both_named_and_nobody_is_replaced(course):
    work = released(course).read_text()
    other = "Jane Doe_777_assignsubmission_file"
    download(course, {f"{JANE}/{NOTEBOOK}": work, f"{other}/{NOTEBOOK}": "{}", f"{ADA}/{NOTEBOOK}": work})
    _, left = collect(course, "Moodle", code=1)
    assert files_collected(course).keys() == {"Ada L"}
    (told,) = told_of(left, "Jane Doe")
    assert f"{JANE} and {other}: the same student 'Jane Doe', so neither is collected" in told


def test_an_sid_that_two_have_costs_neither_the_work_of_the_other(course):
    """A student may have entered the other's e-mail address as SID."""
    people = {1: "  - :sid: a@b.c\n", 2: "  - :sid:\n    :email: a@b.c\n", 3: "  - :sid: '03'\n"}
    lines = [
        f"submission_{n}:\n  :submitters:\n{who}  :created_at: 2027-02-2{n} 17:34:00 Z\n" for n, who in people.items()
    ]
    works = {f"e/submission_{number}/{NOTEBOOK}": released(course).read_text() for number in people}
    download(course, works | {"e/submission_metadata.yml": "".join(lines)})
    _, left = collect(course, "Gradescope", code=1)
    assert files_collected(course).keys() == {"03"}
    (told,) = told_of(left, "a@b.c")
    assert "submission_1 and submission_2: the same student" in told
    assert "correct the SID in Gradescope's roster" in told


@pytest.mark.parametrize("names", [("first.ipynb", "first (1).ipynb"), ("my.work.ipynb", "my.notes.ipynb")])
def test_two_files_that_would_have_one_name_cost_their_own_student_alone(course, names):
    work = released(course).read_text()
    download(course, {f"{JANE}/{name}": work for name in names} | {f"{ADA}/{NOTEBOOK}": work})
    _, left = collect(course, "Moodle", code=1)
    assert files_collected(course).keys() == {"Ada L"}
    assert all(name in told_of(left, "Jane Doe")[0] for name in names)


@pytest.mark.parametrize("name", ["..", ".", ".x", "<b>", "a\\b"])
def test_a_name_that_is_no_folders_costs_its_own_student_alone(tmp_path, name):
    for folder in (f"{name}_5_assignsubmission_file", ADA):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / NOTEBOOK).touch()
    ours = Moodle(extracted=str(tmp_path))
    assert {owner.student for owner in ours.sorted_out.taken.values()} == {"Ada L"}
    assert "cannot be a folder's name" in ours.left[0]


# ---------------------------------------------------------------- archives that mean harm


def entry(name, kind=0):
    info = zipfile.ZipInfo(name)
    info.external_attr = (kind | 0o644) << 16
    return info


BAD_ENTRIES = {
    "leads out of the archive": ["../x.ipynb", "/tmp/x.ipynb", "a/../../x.ipynb", "a\\..\\x.ipynb"],
    "is a link": [entry("link.ipynb", stat.S_IFLNK)],
    "is not a file": [entry("pipe", stat.S_IFIFO)],
}


def test_entries_that_are_no_plain_files_are_left_and_the_archive_is_named(course):
    path = archive_of(course) / "submissions.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for names in BAD_ENTRIES.values():
            for name in names:
                archive.writestr(name, "../../../../gradebook.db")
        archive.writestr(f"{ADA}/{NOTEBOOK}", released(course).read_text())
    said, left = collect(course, "Moodle", code=1)
    assert files_collected(course) == {"Ada L": [NOTEBOOK]}
    extracted = course.root / "downloaded" / NAME / "extracted"
    assert [str(p.relative_to(extracted)) for p in extracted.rglob("*") if not p.is_dir()] == [
        f"submissions/{ADA}/{NOTEBOOK}"
    ]
    for reason, names in BAD_ENTRIES.items():
        assert sum("submissions.zip: " in line for line in told_of(left, reason)) == len(names), said


def test_what_a_teacher_has_unpacked_is_collected_without_its_links(course):
    place = archive_of(course) / ADA
    place.mkdir()
    shutil.copy(released(course), place)
    (place / "model.safetensors").symlink_to(course.root / "gradebook.db")
    (place / "folder").symlink_to(course.root / "source")
    os.mkfifo(place / "pipe.ipynb")
    (archive_of(course) / "notes.zip").write_text("no zip")
    _, left = collect(course, "Moodle", code=1)
    assert files_collected(course) == {"Ada L": [NOTEBOOK]}
    assert told_of(left, f"{ADA}/model.safetensors is a link")
    assert told_of(left, f"{ADA}/folder is a link")
    assert told_of(left, f"{ADA}/pipe.ipynb is not a file")
    assert told_of(left, "notes.zip is not unpacked: it cannot be read as a zip")


def test_what_would_fill_the_disk_is_not_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "bomb.zip"
    path.write_bytes(packed({"a.ipynb": bytes(2**20), "b.ipynb": "small"}))

    def refused():
        with pytest.raises(zip_collect.SubmissionError) as error:
            zip_collect.unpack(path, tmp_path / "out")
        assert not (tmp_path / "out").exists()
        return str(error.value)

    with monkeypatch.context() as limits:
        limits.setattr(zip_collect, "MAX_ALL", 2**20)
        assert "it would become" in refused()
    with monkeypatch.context() as limits:
        limits.setattr(zip_collect, "MAX_ENTRIES", 1)
        assert refused() == "it holds 2 files; the limit is 1"
    with monkeypatch.context() as limits:
        limits.setattr(zip_collect.shutil, "disk_usage", lambda place: shutil._ntuple_diskusage(1, 1, 0))
        assert "and the disk has 0.0" in refused()
    with monkeypatch.context() as limits:
        limits.setattr(zip_collect, "MAX_FILE", 2**19)
        assert zip_collect.unpack(path, tmp_path / "out") == ["a.ipynb would become 1 MB; the limit is 0"]
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["b.ipynb"]


def test_a_size_that_is_a_lie_costs_its_own_entry_alone(tmp_path):
    """A bomb says that it is small; a broken upload ends early."""
    data = bytearray(packed({"a.ipynb": bytes(2**20), "b.ipynb": "small"}))
    for signature, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):  # where an entry's size stands
        at = data.index(signature) + place
        data[at : at + 4] = (10).to_bytes(4, "little")
    (tmp_path / "lie.zip").write_bytes(data)
    (told,) = zip_collect.unpack(tmp_path / "lie.zip", tmp_path / "out")
    assert told.startswith("a.ipynb cannot be unpacked")
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["b.ipynb"]
