"""`phuma video`: from a film to clips, a robot's motion and a page; the film is looked at once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import phuma
from phuma.cli import video
from phuma.cli.demo import POLICY
from phuma.cli.main import main
from tests.video.films import PAIR, WALK, run
from tests.viewer.test_film import can_draw

pytest.importorskip("ai_edge_litert")
pytest.importorskip("imageio_ffmpeg")

from phuma.core.skeleton import JOINTS
from phuma.formats.robot_motion_file import load_robot_motion
from phuma.video import estimate
from phuma.video.motions import FilmCfg, motions_of_film

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("weights")]
QUICK = ("--method", "sink")


def called(capsys, *words: str | Path) -> tuple[int, str, str]:
    """Run the command; return its exit code and what it printed."""
    capsys.readouterr()
    code = main(["video", *map(str, words)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def data_in(page: Path) -> dict:
    text = page.read_text()
    return json.loads(text.split('id="data">')[1].split("</script>")[0])


@pytest.fixture(scope="module")
def out(weights, tmp_path_factory):
    return tmp_path_factory.mktemp("video") / "out"


@pytest.fixture(scope="module")
def done(out):
    assert main(["video", str(WALK), "--robot", "g1", "--stature", "1.7", "--out", str(out), *QUICK]) == 0
    return json.loads((out / "video.json").read_text())


@pytest.fixture
def no_network(monkeypatch):
    """The network cannot be run: what is known of a film has to come from the cache."""
    for name in ("Landmarker", "Detector", "frames"):
        monkeypatch.setattr(estimate, name, lambda *_: pytest.fail("looks at the film again"))


def test_the_folder_holds_what_the_result_names(done, out):
    assert (done["frames"], done["fps"], done["people"]) == (102, 30.0, 1)
    assert [c["kept"] for c in done["clips"]] == [True]
    assert done["motions"] == ["motions/walk_0000000.npz"]
    names = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    assert names == {"video.json", "page.html", "clips/walk_0000000.npz", *done["motions"]}
    assert any("--focal" in note for note in done["notes"])
    assert not any("stature guessed" in note for note in done["notes"])


def test_from_python_and_by_reading_the_film_it_is_the_same(done, out, no_network):
    video = phuma.from_video(WALK, "g1", 1.7, method="sink")
    stored = load_robot_motion(out / done["motions"][0])
    assert np.allclose(video.motions[0].joint_pos, stored.joint_pos, atol=1e-5)
    assert [clip.verdict.metrics for clip in video.clips] == [row["metrics"] for row in done["clips"]]
    guessed, read = phuma.from_video(WALK, method="sink"), phuma.read(WALK)
    assert np.array_equal(guessed.people[0].joint_quat, read.joint_quat)
    assert guessed.people[0].provenance == read.provenance


def test_a_taller_person_has_longer_bones(done, no_network):
    """All lengths follow the stature that is given."""
    knee, ankle = JOINTS.index("left_knee"), JOINTS.index("left_ankle")
    shin = [
        np.linalg.norm(m.pose.position[0, knee] - m.pose.position[0, ankle])
        for stature in (1.6, 1.92)
        for m in [motions_of_film(WALK, FilmCfg(stature=stature)).lifted[0].motion]
    ]
    assert shin[1] / shin[0] == pytest.approx(1.2, rel=0.02)


def test_other_settings_need_no_second_look(done, tmp_path, capsys, no_network):
    code, _, said = called(
        capsys, WALK, "--out", tmp_path / "o", "--stature", "1.9", "--focal", "900", "--json", *QUICK
    )
    assert code == 0
    assert "known from an earlier run" in said


class RecordedBar:
    """A bar that keeps what it showed."""

    def __init__(self, shown: list, unit: str, total: int | None, done: int, title: str) -> None:
        self.shown, self.total, self.n, self.title = shown, total, done, title

    def update(self, count: int) -> None:
        self.n += count
        self.shown.append((self.title, self.n, self.total))

    def close(self) -> None:
        self.shown.append((self.title, "closed", self.total))


def test_it_is_shown_what_is_done_and_how_far_also_after_the_network(done, tmp_path, capsys, monkeypatch):
    """Frames that were seen, frames that were lifted, clips on the robot: one bar after another, each to its end."""
    shown: list = []
    monkeypatch.setattr(video, "progress_bar", lambda *words: RecordedBar(shown, *words))
    monkeypatch.setattr(video, "with_progress", lambda clips, unit, title: shown.append((title, len(clips))) or clips)
    short = ("--start", "0", "--end", "1.5", "--out", str(tmp_path / "out"), *QUICK)
    assert called(capsys, WALK, "--stature", "1.7", *short)[0] == 0
    seen = [("following", n, 45) for n in range(1, 46)]
    lifted = [("lifting", 0, 45), ("lifting", 45, 45)]
    assert shown == [
        *seen, ("following", "closed", 45), *lifted, ("lifting", "closed", 45), ("retargeting", 1)
    ]  # fmt: skip


def test_json_is_one_object_with_paths_that_are_there(done, tmp_path, capsys):
    code, printed, _ = called(capsys, WALK, "--out", tmp_path / "o", "--json", *QUICK)
    result = json.loads(printed)
    assert code == 0
    assert {"frames", "fps", "people", "clips", "motions", "notes"} <= set(result)
    assert all(Path(path).is_file() for path in result["motions"])
    assert {"source", "start", "end", "kept", "reasons", "metrics"} <= set(result["clips"][0])


def test_the_page_has_film_skeleton_human_and_robot_of_the_same_time(done, out):
    data = data_in(out / "page.html")
    assert len(data["stills"]["jpegs"]) == pytest.approx(3.4 * data["stills"]["fps"], abs=1)
    (person,), (layer,) = data["people"], data["layers"]
    assert person["frames"] / person["fps"] == pytest.approx(data["seconds"], abs=0.05)
    assert [(m["start"], m["frames"]) for m in layer["motions"]] == [(0.0, person["frames"])]
    assert [span["kind"] for span in data["spans"]] == ["kept"]
    page = (out / "page.html").read_text().lower()
    assert "http:" not in page
    assert "https:" not in page


def test_a_films_name_cannot_put_anything_into_the_page(done, tmp_path, capsys, no_network):
    name = "<img src=x onerror=alert(1)>.mp4"
    shutil.copy(WALK, tmp_path / name)
    assert called(capsys, tmp_path / name, "--out", tmp_path / "o", *QUICK)[0] == 0
    assert "<img" not in (tmp_path / "o" / "page.html").read_text()


def test_where_nothing_is_kept_the_reasons_are_told_and_the_page_shows_the_human(done, tmp_path, capsys, no_network):
    code, said, _ = called(capsys, WALK, "--out", tmp_path / "o", "--camera", "45,30", "--certify", *QUICK)
    assert code == 0
    assert "1 clip, 0 kept:" in said
    assert "rejected: " in said
    assert "--preset paper" in said
    data = data_in(tmp_path / "o" / "page.html")
    assert (len(data["people"]), data["layers"], data["robot"]) == (1, [], None)
    assert not (tmp_path / "o" / "motions").exists()


def test_people_are_counted_from_the_left(tmp_path, capsys):
    paths = []
    for person in ("1", "2"):
        called(capsys, PAIR, "--out", tmp_path / person, "--person", person, "--json", *QUICK)
        paths.append(json.loads((tmp_path / person / "video.json").read_text()))
    assert [p["config"]["person"] for p in paths] == [1, 2]
    assert all(p["people"] == 2 for p in paths)
    assert any("more than one person" in note for note in paths[0]["notes"])


def test_a_film_that_cannot_be_used_leaves_nothing_behind(tmp_path, capsys):
    run("-f", "lavfi", "-i", "color=gray:s=320x240:r=10:d=2", tmp_path / "empty.mp4")
    code, said, why = called(capsys, tmp_path / "empty.mp4", "--out", tmp_path / "o")
    assert (code, said) == (1, "")
    assert "0:00 to 0:02: nobody is seen" in why
    assert not (tmp_path / "o").exists()


def test_an_earlier_result_is_replaced_and_what_is_not_ours_stays(done, tmp_path, capsys, no_network):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.txt").write_text("mine")
    code, _, why = called(capsys, WALK, "--out", tmp_path / "mine")
    assert (code, "was not written by `phuma video`" in why) == (2, True)
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["a.txt"]
    for camera in (("--camera", "45,30"), ()):
        assert called(capsys, WALK, "--out", tmp_path / "o", *camera, *QUICK)[0] == 0
    assert len(list((tmp_path / "o" / "motions").iterdir())) == 1
    assert not (tmp_path / "o" / "video.unfinished").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--camera", "up"), "--camera up: expected level, or pitch and roll"),
        (("--camera", "-90,0"), "--camera -90,0: expected degrees"),
        (("--stature", "172"), "--stature 172: expected metres"),
        (("--focal", "0"), "--focal 0: expected pixels"),
        (("--person", "0"), "--person 0: people are counted from 1"),
        (("--model", "huge"), "unknown model 'huge'; there are: full, heavy"),
        (("--preset", "none"), "unknown preset 'none'"),
        (("--method", "none"), "unknown method 'none'"),
        (("--start", "3", "--end", "2"), "expected 0 <= start < end"),
        (("--minutes", "3"), "of --policy new alone"),
        (("--policy", "nowhere.onnx"), "nowhere.onnx: does not exist"),
    ],
)
def test_wrong_use_is_told_before_the_film_is_looked_at(tmp_path, capsys, no_network, words, says):
    code, _, why = called(capsys, WALK, "--out", tmp_path / "o", *words)
    assert code in (1, 2)
    assert says in why
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.fbx", b"Kaydara FBX Binary  \0", "is an animation (FBX), which is not read; convert it to BVH"),
        ("a.csv", b"0,0,0,0,0,0,0,1,0\n" * 9, "is a robot's motion (CSV), not a person's; run: phuma import"),
        ("a.bvh", b"HIERARCHY\nROOT Hips\n", "is a recording (bvh), not a film; run: phuma retarget"),
        ("a.txt", b"hello", "is no film of a known kind"),
        ("a.mp3", b"ID3", "is a sound"),
    ],
)
def test_what_is_no_film_is_told_as_what_it_is_with_the_next_command(tmp_path, capsys, no_network, name, content, says):
    (tmp_path / name).write_bytes(content)
    code, _, why = called(capsys, tmp_path / name, "--out", tmp_path / "o")
    assert code == 1
    assert says in why
    assert not (tmp_path / "o").exists()


def test_its_own_results_are_told_as_what_they_are_with_the_next_command(done, out, tmp_path, capsys, no_network):
    for file, says in (
        ("clips/walk_0000000.npz", "is a clip that has been curated already, not a film; run: phuma retarget"),
        ("motions/walk_0000000.npz", "is a robot's motion that was retargeted already; run: phuma inspect"),
    ):
        code, _, why = called(capsys, out / file, "--out", tmp_path / "o")
        assert code == 1
        assert says in why
        assert not (tmp_path / "o").exists()


@pytest.mark.skipif(not can_draw(), reason="no EGL or OSMesa on this machine")
def test_it_goes_on_to_a_performance_and_to_a_policy_that_never_saw_the_film(tmp_path, capsys):
    pytest.importorskip("onnxruntime")
    words = ("--end", "1.05", "--certify", "--policy", POLICY / "policy.onnx", "--json", *QUICK)
    code, printed, _ = called(capsys, WALK, "--out", tmp_path / "o", *words)
    result = json.loads(printed)
    assert code == 0
    (row,), (motion,) = result["certified"], result["policy"]["motions"]
    assert isinstance(row["certified"], bool)
    assert (motion["motion"], result["policy"]["total"]["rollouts"]) == ("walk_0000000", 1)
    layers = data_in(tmp_path / "o" / "page.html")["layers"]
    assert [layer["name"] for layer in layers] == ["retargeted", "performed under physics", "policy"]
    films = sorted(p.name for p in (tmp_path / "o" / "films").iterdir())
    assert films == ["walk_0000000_performed.mp4", "walk_0000000_policy.mp4"]
    for name in ("performances/walk_0000000.npz", "rollouts/walk_0000000.0.npz", "rollouts/evaluation.json"):
        assert (tmp_path / "o" / name).is_file()
