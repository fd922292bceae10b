"""nbgrader's configuration on every server of the hub: where the exchange is, and which course this is.

Both images have it in /etc/jupyter. An instructor's course adds its own nbgrader_config.py to it. A hub with several
courses sets the two variables for each.
"""

import os

c = get_config()  # nbgrader provides it
c.Exchange.root = os.environ.get("NBGRADER_EXCHANGE", "/srv/nbgrader/exchange")
c.CourseDirectory.course_id = os.environ.get("NBGRADER_COURSE", "multi_head_attention")
