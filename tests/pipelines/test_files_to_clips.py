"""From files to clips and on to robots: one way, whoever goes it, and no fault of a file stops the others."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import phuma
from phuma.curation import CurateCfg, curate
from phuma.errors import ConfigError, ReadError
from phuma.formats.clip_file import save_clip
from phuma.pipelines.files_to_clips import all_kept_clips, kept_clips, outcome_of, people_in, whole_clips
from phuma.pipelines.retarget import check_method, retarget
from phuma.robots import cached_robot, load_robot
from phuma.sources import ReadCfg, amass_smplx
from phuma.synth import FAULTS, generate


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Six seconds: a clip of 4 s and what remains; nothing is rejected."""
    path = tmp_path_factory.mktemp("recordings") / "walk.npz"
    amass_smplx.write(path, generate("walk", 6.0, 0).motion)
    return path


@pytest.fixture(scope="module")
def floating(tmp_path_factory):
    """A recording of which preset `paper` keeps nothing; `dynamic` sets it down."""
    path = tmp_path_factory.mktemp("recordings") / "float.npz"
    amass_smplx.write(path, FAULTS["float"].apply(generate("walk", 4.0, 0).motion, FAULTS["float"].strengths[-1], 0))
    return path


def same(a, b):
    assert a.motion.provenance.start == b.motion.provenance.start
    for mine, theirs in ((a.motion.root_pos, b.motion.root_pos), (a.contact.ratio, b.contact.ratio)):
        np.testing.assert_array_equal(mine, theirs)


def test_people_are_read_and_curated_with_what_was_asked_for(recording):
    (person,) = people_in(recording, ReadCfg(start=1.0), CurateCfg(preset="dynamic", ground=0.02))
    expected = curate(phuma.read(recording, ReadCfg(start=1.0)), CurateCfg(preset="dynamic", ground=0.02))
    same(person, expected)
    assert (person.ground, person.motion.provenance.source) == (0.02, str(recording))
    (named,) = people_in(recording, source="folder/walk.npz")
    assert {clip.motion.provenance.source for clip in named.clips} == {"folder/walk.npz"}


def test_a_recording_is_one_whole_clip_per_person_or_those_that_are_kept(recording, floating):
    curation = curate(phuma.read(recording))
    (whole,) = whole_clips(recording)
    same(whole, curation)
    assert (whole.verdict, whole.ground) == (curation.verdict, curation.ground)
    assert len(kept_clips(recording)) == 2
    for clip, expected in zip(kept_clips(recording), curation.clips):
        same(clip, expected)
    assert kept_clips(floating, None, CurateCfg(preset="paper")) == []
    assert [clip.verdict.kept for clip in whole_clips(floating, None, CurateCfg(preset="paper"))] == [False]


def test_a_clip_that_was_curated_before_is_taken_as_it_is(floating, tmp_path):
    """Also one that was rejected: whoever names it wants it."""
    (clip,) = whole_clips(floating)
    save_clip(tmp_path / "clip.npz", clip)
    for clips in (whole_clips, kept_clips):
        (back,) = clips(tmp_path / "clip.npz")
        assert back.verdict.reasons == clip.verdict.reasons
    with pytest.raises(ReadError, match="has been curated already"):
        list(people_in(tmp_path / "clip.npz"))


def test_a_file_that_cannot_be_used_is_a_row_and_the_rest_is_there(recording, tmp_path):
    shutil.copy(recording, tmp_path / "walk.npz")
    (tmp_path / "empty.npz").write_bytes(b"")
    clips, failed = all_kept_clips([str(tmp_path)])
    assert len(clips) == 2
    assert failed == [{"source": str(tmp_path / "empty.npz"), "reason": "is empty"}]


def test_a_fault_of_the_program_is_a_row_but_wrong_use_is_not(tmp_path):
    def broken():
        raise KeyError("root")

    def misused():
        raise ConfigError("no such option")

    (row,) = outcome_of(tmp_path, broken).failed
    assert row["reason"] == "internal error, please report: KeyError('root')"
    with pytest.raises(ConfigError):
        outcome_of(tmp_path, misused)


