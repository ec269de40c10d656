"""Each fault of a film is found where it is and nowhere else, on films that have it and on landmarks made for it."""

from dataclasses import fields, replace

import numpy as np
import pytest

from phuma.video.checks import CHECKS, Finding, checked_film, clock
from phuma.video.estimate import findings_so_far
from phuma.video.landmarks import NAMES, Landmarks
from phuma.video.pictures import Pictures
from phuma.video.stretches import frames_of
from tests.video.films import BEAM, PAIR, WALK, edited, joined

FPS, FRAMES, SIZE = 30.0, 150, (640, 480)


def good_film(frames: int = FRAMES) -> tuple[Landmarks, Pictures]:
    """A person 300 px tall who steps in place before a still camera."""
    heights = {"shoulder": -0.5, "hip": 0.0, "knee": 0.45, "ankle": 0.85, "heel": 0.9, "foot_index": 0.9}
    world = np.zeros((frames, len(NAMES), 3))
    phase = 2 * np.pi * np.arange(frames) / FPS
    for i, name in enumerate(NAMES):
        part = name.partition("_")[2]
        left = 1.0 if "left" in name else -1.0 if "right" in name else 0.0
        world[:, i, 0], world[:, i, 1] = 0.12 * left, heights.get(part, -0.7)
        if part in ("knee", "ankle", "heel", "foot_index"):
            world[:, i, 2] = 0.15 * left * np.sin(phase)
    image = world[..., :2] * 180 + [320, 240]
    landmarks = Landmarks(FPS, SIZE, image, world, np.full((frames, 33), 0.95), np.full(frames, 0.99))
    flat = np.zeros(frames)
    searched = np.where(np.arange(frames) % 30 == 0, 1.0, -1.0)
    return landmarks, Pictures(flat, flat + 90, flat + 120, flat + 0.001, flat, flat, flat, flat, searched)


def found(landmarks: Landmarks, pictures: Pictures) -> dict[str, list[Finding]]:
    findings, _ = checked_film(landmarks, pictures)
    return {kind: [f for f in findings if f.kind == kind] for kind in {f.kind for f in findings}}


def test_a_good_film_has_no_findings_and_is_used_whole():
    assert checked_film(*good_film()) == ([], [(0, FRAMES)])


def test_every_kind_is_told_once_with_its_own_words():
    assert len({c.kind for c in CHECKS}) == len({c.words for c in CHECKS}) == len(CHECKS)


def with_value(table, name, part, value):
    column = np.array(getattr(table, name))
    column[part] = value
    return replace(table, **{name: column})


LATER = slice(60, 90)
SPOILED = {
    "nobody": lambda lm, p: (with_value(lm, "presence", LATER, 0.0), p),
    "legs": lambda lm, p: (with_value(lm, "visibility", (LATER, [27, 28]), 0.06), p),
    "camera": lambda lm, p: (lm, with_value(with_value(p, "flow", LATER, 0.038), "rest", LATER, 0.038)),
    "still": lambda lm, p: (lm, with_value(p, "change", LATER, 1.0)),
}
NOTED = {
    "dark": lambda lm, p: (lm, with_value(p, "light", LATER, 10.0)),
    "small": lambda lm, p: (with_value(lm, "image", LATER, np.array(lm.image[LATER]) * 0.2 + 200), p),
    "people": lambda lm, p: (lm, with_value(p, "people", [60], 2.0)),
}


@pytest.mark.parametrize("kind", SPOILED)
def test_what_spoils_frames_is_told_by_time_and_the_rest_is_used(kind):
    landmarks, pictures = SPOILED[kind](*good_film())
    findings, stretches = checked_film(landmarks, pictures, offset=10.0)
    (finding,) = findings
    assert (finding.kind, finding.spoils) == (kind, True)
    assert finding.start == pytest.approx(12.0, abs=0.1)
    assert finding.end == pytest.approx(13.0, abs=0.1)
    assert finding.text.startswith("0:1")
    (first, second) = stretches
    assert first[0] == 0
    assert abs(first[1] - 60) <= 3
    assert abs(second[0] - 90) <= 3
    assert second[1] == FRAMES


@pytest.mark.parametrize("kind", NOTED)
def test_what_is_only_noted_leaves_the_film_whole(kind):
    findings, stretches = checked_film(*NOTED[kind](*good_film()))
    assert kind in [f.kind for f in findings]
    assert not next(f for f in findings if f.kind == kind).spoils
    # A person who is suddenly far away would also be somebody else.
    assert stretches == [(0, FRAMES)] or kind == "small"


def test_legs_that_lie_beyond_the_picture_are_out_of_it_even_if_the_network_trusts_them():
    landmarks, pictures = good_film()
    image = np.array(landmarks.image)
    image[LATER, :, 1] += 200
    assert "legs" in found(replace(landmarks, image=image), pictures)


