"""One person is followed: the one who was asked for, found again when lost, and the others are counted."""

import numpy as np
import pytest

from tests.video.films import BEAM, PAIR, WALK

pytest.importorskip("ai_edge_litert")
pytest.importorskip("imageio_ffmpeg")

from phuma.video.detector import Detector
from phuma.video.film import open_film
from phuma.video.frames import frames
from phuma.video.landmarker import Landmarker
from phuma.video.people import hips, search
from phuma.video.region import MARGIN
from phuma.video.tracking import SteadyRegion, Tracker
from phuma.video.weights import DETECTOR, LANDMARKERS


@pytest.fixture(scope="module")
def networks(weights):
    return Detector(DETECTOR.path), Landmarker(LANDMARKERS["full"].path)


def pictures_of(path, count=None):
    return list(frames(open_film(path)))[:count]


def test_a_walk_is_followed_from_side_to_side(networks):
    pictures = pictures_of(WALK)
    sights = list(map(Tracker(*networks, 30.0), pictures))
    assert all(sight.pose is not None for sight in sights)
    x = np.array([hips(sight.pose)[0] for sight in sights])
    assert x[0] - x[-1] > 0.4 * 852  # she walks to the left
    assert np.abs(np.diff(x)).max() < 15


def test_the_picture_is_searched_once_a_second_and_people_are_counted(networks):
    sights = list(map(Tracker(*networks, 30.0), pictures_of(PAIR)))
    assert [i for i, s in enumerate(sights) if s.people is not None] == [0, 30]
    assert sights[0].people == 2
    assert [s.people for s in map(Tracker(*networks, 60.0), pictures_of(BEAM, 2))] == [1, None]


def test_people_are_chosen_from_the_left_and_else_the_largest(networks):
    """The man stands to the left of the woman behind him, and is larger."""
    picture = pictures_of(PAIR, 1)[0]
    left, right, anybody = (hips(Tracker(*networks, 30.0, n)(picture).pose)[0] for n in (1, 2, None))
    assert left < 180 < right
    assert anybody == left
    assert Tracker(*networks, 30.0, 3)(picture).pose is None


def test_a_search_finds_everybody_once_but_for_the_one_who_is_known(networks):
    picture = pictures_of(PAIR, 1)[0]
    people = search(picture, *networks)
    assert len(people) == 2
    others = search(picture, *networks, people[0].pose)
    assert len(others) == 1
    assert np.abs(others[0].pose.image - people[1].pose.image).mean() < 5
    assert search(np.zeros_like(picture), *networks) == []


def test_a_person_who_is_lost_is_found_again_and_not_somebody_else(networks):
    pictures = pictures_of(PAIR, 4)
    black = np.zeros_like(pictures[0])
    tracker = Tracker(*networks, 30.0, 2)
    before = tracker(pictures[0])
    assert [tracker(black).pose for _ in range(8)] == [None] * 8
    after = [tracker(pictures[1]) for _ in range(5)]
    found = next(sight.pose for sight in after if sight.pose is not None)
    assert np.linalg.norm(hips(found) - hips(before.pose)) < 20


def test_after_a_cut_somebody_is_searched_for_at_once(networks):
    tracker = Tracker(*networks, 30.0)
    tracker(pictures_of(BEAM, 1)[0])
    tracker.cut()
    assert tracker(pictures_of(PAIR, 1)[0]).people == 2


def test_a_steady_region_stands_still_under_noise_and_follows_motion():
    rng = np.random.default_rng(0)
    points = np.array([[300.0, 300.0], [300.0, 100.0]])
    steady, noise = SteadyRegion(30.0), rng.normal(0, 1.0, (200, 2, 2))
    still = np.array([(r.x, r.y) for r in (steady(points + n) for n in noise)])
    assert still[20:].std() < 0.3 * noise[20:].std()
    steady = SteadyRegion(30.0)
    ahead = [steady(points + [5.0 * t, 0.0]).x - (300 + 5 * t) for t in range(60)]
    assert abs(ahead[-1]) < 0.05 * 400
    assert steady(points + [300.0, 0.0]).size == pytest.approx(2 * MARGIN * 200, rel=0.02)
