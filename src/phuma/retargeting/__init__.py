"""Stage 2: put a human's motion on a robot."""

from phuma.core.robot_metrics import FIVE
from phuma.retargeting.config import DEFAULT_METHOD, SolveCfg
from phuma.retargeting.measure import measure
from phuma.retargeting.retarget import METHODS, retarget_motion

__all__ = ["DEFAULT_METHOD", "FIVE", "METHODS", "SolveCfg", "measure", "retarget_motion"]