def test_what_lasts_a_tenth_of_a_second_is_overlooked():
    landmarks, pictures = good_film()
    short = slice(60, 63)
    landmarks = with_value(landmarks, "presence", short, 0.0)
    assert checked_film(landmarks, with_value(pictures, "change", short, 0.0)) == ([], [(0, FRAMES)])


def test_pieces_under_a_second_are_left_out_and_frames_without_a_person_at_the_ends():
    landmarks, pictures = good_film()
    landmarks = with_value(landmarks, "presence", slice(0, 4), 0.0)
    landmarks = with_value(landmarks, "presence", slice(100, 130), 0.0)
    assert checked_film(landmarks, pictures)[1] == [(4, 100)]


def test_a_cut_parts_the_film():
    landmarks, pictures = good_film()
    findings, stretches = checked_film(landmarks, with_value(pictures, "cut", [75], 1.0))
    assert [(f.text, f.spoils) for f in findings] == [("0:02.5: a cut", False)]
    assert stretches == [(0, 75), (75, FRAMES)]


def test_somebody_who_is_suddenly_elsewhere_is_somebody_else_also_after_a_gap():
    landmarks, pictures = good_film()
    image = np.array(landmarks.image)
    image[80:, :, 0] += 250
    moved = replace(landmarks, image=image)
    assert found(moved, pictures)["jump"][0].start == pytest.approx(80 / FPS)
    gone = with_value(moved, "presence", slice(77, 80), 0.0)
    findings, stretches = checked_film(gone, pictures)
    assert [f.kind for f in findings] == ["jump"]
    assert stretches == [(0, 77), (80, FRAMES)]
    slowly = image.copy()
    slowly[:, :, 0] = np.array(landmarks.image)[:, :, 0] + np.linspace(0, 250, FRAMES)[:, None]
    assert not found(replace(landmarks, image=slowly), pictures)


def swapped(landmarks: Landmarks, part: slice) -> Landmarks:
    """The same with left and right exchanged in some frames, as the network does it."""
    order = [NAMES.index(n.replace("left", "R").replace("right", "left").replace("R", "right")) for n in NAMES]
    world, image = np.array(landmarks.world), np.array(landmarks.image)
    world[part], image[part] = world[part][:, order], image[part][:, order]
    return replace(landmarks, world=world, image=image)


def test_exchanged_legs_are_found_where_they_are_and_crossing_legs_are_not():
    landmarks, pictures = good_film()
    findings, stretches = checked_film(swapped(landmarks, slice(52, 112)), pictures)
    assert [(f.kind, round(f.start * FPS)) for f in findings] == [("sides", 52), ("sides", 112)]
    assert stretches == [(0, 52), (52, 112), (112, FRAMES)]


def test_legs_that_are_exchanged_for_a_moment_are_told_and_the_film_stays_whole():
    """Lifting puts them right."""
    landmarks, pictures = good_film()
    for part in (slice(70, 72), slice(70, 95)):
        (finding,), stretches = checked_film(swapped(landmarks, part), pictures)
        assert (finding.kind, finding.spoils) == ("exchanged", False)
        assert finding.start == pytest.approx(70 / FPS)
        assert stretches == [(0, FRAMES)]


def test_legs_are_said_to_stay_exchanged_only_after_the_moment_in_which_they_may_change_back():
    landmarks, pictures = good_film()

    def kinds(seen: Landmarks, frames: int) -> list[str]:
        so_far = Pictures(*(getattr(pictures, field.name)[:frames] for field in fields(Pictures)))
        return [f.kind for f in findings_so_far(frames_of(seen, slice(frames)), so_far, 0.0)]

    back = swapped(landmarks, slice(70, 95))
    assert not any(kinds(back, frames) for frames in range(60, 96))
    assert kinds(back, 96) == ["exchanged"]
    stays = swapped(landmarks, slice(52, 112))
    known = 52 + round(FPS) + 1
    assert not any(kinds(stays, frames) for frames in range(40, known))
    assert kinds(stays, known) == ["sides"]


def test_mirror_images_have_the_same_findings():
    landmarks, pictures = good_film()
    bad = swapped(with_value(landmarks, "visibility", (slice(0, 20), [27, 28]), 0.1), slice(80, FRAMES))
    mirrored = replace(
        swapped(bad, slice(None)),
        image=np.array(swapped(bad, slice(None)).image) * [-1, 1] + [SIZE[0], 0],
        world=np.array(swapped(bad, slice(None)).world) * [-1, 1, 1],
    )
    assert checked_film(bad, pictures) == checked_film(mirrored, pictures)


