"""Our decoders say what mediapipe says of the same pictures, and crops are what brute force gives."""

import math

import numpy as np
import pytest

from tests.video.films import BEAM, DATA, WALK

pytest.importorskip("ai_edge_litert")
pytest.importorskip("imageio_ffmpeg")

from phuma.errors import ReadError
from phuma.video.detector import SIZE, Detector, _anchors, decode
from phuma.video.film import open_film
from phuma.video.frames import frames
from phuma.video.landmarker import MAP, POINTS, Landmarker, refined
from phuma.video.region import Region, person_region
from phuma.video.tracking import SteadyRegion
from phuma.video.weights import DETECTOR, LANDMARKERS

FILMS = {
    "walk_alone": (WALK, slice(0, None, 10)),
    "beam_alone": (BEAM, slice(0, None, 10)),
    "walk_track": (WALK, slice(0, 30)),
}


@pytest.fixture(scope="module")
def reference():
    return np.load(DATA / "mediapipe.npz")


@pytest.fixture(scope="module")
def detector(weights):
    return Detector(DETECTOR.path)


@pytest.fixture(scope="module")
def landmarker(weights):
    return Landmarker(LANDMARKERS["full"].path)


def pictures_of(name):
    path, part = FILMS[name]
    return list(frames(open_film(path)))[part]


def region_of(row, picture):
    """A region as mediapipe tells it, in shares of the picture's sides."""
    height, width = picture.shape[:2]
    assert row[2] * width == pytest.approx(row[3] * height, rel=1e-4)
    return Region(row[0] * width, row[1] * height, row[2] * width, row[4])


@pytest.mark.parametrize("name", ["walk_alone", "beam_alone"])
def test_people_are_found_where_mediapipe_finds_them(detector, reference, name):
    for picture, told in zip(pictures_of(name), reference[f"{name}_detection"]):
        height, width = picture.shape[:2]
        found = detector(picture, Region(width / 2, height / 2, max(width, height)))[0]
        scale = np.array([width, height])
        corner = told[1:3] * scale
        assert found.score == pytest.approx(told[0], abs=0.02)
        assert np.abs(found.box - np.concatenate([corner, corner + told[3:5] * scale])).max() < 0.02 * max(
            width, height
        )
        assert np.abs(found.points - told[5:].reshape(4, 2) * scale).max() < 0.02 * max(width, height)


@pytest.mark.parametrize("name", FILMS)
def test_landmarks_agree_with_mediapipe_on_the_same_regions(landmarker, reference, name):
    """Within 2 mm in the median, and so do pixels and visibility: 0.02 mm where the decoder of films is the same."""
    world, image, visibility = [], [], []
    rows = (reference[f"{name}_{key}"] for key in ("region", "image", "world"))
    for picture, region, told_image, told_world in zip(pictures_of(name), *rows):
        pose = landmarker(picture, region_of(region, picture))
        assert pose.presence > 0.5
        scale = picture.shape[1::-1]
        world.append(np.linalg.norm(pose.world - told_world[:, :3], axis=1))
        image.append(np.linalg.norm(pose.image - told_image[:, :2] * scale, axis=1))
        visibility.append(np.abs(pose.visibility - told_image[:, 3]))
    assert np.median(world) < 0.002
    assert np.median(image) < 0.5
    assert np.median(visibility) < 0.01


def test_the_next_region_is_mediapipes(landmarker, reference):
    """Each frame where mediapipe looked, so that differences do not add up."""
    steady = SteadyRegion(30.0)
    for picture, region, following in zip(
        pictures_of("walk_track"), reference["walk_track_region"], reference["walk_track_next"]
    ):
        ours, told = steady(landmarker(picture, region_of(region, picture)).aux), region_of(following, picture)
        assert math.hypot(ours.x - told.x, ours.y - told.y) < 0.01 * told.size
        assert ours.size == pytest.approx(told.size, rel=0.02)
        assert math.remainder(ours.angle - told.angle, 2 * math.pi) == pytest.approx(0, abs=0.02)


