"""Pictures show what they should: people on the ground, contacts lit, rejected clips in red."""

import builtins

import numpy as np
import pytest

from phuma.cli.inspect import draw
from phuma.curation import CurateCfg, curate
from phuma.errors import MissingExtraError
from phuma.synth import generate
from phuma.viewer import style
from phuma.viewer.stills import draw_stills

matplotlib = pytest.importorskip("matplotlib")

pytestmark = pytest.mark.slow


def share_of(image: np.ndarray, colour: str) -> float:
    """Share of pixels near a colour."""
    wanted = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return float(np.mean(np.abs(image[..., :3] - wanted).max(axis=-1) < 0.06))


def picture(tmp_path, draw_it) -> np.ndarray:
    from matplotlib.image import imread

    draw_it(tmp_path / "p.png")
    return imread(tmp_path / "p.png")


def test_contacts_are_lit_only_while_they_hold(tmp_path):
    motion = generate("stand", seconds=2.0, seed=0).motion

    def stills(contact):
        def draw_it(path):
            fig = style.figure(8, 2)
            draw_stills(fig.subplots(), motion, contact)
            fig.savefig(path)

        return picture(tmp_path, draw_it)

    standing, flying = stills(np.ones((len(motion), 4))), stills(np.zeros((len(motion), 4)))
    assert share_of(standing, style.CONTACT) > 0.001
    assert share_of(flying, style.CONTACT) == 0
    for image in (standing, flying):
        assert share_of(image, style.LEFT) > 0
        assert share_of(image, style.RIGHT) > 0


def test_kept_and_rejected_clips_are_told_apart(tmp_path):
    motion = generate("walk", seconds=4.0, seed=0).motion
    kept = picture(tmp_path, lambda path: draw(path, "kept", curate(motion)))
    rejected = picture(tmp_path, lambda path: draw(path, "rejected", curate(motion, CurateCfg(ground=0.3))))
    # The lines of the limits are red too, thin ones; a rejected clip is a bar.
    assert share_of(rejected, style.REJECTED) > 2 * share_of(kept, style.REJECTED)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"pip install 'phuma\[plot\]'"):
        style.figure(1, 1)
