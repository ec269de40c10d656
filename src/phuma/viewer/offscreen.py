"""Draw with MuJoCo on machines without a screen or a graphics card."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from types import TracebackType
from typing import Any

import mujoco
import numpy as np

from phuma.core.rotations import Array
from phuma.errors import PhumaError

PACKAGES = {"egl": "libegl1 libgl1-mesa-dri", "osmesa": "libosmesa6"}
"""The ways to draw without a screen, and the Debian packages that each needs."""
MAX_GEOMS = 4000
BACKGROUND = (mujoco.mjtRndFlag.mjRND_SKYBOX, mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_HAZE)
"""What MuJoCo draws besides geoms; without it what is no geom is black"""


class Offscreen:
    """Draw pictures of a model, any number of them, in turn with others; use it as a context manager.

    It stands in for mujoco.Renderer, whose backend is fixed when mujoco is first imported, long before anybody knows
    that there will be a picture.
    """

    def __init__(self, model: mujoco.MjModel, width: int, height: int) -> None:
        self.model = model
        self._context = _gl_context(width, height)
        self._context.make_current()
        self._scene = mujoco.MjvScene(model, MAX_GEOMS)
        self._drawing = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._drawing)
        self._page = mujoco.MjrRect(0, 0, width, height)

    def __enter__(self) -> Offscreen:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, at: TracebackType | None) -> None:
        self._context.make_current()
        self._drawing.free()
        self._context.free()

    def draw(
        self,
        data: mujoco.MjData,
        camera: mujoco.MjvCamera,
        option: mujoco.MjvOption,
        *more: Callable[[mujoco.MjvScene], None],
    ) -> Array:
        """Return a picture (H, W, 3) uint8; each of `more` may add geoms to the scene."""
        every = int(mujoco.mjtCatBit.mjCAT_ALL)
        mujoco.mjv_updateScene(self.model, data, option, None, camera, every, self._scene)
        for add in more:
            add(self._scene)
        return self._picture()

    def draw_over(self, picture: Array, more: Callable[[mujoco.MjvScene], None], opacity: float) -> Array:
        """Return the last picture with what `more` adds to its scene laid over it, though things stand before it."""
        kept = {flag: int(self._scene.flags[flag]) for flag in BACKGROUND}
        for flag in BACKGROUND:
            self._scene.flags[flag] = 0
        self._scene.ngeom = 0
        more(self._scene)
        over = self._picture()
        for flag, value in kept.items():
            self._scene.flags[flag] = value
        drawn = over.any(axis=-1, keepdims=True)
        return np.where(drawn, opacity * over + (1 - opacity) * picture, picture).astype(np.uint8)

    def _picture(self) -> Array:
        self._context.make_current()  # another one may have drawn in between
        picture = np.empty((self._page.height, self._page.width, 3), dtype=np.uint8)
        mujoco.mjr_render(self._page, self._scene, self._drawing)
        mujoco.mjr_readPixels(picture, None, self._page, self._drawing)
        return picture[::-1]


def _gl_context(width: int, height: int) -> Any:
    """Return the first OpenGL context that works here, or the one that MUJOCO_GL names."""
    chosen = os.environ.get("MUJOCO_GL", "").lower()
    tried = []
    for way in [chosen] if chosen in PACKAGES or chosen == "glfw" else list(PACKAGES):
        try:
            return import_module(f"mujoco.{way}").GLContext(width, height)
        except Exception as e:  # whatever a missing driver makes of it
            tried.append(f"{way}: {type(e).__name__} {e}")
            os.environ.pop("PYOPENGL_PLATFORM", None)  # the module that failed has set it, and the next one minds
    install = " or ".join(f"`apt install {packages}`" for packages in PACKAGES.values())
    raise PhumaError(f"a picture of a robot needs EGL or OSMesa: {install} ({'; '.join(tried)})")
