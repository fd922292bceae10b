"""nbgrader's database: engines that are kept, and a new one without another program."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import nbgrader.api


def patch_database() -> None:
    """Make a database's engine once, and find the version of its tables without the program `alembic`.

    nbgrader makes a dozen engines for each submission, and each compiles every statement again: a fifth of the time of
    `nbgrader autograde`. The program is not found if the environment is not on the path.
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
