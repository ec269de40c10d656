"""What motions do for somebody who works with them by hand: save, plot, and show themselves in a notebook.

Files and pictures are made by parts of the package that know of motions, not the other way round; so each method calls
the package's public function of the same purpose.
"""

from __future__ import annotations

import os
from typing import Any


class ByHand:
    """A motion that saves, plots and shows itself."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the motion to a file, which `phuma inspect`, `view` and `render` take: a robot's as .npz, a person's
        as .bvh."""
        import phuma

        phuma.save(path, self)  # type: ignore[arg-type]

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Return a figure of matplotlib with the motion over time; with `path` it is written there too."""
        import phuma

        return phuma.plot(self, path)  # type: ignore[arg-type]

    def _repr_html_(self) -> str | None:
        """Return a small animation for a notebook, which needs neither a server nor a network."""
        import phuma

        try:
            return str(phuma.animation(self))  # type: ignore[arg-type]
        except (
            phuma.PhumaError
        ):  # a robot that is not built in, or a library that is missing: its line of text is shown
            return None
