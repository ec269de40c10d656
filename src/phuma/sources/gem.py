"""GEM, once called GENMO, is read: `smpl_params.pt`, one person in SMPL-X, y-up.

The layout is GVHMR's under other names: `body_params_global` and `body_params_incam`.
"""

from __future__ import annotations

from phuma.core.human_motion import HumanMotion
from phuma.errors import ReadError
from phuma.io.probe import Probe
from phuma.sources.fields import has
from phuma.sources.gvhmr import read_parameters
from phuma.sources.reader import ReadCfg
from phuma.sources.smpl import Layout
from phuma.sources.tracks import FILM_RATE

FORMAT = "gem"
LAYOUT = Layout(FORMAT, up="y", assumed_fps=FILM_RATE)
WORLD = "body_params_global"


def recognises(probe: Probe) -> bool:
    """Return whether the file is GEM's."""
    return has(probe.content, [WORLD])


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    """Return the one person of the film."""
    parameters = probe.content[WORLD]
    pose = parameters.get("body_pose") if isinstance(parameters, dict) else None
    columns = getattr(pose, "shape", (0,))[-1:]
    if columns and columns[0] > 63:
        raise ReadError(
            probe.path,
            f"{WORLD}.body_pose has {columns[0]} columns: that is GEM-X's body, SOMA, which is not read; "
            "run GEM with its SMPL model, of which 63 come",
        )
    return read_parameters(probe.path, LAYOUT, probe.content, WORLD, cfg)
