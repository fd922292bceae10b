"""Collecting loses no submission: odd names from Canvas and Moodle, several attempts, broken files, groups.

Names are as the systems' own code writes them, which documents the formats: Canvas's `lib/content_zipper.rb`
(`get_filename`, `add_text_or_url`, `add_upload_submission`), Moodle's `mod/assign/classes/downloader.php`
(`get_student_prefix`, `load_submissionplugin_filelist`) and, for its worksheet,
`mod/assign/feedback/offline/importgradeslib.php` (`init`, `next`).
"""

from __future__ import annotations

import csv
import io
import re
import shutil
import zipfile

import pytest

from autograder.errors import AutograderError
from autograder.systems.collecting import read_groups
from cellcage.machine import backend
from tests.helpers.downloads import NEW, OLD, archive_of, collect, collected, download
from tests.helpers.small_course import EXERCISE, NAME, NOTEBOOK, WRONG, nbgrader, released, said_by, submit

FILE = "assignsubmission_file"


def test_every_canvas_file_is_collected_or_reported(course):
    work = released(course).read_text()
    newer, done = work + "\n", work.replace("raise NotImplementedError()", "return X")
    download(
        course,
        {
            f"doejane_4321_98765_{NOTEBOOK}": work,
            "doejane_4321_98799_first-1.ipynb": newer,  # handed in again, beside the first
            f"anon_a1B2c_98701_{NOTEBOOK}": work,
            f"voideve_23_98702_{NOTEBOOK}": "",
            f"LATE_anon_9zY8x_98702_{NOTEBOOK}": work,
            "roecy_17_98703_work.zip": b"PK\x03\x04 no zip",
            "foxdi_18_98704_report.pdf": b"%PDF-1.7",
            "orred_19_text.html": "<p>my answer</p>",
            "poeida_LATE_20_link.html": "<a>",
            f"leeann_4322_98801_{NOTEBOOK}": done,
            "leeann_4322_98802_first (1).ipynb": work,  # newer, and as it was released
            "somebody.ipynb": work,
            "letter.docx": "PK",
            "__MACOSX/._doejane_4321_98765_first.ipynb": "what the Finder packs beside a file",
            "._doejane_4321_98765_first.ipynb": "the same",
        },
    )
    output, left = collect(course, "Canvas", code=1)
    assert collected(course) == {
        "doejane_4321": newer,
        "anon_a1B2c": work,
        "anon_9zY8x": work,
        "leeann_4322": done,
        "voideve_23": "",
    }
    assert "voideve_23 cannot be graded: first.ipynb is empty" in output
    assert "5 students collected, 1 cannot be graded" in output
    assert "leeann_4322_98802_first (1).ipynb has no work in it" in output
    assert "doejane_4321_98765_first.ipynb is an earlier attempt than doejane_4321_98799_first-1.ipynb" in output
    assert "._doe" not in output
    for name, reason in {
        "roecy_17": "an archive inside a submission is not opened",
        "foxdi_18": "no notebook among what was handed in (report.pdf)",
        "orred_19": "a text was handed in, but no file",
        "poeida_LATE_20": "a link was handed in, but no file",
        "somebody.ipynb": "its name does not say whose it is, as Canvas's names do",
        "letter.docx": "its name does not say whose it is, as Canvas's names do",
    }.items():
        assert [reason in line for line in left if name in line] == [True], (name, output)


def test_every_moodle_file_is_collected_or_reported(course):
    work = released(course).read_text()
    done = work.replace("raise NotImplementedError()", "return X")
    download(course, {f"Participant_106_{FILE}/{NOTEBOOK}": "{}"}, "older.zip")
    download(
        course,
        {
            f"Participant_101_{FILE}/{NOTEBOOK}": work,
            f"Participant_103_{FILE}/work.zip": b"PK\x03\x04 no zip",
            "Participant_104_assignsubmission_onlinetext/onlinetext.html": "<p>",
            (f"Participant_105_{FILE}/first.ipynb", OLD): "{}",
            (f"Participant_105_{FILE}/first (1).ipynb", NEW): work,
            (f"Participant_106_{FILE}/{NOTEBOOK}", NEW): work,
            f"Participant_107_{FILE}/{NOTEBOOK}": work,
            f"Participant_107_{FILE}/my work/{NOTEBOOK}": done,
            f"Participant_107_{FILE}/answers.pdf": b"%PDF-1.7",
        },
    )
    (archive_of(course) / "half.zip").write_bytes(b"PK\x03\x04 no zip")
    output, left = collect(course, "Moodle", code=1)
    right = dict.fromkeys((f"Participant_{n}" for n in (101, 105, 106)), work) | {"Participant_107": done}
    assert collected(course) == right
    beside = f"not collected; look at them in downloaded/: submissions/Participant_107_{FILE}/answers.pdf"
    assert beside in output
    for name, reason in {
        "Participant_103": "an archive inside a submission is not opened",
        "Participant_104": "no notebook among what was handed in (onlinetext.html)",
        "half.zip": "is not unpacked",
    }.items():
        assert [reason in line for line in left if name in line] == [True], (name, output)
    assert "first.ipynb is an earlier attempt" in output


