"""Which frame is due follows from the time alone. The clock here goes as it is told, in steps that floats hold."""

import pytest

from phuma.errors import ConfigError
from phuma.viewer.player import SPEEDS, Player

FPS, FRAMES = 32.0, 20
STEP = 1 / 256  # s, an eighth of a frame


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def player(clock):
    return Player(FRAMES, FPS, clock)


def frames_of(player, clock, steps):
    """The frame at every step of the clock, from now on."""
    seen = []
    for _ in range(steps):
        seen.append(player.frame)
        clock.now += STEP
    return seen


@pytest.mark.parametrize("speed", [0.25, 0.5, 1.0, 2.0, 4.0])
def test_frames_follow_from_the_time_and_begin_again(player, clock, speed):
    player.set_speed(speed)
    player.play()
    assert frames_of(player, clock, 700) == [int(n * STEP * FPS * speed) % FRAMES for n in range(700)]
    assert player.playing


def test_a_frame_is_seen_as_long_as_any_other(player, clock):
    player.play()
    seen = frames_of(player, clock, 8 * FRAMES)
    assert [seen.count(frame) for frame in range(FRAMES)] == [8] * FRAMES


def test_whoever_is_late_leaves_frames_out_and_is_where_the_others_are(clock):
    often, seldom = (Player(FRAMES, FPS, clock) for _ in range(2))
    for player in (often, seldom):
        player.play()
    for late in (3, 50, 1, 129, 900, 7):
        frames_of(often, clock, late)
        assert seldom.frame == often.frame
    assert seldom.frame == int((3 + 50 + 1 + 129 + 900 + 7) / 8) % FRAMES


def test_it_does_not_play_before_it_is_told_to_and_not_after_a_pause(player, clock):
    assert not player.playing
    assert set(frames_of(player, clock, 500)) == {0}
    player.play()
    clock.now += 5.5 / FPS
    player.pause()
    assert not player.playing
    assert set(frames_of(player, clock, 500)) == {5}
    player.play()
    assert frames_of(player, clock, 5) == [5, 5, 5, 5, 6]  # half a frame was over


def test_a_pause_after_many_rounds_and_a_second_play_change_nothing(player, clock):
    player.play()
    clock.now += (7 * FRAMES + 4.5) / FPS
    player.pause()
    assert player.frame == 4
    player.play()
    clock.now += 1 / FPS
    player.play()
    assert frames_of(player, clock, 5) == [5, 5, 5, 5, 6]


def test_without_a_loop_it_ends_with_its_last_frame_and_begins_anew(player, clock):
    player.set_loop(False)
    player.play()
    clock.now += (FRAMES - 1) / FPS
    assert frames_of(player, clock, 8) == [FRAMES - 1] * 8
    assert player.playing, "the last frame is seen as long as the others"
    assert player.frame == FRAMES - 1
    assert not player.playing
    assert set(frames_of(player, clock, 300)) == {FRAMES - 1}
    player.play()
    assert frames_of(player, clock, 17) == [0] * 8 + [1] * 8 + [2]


def test_it_ends_however_late_it_is_asked(player, clock):
    player.set_loop(False)
    player.play()
    clock.now += 1e6
    assert player.frame == FRAMES - 1
    assert not player.playing


def test_loop_on_and_off_keeps_the_place(player, clock):
    player.play()
    clock.now += (3 * FRAMES + 6.5) / FPS
    player.set_loop(False)
    assert player.frame == 6
    clock.now += 1 / FPS
    player.set_loop(True)
    assert frames_of(player, clock, 5) == [7, 7, 7, 7, 8]
    clock.now += FRAMES / FPS
    assert player.playing
    assert player.frame == 8


@pytest.mark.parametrize("plays", [False, True])
@pytest.mark.parametrize(("wanted", "found"), [(0, 0), (13, 13), (19, 19), (20, 19), (10**30, 19), (-1, 0)])
def test_seek_goes_to_the_start_of_a_frame_of_the_clip(player, clock, plays, wanted, found):
    if plays:
        player.play()
    clock.now += 2.7 / FPS
    player.seek(wanted)
    seen = frames_of(player, clock, 9)
    assert seen == [found] * 8 + [(found + 1) % FRAMES if plays else found]
    assert player.playing == plays


def test_after_a_seek_a_clip_that_had_ended_goes_on_from_there(player, clock):
    player.set_loop(False)
    player.play()
    clock.now += 100
    assert player.frame == FRAMES - 1
    player.seek(4)
    player.play()
    assert frames_of(player, clock, 9) == [4] * 8 + [5]


def test_another_speed_keeps_the_place(player, clock):
    player.play()
    clock.now += (2 * FRAMES + 3.5) / FPS
    for speed in (4.0, 0.05, 0.25):
        player.set_speed(speed)
        assert player.frame == 3
    assert frames_of(player, clock, 17) == [3] * 16 + [4]  # half a frame at a quarter of the speed
    player.pause()
    player.set_speed(2.0)
    assert set(frames_of(player, clock, 100)) == {4}


@pytest.mark.parametrize("speed", [0.0, -1.0, SPEEDS[0] / 2, SPEEDS[1] * 2, float("nan"), float("inf")])
def test_a_speed_that_nobody_can_watch_is_refused_and_changes_nothing(player, speed):
    with pytest.raises(ConfigError, match=r"a speed of \S+; expected 0\.05 to 4"):
        player.set_speed(speed)
    assert player.speed == 1.0


@pytest.mark.parametrize("speed", [0.25, 1.0, 4.0])
def test_the_pause_ends_when_the_next_frame_is_due_and_not_before(player, clock, speed):
    player.set_speed(speed)
    player.play()
    for odd in (0.0, 3 * STEP, 0.4, 1.13):
        clock.now += odd
        before, pause = player.frame, player.pause_to_next
        assert 0 < pause <= 1 / (FPS * speed)
        start = clock.now
        clock.now = start + 0.99 * pause
        assert player.frame == before
        clock.now = start + 1.01 * pause
        assert player.frame == (before + 1) % FRAMES


def test_a_clip_of_one_frame(clock):
    player = Player(1, FPS, clock)
    player.play()
    assert set(frames_of(player, clock, 50)) == {0}
    player.set_loop(False)
    clock.now += 1
    assert player.frame == 0
    assert not player.playing
