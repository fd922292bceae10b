"""The store of marks survives processes that write at once, and one that is killed."""

from __future__ import annotations

import multiprocessing
from datetime import UTC, datetime

from autograder.reports.store import PAGE, Entry, MadeOf, Store
from tests.helpers.terminal import until

MANY = 40


def write(root, student):
    for number in range(MANY):
        points = {"softmax": (float(number), 40.0)}
        entry = Entry(datetime.now(UTC), "me", "1", "graded again", points, made=MadeOf(f"{number}"))
        Store(root).add("a1", student, entry)


def write_for_ever(root):
    while True:
        write(root, "killed")


def test_writing_at_once_and_a_kill_lose_nothing(tmp_path):
    fork, store = multiprocessing.get_context("fork"), Store(tmp_path)
    writers = [fork.Process(target=write, args=(tmp_path, student)) for student in ("ada", "ben")]
    killed = fork.Process(target=write_for_ever, args=(tmp_path,))
    for process in (*writers, killed):
        process.start()
    until(lambda: len(store.entries("a1", "killed").get("killed", [])) > 2)
    killed.kill()
    for process in (*writers, killed):
        process.join()
    found = store.entries("a1")
    assert found.keys() == {"ada", "ben", "killed"}
    for student in ("ada", "ben"):
        assert [entry.made.work for entry in found[student]] == [str(number) for number in range(MANY)]
    assert [entry.score for entry in found["killed"][:3]] == [0, 1, 2]


def test_store_moves_with_its_folder_and_forgets_one_student(tmp_path):
    (tmp_path / "here").mkdir()
    store = Store(tmp_path / "here")
    assert store.entries("a1") == store.digests("a1", PAGE) == {} and not store.path.exists(), "asking writes nothing"
    for student in ("ada", "ben"):
        store.set_digest("a1", student, PAGE, student)
    assert str(tmp_path).encode() not in store.path.read_bytes()
    (tmp_path / "here").rename(tmp_path / "there")
    store = Store(tmp_path / "there")
    assert store.digests("a1", PAGE) == {"ada": "ada", "ben": "ben"}
    assert store.forget("ada") and not store.forget("ada")
    assert store.digests("a1", PAGE) == {"ben": "ben"}
    assert b"ada" not in store.path.read_bytes()