def test_a_turned_picture_gives_the_same_landmarks_turned(landmarker, reference):
    """A quarter turn of picture and region together changes nothing but the axes."""
    picture = pictures_of("beam_alone")[0]
    region = region_of(reference["beam_alone_region"][0], picture)
    turned_picture = np.ascontiguousarray(np.rot90(picture, -1))  # clockwise: (x, y) goes to (height - 1 - y, x)
    height = picture.shape[0]
    turned = Region(height - 1 - region.y, region.x, region.size, region.angle + math.pi / 2)
    one, other = landmarker(picture, region), landmarker(turned_picture, turned)
    x, y, z = one.world.T
    assert np.abs(other.world - np.stack([-y, x, z], axis=1)).max() < 0.005
    assert np.abs(other.image - np.stack([height - 1 - one.image[:, 1], one.image[:, 0]], axis=1)).max() < 1


@pytest.mark.parametrize("edge", [True, False])
def test_a_crop_is_bilinear_interpolation_with_the_edge_or_black_beyond(edge):
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 256, (30, 40, 3), np.uint8)
    region = Region(33.0, 8.0, 32.0, 0.6)
    crop = region.crop(picture, 16, -1.0, 1.0, edge)
    for row, col in np.ndindex(16, 16):
        x, y = (math.floor(v * 32 + 0.5) / 32 for v in region.to_picture(np.array([col, row]) / 16))
        left, top = math.floor(x), math.floor(y)
        value = np.zeros(3)
        for dy, dx in np.ndindex(2, 2):
            weight = (1 - abs(x - left - dx)) * (1 - abs(y - top - dy))
            r, c = top + dy, left + dx
            if edge or (0 <= r < 30 and 0 <= c < 40):
                value += weight * picture[min(max(r, 0), 29), min(max(c, 0), 39)]
        assert np.abs(crop[row, col] - (value / 127.5 - 1)).max() < 0.6 / 127.5


def test_regions_stand_on_the_hips_and_point_along_the_body():
    upright = person_region(np.array([100.0, 200.0]), np.array([100.0, 120.0]))
    assert (upright.x, upright.y, upright.size, upright.angle) == (100, 200, 200, 0)
    assert person_region(np.zeros(2), np.array([5.0, 0.0])).angle == pytest.approx(math.pi / 2)  # the head to the right
    corners = Region(10.0, 10.0, 8.0, math.pi / 2).to_picture(np.array([[0.0, 0.0], [1.0, 0.0]]))
    assert corners == pytest.approx(np.array([[14.0, 6.0], [14.0, 14.0]]))


def test_points_move_to_the_centre_of_their_map_if_it_has_a_peak():
    places, maps = np.full((POINTS, 2), 0.5), np.full((MAP, MAP, POINTS), -50.0, np.float32)
    maps[30, 33, 0] = maps[30, 34, 0] = 50.0  # two cells, as sure as can be
    maps[10, 10, 1] = 50.0  # too far away
    maps[31, 32, 2] = -1.0  # no peak
    places[3] = -0.2, 0.5  # outside
    out = refined(places, maps)
    assert out[0] == pytest.approx([33.5 / MAP, 30 / MAP])
    assert np.array_equal(out[1:], places[1:])


def test_boxes_of_one_person_are_averaged_by_their_scores_and_others_kept():
    values, logits = np.zeros((len(_anchors()), 12), np.float32), np.full((len(_anchors()), 1), -50.0, np.float32)
    first = 14 * 28 * 2 + 28  # in the middle of the finest grid: two anchors in one place, then another person
    for i, logit, size in ((first, math.log(3), 64), (first + 1, math.log(1.5), 64), (0, 0.1, 32)):
        logits[i], values[i, 2:4] = logit, size
    values[first + 1, 0] = 8.0
    people = decode(values, logits)
    assert [round(score, 3) for score, _ in people] == [0.75, 0.525]
    middle = people[0][1][:2].mean(axis=0)
    assert middle == pytest.approx(_anchors()[first] + [8.0 / SIZE * 0.6 / 1.35, 0.0])


def test_a_file_that_is_no_model_or_another_one_is_an_error(weights, tmp_path):
    (tmp_path / "x.tflite").write_bytes(b"no model")
    with pytest.raises(ReadError, match="is no model that LiteRT can run"):
        Detector(tmp_path / "x.tflite")
    with pytest.raises(ReadError, match="is another model"):
        Landmarker(DETECTOR.path)


def test_loading_a_network_writes_nothing_to_the_terminal(weights, capfd):
    Detector(DETECTOR.path)
    assert capfd.readouterr() == ("", "")
