"""Reads dates and times strictly: `timestamp.txt` beside a submission, and an assignment's due date.

nbgrader guesses. It reads ` +0200` as 200 seconds, `PST` and `CEST` as UTC, and `02.03.2027` as February 3, so that
people are late, or on time, without anybody noticing.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import dateutil.tz
from nbgrader.api import Gradebook, MissingEntry

from autograder.errors import SubmissionError
from autograder.nbgrader.hardening.files import MAX_TIMESTAMP, TIMESTAMP, is_plain
from autograder.reading import read_bytes
from autograder.text import one_line, shown_name

FORM = "write it as 2027-03-01 12:00:00 +0100, or without a zone for UTC"
_SHOWN = 40  # characters of a wrong time in a sentence
_PARTS = re.compile(r"(\d{4}-\d\d-\d\d)(?:[Tt ]+(\d\d?)(:\d\d(?::\d\d(?:\.\d+)?)?))? *((?![\d.,:])\S*)")
_OFFSET = re.compile(r"([+-])(\d\d):?([0-5]\d)?")
_PLACE = re.compile(r"[A-Za-z_]+(?:/[A-Za-z0-9_+-]+)+")
# Hours from UTC. Abbreviations with several meanings, such as IST, are left out; American ones are those of RFC 5322.
_HOURS = {
    "": 0, "Z": 0, "UTC": 0, "UT": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3,
    "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
}  # fmt: skip


class WrongTime(SubmissionError, ValueError):
    """A text is not a date and time, or could be several; the message says how to write it."""


def parse_utc(when: datetime | str | None) -> datetime | None:
    """A time in UTC, without a zone, as the gradebook has it. Raises `WrongTime`."""
    if isinstance(when, str):
        return _utc(_read(when.strip()))
    return when if when is None or when.tzinfo is None else _utc(when)


def _utc(when: datetime) -> datetime:
    try:
        return when.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise WrongTime(f"{when} is too early or too late; {FORM}") from None


def _read(text: str) -> datetime:
    shown = one_line(text[:_SHOWN])
    found = _PARTS.fullmatch(text)
    if not found:
        raise WrongTime(f"'{shown}' is not a date and time in this order: year-month-day, hour:minute, zone; {FORM}")
    day, hour, rest, zone = found.groups()
    if hour is None:
        raise WrongTime(f"'{shown}' has no time; for the end of a day write 23:59 and your zone: {day} 23:59 +0100")
    if zone.upper() in ("AM", "PM"):
        raise WrongTime(f"'{shown}' has {zone}; write hours from 00 to 23, such as 2027-03-01 13:30:00 +0100")
    try:
        when = datetime.fromisoformat(f"{day} {hour:0>2}{rest}")
    except ValueError as error:
        raise WrongTime(f"'{shown}' is not a date and time ({error}); {FORM}") from None
    return when.replace(tzinfo=_zone(zone))


def _zone(name: str) -> Any:
    if (hours := _HOURS.get(name.upper())) is not None:
        return timezone(timedelta(hours=hours))
    if found := _OFFSET.fullmatch(name):
        offset = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
        if offset < timedelta(days=1):
            return timezone(-offset if found[1] == "-" else offset)
    # Not zoneinfo, which has no data of its own where the system has none.
    elif _PLACE.fullmatch(name) and (place := dateutil.tz.gettz(name)):
        return place
    raise WrongTime(
        f"'{one_line(name[:_SHOWN])}' is not a time zone, or could be several; write the offset from UTC in its place: "
        "2027-03-01 12:00:00 +0100"
    )


def handed_in_at(folder: Path) -> datetime | None:
    """When a submission came in, by its `timestamp.txt`; None if there is no such file. Raises `SubmissionError`."""
    path = folder / TIMESTAMP
    if not path.exists() and not path.is_symlink():
        return None
    data = read_bytes(path, MAX_TIMESTAMP, "It holds the time of handing in.")
    try:
        return parse_utc(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise WrongTime(f"{TIMESTAMP} is not UTF-8 text; save it as UTF-8, or remove it") from None
    except WrongTime as error:
        raise WrongTime(f"{TIMESTAMP}: {error}; or remove the file if the time does not count") from None


def existing_timestamp(self: Any, folder: str) -> datetime | None:
    """Like nbgrader's own, but reads no link or pipe, and a wrong time is a warning: grading reports it by name."""
    if not is_plain(Path(folder, TIMESTAMP)):
        return None
    try:
        return handed_in_at(Path(folder))
    except SubmissionError as error:
        self.log.warning("%s: %s", folder, error)
        return None


def submitted_timestamp(self: Any, assignment: str, student: str) -> datetime | None:
    """When a submission came in, for formgrader's list."""
    coursedir = self.coursedir
    return existing_timestamp(coursedir, coursedir.format_path(coursedir.submitted_directory, student, assignment))


def follow_timestamp(coursedir: Any, assignment: str, student: str) -> Iterator[str]:
    """Empty the gradebook's time of handing in if it is that of a `timestamp.txt` which is gone. nbgrader keeps it.

    The autograded folder has a copy of that file. A time from elsewhere, such as a script, stays. Yields a sentence if
    the time has gone, or makes the student late.
    """

    def time_in(step: str) -> datetime | None:
        return existing_timestamp(coursedir, coursedir.format_path(step, student, assignment))

    if time_in(coursedir.submitted_directory) is not None:
        return
    with contextlib.suppress(MissingEntry), Gradebook(coursedir.db_url, coursedir.course_id) as book:
        submission = book.find_submission(assignment, student)
        when, who = submission.timestamp, f"{shown_name(student)}, {assignment}"
        if when is not None and when == time_in(coursedir.autograded_directory):
            submission.timestamp = None
            book.db.commit()
            yield f"{who}: has no {TIMESTAMP} any more, so {when} UTC no longer counts as the time of handing in"
        elif submission.total_seconds_late > 0:
            yield (
                f"{who}: counts as late, because the gradebook has {when} UTC as the time of handing in; "
                f"there is no {TIMESTAMP}. If that is wrong, write the right time into one"
            )