def test_missing_sandbox_is_reported_in_one_sentence(course, monkeypatch):
    monkeypatch.setattr(backend("bubblewrap"), "why_not", lambda: "bubblewrap is not installed")
    submit(course, "ada")
    output = nbgrader(course, "autograde", NAME, "--Mark.sandbox=bubblewrap", code=1)
    assert output.splitlines()[-1].endswith("bubblewrap is not installed")
    assert "Traceback" not in output
    output = said_by(course, "grade", "--gradebook", "--sandbox", "bubblewrap", code=2)
    assert output == "autograder: bubblewrap is not installed"


def test_autograde_before_generate_assignment_names_the_command(course):
    submit(course, "ann")
    (course.root / "gradebook.db").unlink()
    output = nbgrader(course, "autograde", NAME, code=1)
    assert f"{NAME} is not in the gradebook; run: nbgrader generate_assignment {NAME}" in output
    assert "Traceback" not in output


# ---------------------------------------------------------------- groups

GROUPS = {f"Group A_12_{FILE}/{NOTEBOOK}": "right", f"Kea_13_{FILE}/{NOTEBOOK}": "wrong"}
ZO = f"Zo_7_{FILE}"
DEFAULT = f"Default group_{FILE}/{NOTEBOOK}"  # students without a group; it has no number
SHEET = (
    b'\xef\xbb\xbfIdentifier,"Full name",Status,Grade,"Maximum Grade","Last modified (grade)","Feedback comments"\r\n'
    b'"Participant 201","Ada L","Submitted for grading",,3.00,-,"one,\r\ntwo ""three"""\r\n'
    b'"Participant 202","Ben O","Submitted for grading",-,3.00,-,"line\nline"\r\n'
    b"Participant 203,Cy R,No submission,,3.00,-,\r\n"
    b'"Participant 204","Dee F","Submitted for grading","",3.00,"Monday, 1 March 2027, 9:00 AM",'
)


