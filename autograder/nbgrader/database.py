"""Opens nbgrader's database in fewer steps."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbgrader.api
from nbgrader.api import Gradebook
from sqlalchemy.orm import scoped_session, sessionmaker


def open_with_fewer_steps() -> None:
    """Patch nbgrader so that a database's engine is made once, and a new database needs no other program.

    nbgrader makes a dozen engines for each submission, and each compiles every statement again, which is half of its
    time. For a new database it runs the program `alembic`, which takes a second and is not found if the environment is
    not on the path.
    """
    # No traceback of a database that fails: the error itself follows, and is reported as the student's reason.
    nbgrader.api.app_log.addFilter(_is_no_rollback)
    if not hasattr(nbgrader.api.create_engine, "cache_info"):
        nbgrader.api.create_engine = functools.lru_cache(nbgrader.api.create_engine)
    nbgrader.api.get_alembic_version = newest_tables


def _is_no_rollback(record: Any) -> bool:
    return not record.getMessage().startswith("Rolling back session")


@functools.cache
def newest_tables() -> str:
    """The schema version that nbgrader writes into a new database; `nbgrader db upgrade` reads it."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(nbgrader.api.__file__).parent / "alembic"))
    return str(ScriptDirectory.from_config(config).get_current_head())


@contextlib.contextmanager
def tables_looked_for_once() -> Iterator[None]:
    """Look for a gradebook's tables and its course, and make what is missing, once; nbgrader does so ten times each."""
    begin, opened = Gradebook.__init__, set[tuple[str, str]]()

    def begin_again(self: Any, db_url: str, course_id: str = "default_course", authenticator: Any = None) -> None:
        if (db_url, course_id) not in opened:
            begin(self, db_url, course_id, authenticator)
            opened.add((db_url, course_id))
            return
        self.engine = nbgrader.api.create_engine(db_url, echo=False, future=True)
        self.db = scoped_session(sessionmaker(autoflush=True, bind=self.engine, future=True))
        self.course_id, self.authenticator = course_id, authenticator

    Gradebook.__init__ = begin_again
    try:
        yield
    finally:
        Gradebook.__init__ = begin