def test_a_recording_a_curation_and_its_whole_clip_become_the_same_motion(recording):
    (person,) = people_in(recording)
    made = [retarget(source, "g1", "sink") for source in (phuma.read(recording), person, person.whole)]
    for motion in made:
        assert motion.joint_pos.tobytes() == made[0].joint_pos.tobytes()
        assert motion.contact.tobytes() == person.contact.ratio.astype(np.float32).astype(float).tobytes()


def test_a_recordings_contacts_are_the_ones_asked_for_and_those_by_height_stay_beside_them(recording):
    motion = phuma.read(recording)
    paper, stance = (retarget(motion, cached_robot("g1"), "sink", contacts) for contacts in ("paper", "stance"))
    assert ((paper.contact_used > 0) & (stance.contact_used == 0)).any()
    assert paper.contact_paper.tobytes() == stance.contact_paper.tobytes() == paper.contact.tobytes()
    ruler = {"non_floating", "non_penetration", "non_skating"}
    by_paper, own = stance.report["by_paper_contacts"], stance.report["metrics"]
    assert by_paper["contact_samples"] == (stance.contact_paper > 0.5).sum() > own["contact_samples"]
    assert {n: paper.report["by_paper_contacts"][n] for n in ruler} == {n: paper.report["metrics"][n] for n in ruler}


def test_a_clip_has_its_contacts_and_is_given_no_others(recording):
    (clip, *_) = kept_clips(recording)
    with pytest.raises(ConfigError, match=r"has its contacts; curate the recording with CurateCfg\(contacts='stance'"):
        retarget(clip, cached_robot("g1"), "sink", "stance")


def test_a_method_that_is_not_there_is_told():
    with pytest.raises(ConfigError, match=r"unknown method 'magic'; there are: ik, gmr, sink"):
        check_method("magic")


def test_a_cached_robot_is_read_once_until_its_files_change(tmp_path):
    folder = Path(shutil.copytree(load_robot("g1").folder, tmp_path / "mine"))
    assert cached_robot("g1") is cached_robot("g1")
    first = cached_robot(folder)
    assert cached_robot(str(folder)) is first
    text = (folder / "robot.json").read_text()
    (folder / "robot.json").write_text(re.sub(r'("default_height": )[\d.]+', r"\g<1>0.5", text) + " ")
    assert cached_robot(folder).default_height == 0.5 != first.default_height


CALLS = {
    r"\bretarget_motion\(": {"retargeting/retarget.py", "pipelines/retarget.py"},
    r"\bcurate\(": {"curation/pipeline.py", "pipelines/files_to_clips.py", "pipelines/retarget.py"},
    r"\bread_all\(": {"sources/registry.py", "pipelines/files_to_clips.py"},
    r"\bwhile .* in taken": {"io/names.py"},
    r"cache.*\n *def \w+\((?!robot: Robot).*-> Robot:|cache\(load_robot\)": {"robots/folder.py"},
}
SHOWS_THE_STEPS = {"cli/inspect.py", "cli/demo.py", "pipelines/scene_building.py", "api/pictures.py"}
"""`inspect` says what was read even if curation fails; the others draw motions that are in no file"""


@pytest.mark.parametrize("call", CALLS)
def test_each_is_wired_once(call):
    source = Path(phuma.__file__).parent
    texts = {file.relative_to(source).as_posix(): _code(file) for file in sorted(source.rglob("*.py"))}
    found = {name for name, text in texts.items() if re.search(call, text)}
    assert found - SHOWS_THE_STEPS <= CALLS[call]


def _code(file):
    """Without docstrings and comments."""
    text = re.sub(r'"""[\s\S]*?"""', '""', file.read_text())
    return "\n".join(line.split("  #")[0] for line in text.splitlines() if not line.lstrip().startswith("#"))
