"""nbgrader's `zip_collect`, which reports at the end what was not collected."""

from __future__ import annotations

import logging
from typing import Any

from nbgrader.apps.zipcollectapp import ZipCollectApp

from autograder.errors import AutograderError, in_words
from autograder.nbgrader.kept_times import times_kept
from autograder.text import shown_name

_process, _transfer = ZipCollectApp.process_extracted_files, ZipCollectApp._transfer_files


def process_extracted_files(self: Any) -> None:
    """nbgrader's own, and the last step of a collector that has one (see `autograder.systems.collecting.Collector`).

    Logs what the extractor and the collector have left. The exit code is then 1.
    """
    collector = self.collector_plugin_inst
    self.closed = []
    try:
        if hasattr(collector, "finish") and self.log_level > logging.DEBUG:
            # Five lines of nbgrader's for each file; our collectors say what matters.
            self.log.addFilter(lambda record: record.module != "zipcollectapp")
        with times_kept(self.coursedir, self.log, getattr(collector, "own_times", ())):
            _process(self)
            if hasattr(collector, "finish"):
                collector.finish()
    except AutograderError as error:
        self.fail(f"Nothing is collected. {error}")
    left = [line for plugin in (self.extractor_plugin_inst, collector) for line in getattr(plugin, "left", ())]
    left += self.closed
    if left:
        self.log.error("%d not collected:\n%s", len(left), "\n".join(f"  {line}" for line in left))
        self.exit(1)


def transfer_files(self: Any, collected_data: dict[str, Any]) -> None:
    """nbgrader's own, for one student after another: a folder that cannot be written stops no other student's."""
    for student, found in collected_data.items():
        try:
            _transfer(self, {student: found})
        except OSError as error:
            self.closed.append(f"{shown_name(student)}: {in_words(error) or error}")
