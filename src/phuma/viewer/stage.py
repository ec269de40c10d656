"""Draw a clip in a viser scene: the person, the robots, the ground, and what is known of the frame.

Everything is below one node, `/world`, which is rotated so that the first figure has the same heading in every clip.
To follow a motion is to move that node, so the camera belongs to the user and stays as it is from clip to clip.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.errors import ConfigError
from phuma.viewer import style
from phuma.viewer.actors import Person, RobotActor, Shown
from phuma.viewer.show import Show

LayoutName = Literal["overlay", "side"]
LAYOUTS = get_args(LayoutName)
SPACING = 1.1  # m between figures that stand side by side
CAMERAS = {"overlay": (3.4, -3.2, 1.75), "side": (4.4, -1.6, 1.75)}
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
            self._world.position = rot.rotate(self._facing, -self._middle(frame if self.follow else 0))

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
        far = 1.0 + 0.16 * max(0, beside)
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
