"""nbgrader's `zip_collect`, which reports at the end what was not collected."""

from __future__ import annotations

import logging
from typing import Any

from nbgrader.apps.zipcollectapp import ZipCollectApp

from autograder.errors import AutograderError

_process = ZipCollectApp.process_extracted_files


def process_extracted_files(self: Any) -> None:
    """nbgrader's own, and the last step of a collector that has one (see `autograder.systems.collecting.Collector`).

    Logs what the extractor and the collector have left. The exit code is then 1.
    """
    collector = self.collector_plugin_inst
    try:
        if hasattr(collector, "finish") and self.log_level > logging.DEBUG:
            # Five lines of nbgrader's for each file; our collectors say what matters.
            self.log.addFilter(lambda record: record.module != "zipcollectapp")
        _process(self)
        if hasattr(collector, "finish"):
            collector.finish()
    except AutograderError as error:
        self.fail(f"Nothing is collected. {error}")
    left = [line for plugin in (self.extractor_plugin_inst, collector) for line in getattr(plugin, "left", ())]
    if left:
        self.log.error("%d not collected:\n%s", len(left), "\n".join(f"  {line}" for line in left))
        self.exit(1)
