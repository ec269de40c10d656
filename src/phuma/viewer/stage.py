"""Draw a clip in a viser scene: the person, the robots, the ground, and what is known of the frame.

Everything is below one node, `/world`, which is rotated so that the first figure has the same heading in every clip.
To follow a motion is to move that node, so the camera belongs to the user and stays as it is from clip to clip.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.errors import ConfigError
from phuma.viewer import style
from phuma.viewer.actors import Person, RobotActor, Shown, floor_line, floor_pieces
from phuma.viewer.floor import floor_point
from phuma.viewer.live import LiveFrame
from phuma.viewer.show import Show

LayoutName = Literal["overlay", "side"]
LAYOUTS = get_args(LayoutName)
SPACING = 1.1  # m between figures that stand side by side
CAMERAS = {"overlay": (3.4, -3.2, 1.75), "side": (4.4, -1.6, 1.75)}
SEEN, MARGIN = 2.6, 1.5  # m across that these see of a row at its middle, and that the outer figures need
LIVE_SHARE = 0.06  # of the way to a live robot that the ground follows it with each picture
LOOK_AT, FOV = (0.0, 0.0, 0.75), 0.44
"""The point that cameras look at, m, where figures face along x, and their field of view, rad."""


class Stage:
    """Draw one show at a time in the scene of a viser server."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.layout: LayoutName = "overlay"
        self.follow = True
        self.shown = Shown()
        self.frame = 0
        self._figures: list[Person | RobotActor] = []
        self._facing = rot.IDENTITY
        scene = server.scene
        scene.set_up_direction("+z")
        scene.configure_default_lights(enabled=True, cast_shadow=False)
        scene.world_axes.visible = False
        self._world = scene.add_frame("/world", show_axes=False)
        scene.add_grid(
            "/world/ground", infinite_grid=True, cell_size=0.5, section_size=1.0, cell_color=style.rgb("#dfe2e7"),
            section_color=style.rgb("#c3c8d0"), fade_distance=14.0, plane_color=style.rgb("#f4f5f7"), plane_opacity=1.0,
            shadow_opacity=0.0,
        )  # fmt: skip
        server.initial_camera.fov = FOV
        self._aimed: tuple[float, ...] = ()
        self._lines: dict[str, tuple[Any, Array]] = {}
        self.still = False
        """Whether the ground stays where it is, as while somebody draws on it"""
        self._live_at: Array | None = None
        """(3,) m on the ground: where the robot of a live simulation is, smoothed; None where there is none"""
        self._clip: Any = None
        self._count = 0

    def load(self, show: Show) -> None:
        """Show another clip from its first frame."""
        with self._server.atomic():
            if self._clip is not None:
                self._clip.remove()
            # Another name each time: a browser gives the pose of a removed node to the next one of its name.
            self._count += 1
            self._clip = self._server.scene.add_frame(f"/world/{self._count}", show_axes=False)
            self._lines, self._live_at, self.still = {}, None, False
            self._figures = self._make(show, f"/world/{self._count}")
            self._facing = rot.from_axis("z", -self._heading())
            self._world.wxyz = self._facing
            self._place()
            self._aim()
            self.pose(0)

    def _make(self, show: Show, below: str) -> list[Person | RobotActor]:
        scene = self._server.scene
        out: list[Person | RobotActor] = []
        if show.human is not None:
            out.append(Person(scene, f"{below}/human", show.human, show.contact))
        for k, performer in enumerate(show):
            out.append(RobotActor(scene, f"{below}/robot{k}", performer, style.PERFORMERS[k % len(style.PERFORMERS)]))
        return out

    def pose(self, frame: int) -> None:
        """Pose all figures that can be seen at a frame, in one batch of messages: a third of them are of the person,
        who is not drawn beside a robot that has a skeleton inside."""
        self.frame = frame
        with self._server.atomic():
            for figure in filter(self._is_visible, self._figures):
                figure.pose(frame, self.shown)
            self._centre()

    def pose_live(self, performer: str, seen: LiveFrame) -> None:
        """Pose one robot as a live simulation has it, and the others at the frame that it is in."""
        self.frame = seen.frame
        ground = seen.qpos[:3] * [1.0, 1.0, 0.0]
        before = ground if self._live_at is None else self._live_at
        self._live_at = before + LIVE_SHARE * (ground - before)
        with self._server.atomic():
            for figure in self._figures:
                if isinstance(figure, RobotActor) and figure.id == performer:
                    figure.pose_at(seen.qpos, seen.fallen and self.shown.violations)
                else:
                    figure.pose(seen.frame, self.shown)
            self._centre()

    def end_live(self) -> None:
        """Pose all figures as they are recorded."""
        if self._live_at is not None:
            self._live_at = None
            self.pose(self.frame)

    def draw_lines(self, lines: Mapping[str, tuple[Array, str]]) -> None:
        """Draw lines (P, 2) m on the floor in their colours, instead of those of the same names."""
        for name, (places, colour) in lines.items():
            node, before = self._lines.get(name, (None, None))
            if before is not None and np.array_equal(before, places):
                continue
            if node is None:
                node = floor_line(self._server.scene, f"/world/{self._count}/{name}", places, colour)
            else:
                node.points, node.visible = floor_pieces(places), len(places) > 1
            self._lines[name] = (node, places)

    def floor_at(self, u: float, v: float) -> list[float]:
        """Return x, y in m of the floor where the last camera sees it at (u, v) of its picture, 0 to 1 across, down."""
        clients = list(self._server.get_clients().values())
        if not clients:
            raise ConfigError("no picture is there to draw in yet")
        camera = clients[-1].camera
        seen = floor_point(camera.position, camera.wxyz, camera.fov, camera.aspect, u, v)
        x, y, _ = rot.rotate_back(self._facing, seen - self._world.position)
        return [float(x), float(y)]

    def _centre(self) -> None:
        """Move the ground so that the figures are in the middle, or where they began."""
        if self.still:
            return
        middle = self._live_at if self._live_at is not None and self.follow else None
        if middle is None:
            middle = self._middle(self.frame if self.follow else 0)
        self._world.position = rot.rotate(self._facing, -middle)

    def set_layout(self, layout: str) -> None:
        if layout not in LAYOUTS:
            raise ConfigError(f"no layout {layout!r}; there are: {', '.join(LAYOUTS)}")
        self.layout = layout  # type: ignore[assignment]
        with self._server.atomic():
            self._place()
            self._aim()
            self.pose(self.frame)

    def set_shown(self, shown: Shown) -> None:
        self.shown = shown
        with self._server.atomic():
            self._place()
            self.pose(self.frame)

    def set_follow(self, follow: bool) -> None:
        self.follow = follow
        self.pose(self.frame)

    def reset_camera(self) -> None:
        """Move all cameras back to where they were on opening."""
        camera = self._server.initial_camera
        for client in self._server.get_clients().values():
            with client.atomic():
                client.camera.position, client.camera.look_at = camera.position, camera.look_at
                client.camera.fov = camera.fov

    def _place(self) -> None:
        """Overlay the figures, or put them side by side, at right angles to the first one's heading."""
        side = self.layout == "side"
        visible = [f for f in self._figures if self._is_visible(f)]
        across = np.array([-np.sin(self._heading()), np.cos(self._heading()), 0.0])
        for figure in self._figures:
            k = visible.index(figure) if figure in visible else 0
            figure.place(across * SPACING * ((len(visible) - 1) / 2 - k) * side, figure in visible)
            if isinstance(figure, RobotActor):
                figure.blend(self.layout == "overlay", self.shown.human)
            figure.path.visible = self.shown.paths and figure in visible

    def _is_visible(self, figure: Person | RobotActor) -> bool:
        if isinstance(figure, RobotActor):
            return self.shown.robots
        # Overlaid, a robot is seen with the person whose bones are as long as its own.
        alone = not any(f for f in self._figures if isinstance(f, RobotActor) and f.has_skeleton)
        return self.shown.human and (self.layout == "side" or alone or not self.shown.robots)

    def _aim(self) -> None:
        """Set where cameras start: in front of the figures, far enough for all. They move only when that changes."""
        beside = sum(map(self._is_visible, self._figures)) - 1 if self.layout == "side" else 0
        far = max(1.0, (SPACING * max(0, beside) + MARGIN) / SEEN)
        x, y, z = CAMERAS[self.layout]
        wanted = far * x, far * y, LOOK_AT[2] + far * (z - LOOK_AT[2])
        if wanted != self._aimed:
            self._aimed = wanted
            self._server.initial_camera.position, self._server.initial_camera.look_at = wanted, LOOK_AT
            self.reset_camera()

    def _heading(self) -> float:
        return self._figures[0].heading if self._figures else 0.0

    def _middle(self, frame: int) -> Array:
        """Return (3,) m: the mean position of the figures, on the ground."""
        return np.mean([f.ground_path[frame] for f in self._figures], axis=0) if self._figures else np.zeros(3)