@pytest.mark.slow
def test_group_work_counts_for_every_member(course):
    kinds = {"right": None, "wrong": {EXERCISE: WRONG}}
    texts = {kind: submit(course, "x", answers).read_text() for kind, answers in kinds.items()}
    shutil.rmtree(course.root / "submitted")
    alone = {DEFAULT: texts["right"], f"{ZO}/{NOTEBOOK}": texts["right"]}
    download(course, {name: texts[kind] for name, kind in GROUPS.items()} | alone)
    output, left = collect(course, "Moodle", code=1)
    assert "Group A" not in collected(course), "a group was collected as a student"
    assert sum("this belongs to a group; list its members in groups.csv" in line for line in left) == 2, left

    groups = archive_of(course).parent / "groups.csv"
    assert {"Kea", "Zo"} == collected(course).keys()
    groups.write_text("group,student\nGroup A,Ada L\nGroup A,Ben O\nKea,Dee F\n")
    output, left = collect(course, "Moodle", code=1)
    assert collected(course).keys() == {"Ada L", "Ben O", "Dee F", "Zo"}
    found = {line.strip().partition(":")[0]: line for line in left if line.strip()}
    assert found.keys() == {f"Default group_{FILE}", ZO}
    assert "this may be a group or a student; list a group's members in groups.csv" in found[ZO]
    assert "remove what should not be graded" not in output, "Zo is in this download"
    assert "earlier work by these students, of whom nothing is collected now" in output
    (course.root / "class.csv").write_text("id,name\nZo,Zo\n")
    said_by(course, "roster", "class.csv")
    assert ZO not in collect(course, "Moodle", code=1)[0]

    (course.root / "sheet.csv").write_bytes(SHEET)
    to_moodle = ("return", NAME, "--to", "moodle", "--feedback", "pages.zip")
    said_by(course, "grade", "--gradebook", "--quiet", "--feedback")
    output = said_by(course, *to_moodle, code=1)
    assert "Ada L: Moodle finds each member of a group by the number in its worksheet; name it with --sheet" in output
    assert zipfile.ZipFile(course.root / "pages.zip").namelist() == [f"{ZO}/first.html"]
    said_by(course, *to_moodle, "--sheet", "sheet.csv", "--marks", "marks.csv", code=1)  # the default group is reported
    # By `is_valid_filename_for_import` of Moodle's mod/assign/feedback/file/importziplib.php each has their own number.
    assert sorted(zipfile.ZipFile(course.root / "pages.zip").namelist()) == [
        f"{member}_{FILE}/first.html" for member in ("Ada L_201", "Ben O_202", "Dee F_204", "Zo_7")
    ]
    back = (course.root / "marks.csv").read_bytes()
    rows = {row["Full name"]: row for row in csv.DictReader(io.StringIO(back.decode("utf-8-sig"), newline=""))}
    assert [rows[name]["Grade"] for name in ("Ada L", "Ben O", "Cy R", "Dee F")] == ["3", "3", "", "0.3"]
    before = csv.DictReader(io.StringIO(SHEET.decode("utf-8-sig"), newline=""))
    assert [row | {"Grade": rows[row["Full name"]]["Grade"]} for row in before] == list(rows.values())

    two = SHEET.replace(b"Ben O", b"Ada L").replace(
        b"Participant 203,Cy R", b"Participant 7,Zo,,,,,\r\nParticipant 8,Zo"
    )
    (course.root / "two.csv").write_bytes(two)
    groups.write_text(groups.read_text() + "Zo,Zo\n")
    output = said_by(course, *to_moodle, "--sheet", "two.csv", code=1)
    assert "Ada L: two people in the worksheet have this name" in output and "in Moodle by hand" in output
    assert "Ben O: not in the worksheet; correct the name in groups.csv" in output
    names = zipfile.ZipFile(course.root / "pages.zip").namelist()
    assert sorted(names) == [f"Dee F_204_{FILE}/first.html", f"{ZO}/first.html"], "a group of one has its own number"

    groups.write_text("group,student\nGroup A,Ada L\nKea,Ada L\n")
    output, _ = collect(course, "Moodle", code=1)
    assert "Nothing is collected." in output and "line 3: Ada L is in two groups; leave one" in output


def test_list_of_groups_in_spreadsheet_formats(course):
    """A group that was first collected as a student must not be graded as one."""
    work = released(course).read_text()
    download(course, {f"teamrocket_4311_98001_{NOTEBOOK}": work, f"doejane_4321_98002_{NOTEBOOK}": work})
    submit(course, "gone_5")
    output, _ = collect(course, "Canvas")
    assert collected(course).keys() == {"teamrocket_4311", "doejane_4321", "gone_5"}
    assert "not in this download; remove what should not be graded: gone_5" in output

    groups = archive_of(course).parent / "groups.csv"
    groups.write_bytes(
        "\ufeffGroup;Student\r\nTeamRocket;okrikofi_4311\r\nTeamRocket;park_lena_4312\r\nkea;x_9\r\n".encode()
    )
    output, _ = collect(course, "Canvas")
    assert collected(course).keys() == {"okrikofi_4311", "park_lena_4312", "doejane_4321", "gone_5"}
    assert "teamrocket_4311 is now a group in groups.csv" in output
    assert "groups.csv has these groups, but nothing was collected for them: kea" in output

    members = ["okrikofi_4311", "park_lena_4312"]
    for text in (
        "\n\ngroup , student,,\nTeam Rocket,okrikofi_4311,,\n,,,\n team  rocket , park_lena_4312\n",
        'sep=;\nstudent;group\nokrikofi_4311;"Team\nRocket"\npark_lena_4312;TEAM\u00a0ROCKET',
    ):
        groups.write_text(text)
        assert read_groups(groups) == {"team rocket": members}
    for text, reason in {
        "group,student\nA,B,C\n": "line 2: more values than columns",
        "group,student,student\nA,B,C\n": "two columns `student`",
        "group,student\nA,B\n\nA,B;C\n": "line 4: each line needs a group and one student",
    }.items():
        groups.write_text(text)
        with pytest.raises(AutograderError, match=re.escape(reason)):
            read_groups(groups)

    groups.write_text("team,who\nA,B\n")
    output, _ = collect(course, "Canvas", code=1)
    assert "Nothing is collected. " in output
    assert "no column `group`; its first line should be: group,student" in output