def test_a_person_who_lies_in_most_of_the_film_is_told_and_one_who_bends_down_is_not():
    landmarks, pictures = good_film()
    turned = np.array(landmarks.image)[..., ::-1] * [1, 1]
    assert "turned" in found(replace(landmarks, image=turned), pictures)
    short = np.array(landmarks.image)
    short[LATER] = turned[LATER] + (short[60, 23] - turned[60, 23])
    assert "turned" not in found(replace(landmarks, image=short), pictures)


def test_times_are_written_as_people_do():
    assert [clock(s) for s in (0, 4.9, 61, 3725)] == ["0:00", "0:04", "1:01", "1:02:05"]


# From here on with films and the real networks.


@pytest.fixture(scope="module")
def seen(weights):
    pytest.importorskip("ai_edge_litert")
    from phuma.video.estimate import landmarks_of

    def look(path, **settings):
        landmarks, findings, info, _ = landmarks_of(path, **settings)
        return {f.kind: f for f in reversed(findings)}, info.stretches, landmarks

    return look


@pytest.mark.slow
@pytest.mark.parametrize(("path", "frames"), [(WALK, 102), (BEAM, 100)])
def test_good_films_are_used_whole(seen, path, frames):
    kinds, stretches, landmarks = seen(path)
    assert kinds == {}
    assert stretches == [(0, frames)]
    assert landmarks.presence.min() > 0.5


@pytest.mark.slow
def test_a_second_person_is_noted(seen):
    kinds, stretches, _ = seen(PAIR)
    assert set(kinds) == {"people"}
    assert stretches == [(0, 40)]


@pytest.mark.slow
@pytest.mark.parametrize(("speed", "moves"), [(0.0, False), (0.04, True), (0.3, True)])
def test_a_camera_that_pans_is_told_and_its_film_used(seen, tmp_path, speed, moves):
    """The window of 600 px runs to the left over the film, as the walk does."""
    path = edited(tmp_path / "pan.mp4", f"crop=600:320:x='max(0,252-{speed}*600*t)':y=0,trim=end=2")
    kinds, stretches, _ = seen(path)
    assert bool({"turning", "camera"} & set(kinds)) == moves
    assert stretches == [(0, 60)] or speed == 0.3  # the fast one arrives at the edge with a jerk


@pytest.mark.slow
def test_a_zoom_and_a_shake_are_moving_cameras_and_changing_light_is_not(seen, tmp_path):
    zoom = edited(tmp_path / "zoom.mp4", "zoompan=z='1+0.1*in_time':d=1:s=852x320:fps=30,trim=end=2")
    shake = edited(tmp_path / "shake.mp4", "crop=800:300:x='26+8*sin(t*9)':y='10+6*sin(t*7)',trim=end=2")
    light = edited(tmp_path / "light.mp4", "eq=brightness='0.1*sin(12*t)':eval=frame,trim=end=2")
    assert "camera" in seen(zoom)[0]
    assert "camera" in seen(shake)[0]
    assert seen(light)[0] == {}


@pytest.mark.slow
def test_a_cut_is_found_where_it_is_and_both_shots_are_used(seen, tmp_path):
    kinds, stretches, _ = seen(joined(tmp_path / "cut.mp4", BEAM, WALK))
    assert kinds["cut"].start == pytest.approx(50 / 30, abs=0.04)
    assert stretches == [(0, 50), (50, 152)]


@pytest.mark.slow
def test_legs_out_of_the_picture_are_told(seen, tmp_path):
    kinds, stretches, _ = seen(edited(tmp_path / "legs.mp4", "crop=360:290:0:0", BEAM))
    assert set(kinds) - {"people"} == {"legs"}
    assert kinds["legs"].text == "0:00 to 0:02: legs out of the picture"
    assert stretches == []


@pytest.mark.slow
def test_an_upside_down_film_is_told(seen, tmp_path):
    kinds, _, _ = seen(edited(tmp_path / "upside.mp4", "hflip,vflip", BEAM))
    assert "turned" in kinds


@pytest.mark.slow
def test_nobody_night_and_a_still_picture_are_told(seen, tmp_path):
    empty, stretches, _ = seen(edited(tmp_path / "empty.mp4", "crop=100:100:0:0,scale=320:320,trim=end=1.5"))
    assert "nobody" in empty
    assert stretches == []
    night, stretches, _ = seen(edited(tmp_path / "night.mp4", "eq=brightness=-0.5:contrast=0.25,trim=end=1", BEAM))
    assert "dark" in night
    still, stretches, _ = seen(
        edited(tmp_path / "still.mp4", "trim=end_frame=1,loop=45:1,setpts=N/30/TB", BEAM, "-r", "30")
    )
    assert "still" in still
    assert stretches == []
