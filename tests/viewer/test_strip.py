"""What was recorded, below a film: in step with it, and only where there is room."""

from dataclasses import replace

import numpy as np
import pytest

from phuma.robots import load_robot
from phuma.viewer.film import film, frames_of
from phuma.viewer.show import Track
from phuma.viewer.strip import HEIGHT, LINE, Plot, Strip
from tests.viewer.test_film import can_draw, iio, waving

pytest.importorskip("matplotlib")
drawn = pytest.mark.skipif(not can_draw(), reason="no EGL or OSMesa on this machine")
ROBOT = load_robot("g1")


def plots(frames=12, fps=30.0):
    rising = Track("a", "m", np.linspace(0, 1, frames), (2.0,))
    return [Plot("a [m]", "#000000", rising, fps), Plot("b", "#2a6fbb", Track("b", "", np.full(frames, np.nan)), fps)]


def lines_of(picture):
    """The columns of a strip that hold a line from top to bottom."""
    return np.flatnonzero((picture == LINE).all(axis=-1).sum(axis=0) > HEIGHT / 3)


@pytest.mark.parametrize("width", [320, 322, 638, 641, 2560])
def test_a_strip_is_as_wide_as_its_film(width):
    assert Strip(plots(), 0.4, width).at([0.1]).shape == (HEIGHT, width, 3)


def test_the_line_goes_from_one_end_to_the_other_in_every_panel():
    strip = Strip(plots(), 0.4, 640)
    at = [lines_of(strip.at([time])) for time in (0.0, 0.2, 0.4)]
    assert [len(columns) for columns in at] == [2, 2, 2]
    first, middle, last = np.array(at)
    np.testing.assert_allclose(middle, (first + last) / 2, atol=1)
    assert (last - first > 100).all()
    assert len(lines_of(strip.at([0.0, 0.2, 0.4]))) == 6
    np.testing.assert_array_equal(lines_of(strip.at([9.0])), last, "beyond the end it stays there")


@drawn
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_film_shows_it_in_step(tmp_path):
    film(tmp_path / "x.gif", [waving()], [ROBOT], size=(320, 64), plots=plots())
    shown = iio.imread(tmp_path / "x.gif")
    assert shown.shape[:3] == (12, 64 + HEIGHT, 320)
    changes = [np.abs(frame[64:].astype(int) - shown[0, 64:]).max(axis=(0, 2)) > 60 for frame in shown]
    ends = [int(np.flatnonzero(change).max(initial=0)) for change in changes]
    assert ends == sorted(ends)
    assert ends[-1] > ends[1] + 100


@drawn
@pytest.mark.slow
def test_a_sheet_has_one_for_all_stills_and_a_small_film_none(tmp_path):
    film(tmp_path / "x.png", [waving()], [ROBOT], size=(160, 120), plots=plots())
    sheet = iio.imread(tmp_path / "x.png")
    assert sheet.shape == (2 * 120 + HEIGHT, 4 * 160, 3)
    assert len(lines_of(sheet[240:])) == 2 * 8
    film(tmp_path / "y.gif", [waving()], [ROBOT], size=(160, 120), plots=plots())
    assert iio.imread(tmp_path / "y.gif").shape[1:3] == (120, 160)


@drawn
@pytest.mark.slow
def test_a_human_apart_stands_where_no_robot_is(tmp_path):
    motion = waving(frames=1)
    human = motion.root_pos[:, None] + np.random.default_rng(0).uniform(-0.3, 0.3, (1, 22, 3))
    motion = replace(motion, human_joints=human)

    def blue(**more):
        (picture,) = frames_of([motion], [ROBOT], camera="front", size=(320, 240), **more)
        r, g, b = np.moveaxis(picture.astype(int), -1, 0)
        return np.argwhere((b > r + 60) & (b > g))

    inside, apart = blue(human=True), blue(human=True, apart=True)
    assert len(inside)
    assert len(apart)
    assert abs(apart[:, 1].mean() - inside[:, 1].mean()) > 30
    assert not len(blue(apart=True))
