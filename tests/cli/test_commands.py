"""The other commands, and what all of them share."""

import json
from pathlib import Path

import pytest

import phuma
from phuma.cli.main import COMMANDS, main
from phuma.synth import FAULTS, KINDS


def run(capsys, *args) -> tuple[int, str, str]:
    code = main([str(a) for a in args])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_help_lists_every_command(capsys):
    code, out, _ = run(capsys)
    assert code == 0
    assert all(f"  {name} " in out for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_and_every_option_has_a_text(capsys, command):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert len(said) > 200
    lines = said.splitlines()
    for words in [line.split() for line in lines if line.startswith("  --")]:
        i = next(k for k, line in enumerate(lines) if line.strip().startswith(words[0]))
        assert len(words) > 2 or lines[i + 1].startswith("     "), f"{words[0]} has no help"


def test_an_unknown_command_lists_the_known_ones(capsys):
    code, _, err = run(capsys, "currate")
    assert code == 2
    assert "unknown command 'currate', did you mean 'curate'?; there are: demo, curate" in err


@pytest.mark.parametrize(("command", "said"), [("build", "goes on where"), ("train", "--resume"), ("render", "anew")])
def test_ctrl_c_says_how_to_go_on(capsys, monkeypatch, command, said):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"phuma.cli.{command}.main", interrupted)
    assert main([command]) == 130
    assert said in capsys.readouterr().err


def test_synth_writes_what_curate_reads_with_the_truth_beside(capsys, tmp_path):
    code, _, _ = run(capsys, "synth", "--type", "walk,kick", "--count", 2, "--seconds", 3, "--out", tmp_path / "s")
    assert code == 0
    names = sorted(p.name for p in (tmp_path / "s").iterdir())
    assert names == sorted(f"{k}_{i:04d}{e}" for k in ("walk", "kick") for i in (0, 1) for e in (".npz", ".truth.json"))
    truth = json.loads((tmp_path / "s" / "walk_0001.truth.json").read_text())
    motion = phuma.read(tmp_path / "s" / "walk_0001.npz")
    assert len(truth["contact"]) == len(motion) == 90
    # The reader fits the body's size to the recording: it has to find the one that was generated.
    assert motion.body.leg_length == pytest.approx(
        phuma.open_body(phuma.OpenShape(**truth["shape"])).leg_length, rel=0.04
    )
    code, out, _ = run(capsys, "curate", tmp_path / "s", "--out", tmp_path / "c")
    assert code == 0
    assert out.startswith("4 recordings, 4 clips")


def test_synth_puts_faults_in(capsys, tmp_path):
    code, _, _ = run(capsys, "synth", "--type", "walk", "--fault", "float:20", "--out", tmp_path)
    assert code == 0
    assert (tmp_path / "walk_0000_float20.npz").exists()
    code, _, err = run(capsys, "synth", "--fault", "flaot:20", "--out", tmp_path)
    assert code == 2
    assert all(name in err for name in FAULTS)
    code, _, err = run(capsys, "synth", "--type", "fly", "--out", tmp_path)
    assert code == 2
    assert all(kind in err for kind in KINDS)


@pytest.mark.slow
def test_demo_goes_through_and_says_where_to_look(capsys, tmp_path):
    code, out, _ = run(capsys, "demo", "--out", tmp_path / "demo")
    assert code == 0
    for kind in KINDS:
        assert f"   {kind} " in out
    assert "rejected: " in out
    assert (tmp_path / "demo" / "motions.png").stat().st_size > 10_000
    root = tmp_path / "demo" / "dataset"
    assert "<html" in (root / "report.html").read_text()
    assert "left after" in out
    assert "on the g1: fidelity" in out
    kept = sum(line.endswith(" kept") for line in out.splitlines())
    assert len(list((root / "clips" / "g1").rglob("*.npz"))) == kept


@pytest.mark.slow
def test_inspect_takes_every_file_that_is_read_or_written(capsys, tmp_path):
    run(capsys, "synth", "--type", "walk", "--out", tmp_path / "s")
    run(capsys, "curate", tmp_path / "s", "--out", tmp_path / "c")
    run(capsys, "retarget", tmp_path / "s", "--method", "sink", "--out", tmp_path / "r")
    (tmp_path / "map.json").write_text('{"joints": {"pelvis": "Hips"}}')
    clip = next((tmp_path / "c" / "clips").rglob("*.npz"))
    for file, says, then in (
        (tmp_path / "s" / "walk_0000.npz", "amass-smplx", "retarget"),
        (tmp_path / "s" / "walk_0000.truth.json", "truth", None),
        (tmp_path / "c" / "curation.json", "1 kept", None),
        (tmp_path / "map.json", "joint map", None),
        (Path(phuma.__file__).parent / "robots" / "g1" / "robot.json", "Unitree G1", None),
        (tmp_path / "r" / "retarget.json", "1 on g1", None),
        (tmp_path / "r" / "s" / "walk_0000.npz", "robot motion of g1", "view"),
        (clip, "phuma-clip", "retarget"),
    ):
        code, out, _ = run(capsys, "inspect", file)
        assert code == 0
        assert says in out
        told = [line.split()[1:] for line in out.splitlines() if line.startswith("Next: ")]
        assert [words[:2] for words in told] == ([["phuma", then]] if then else [])
        assert all(words[2] == str(file) for words in told)
    code, out, _ = run(capsys, "inspect", clip, "--plot", tmp_path / "clip.png")
    assert code == 0
    assert (tmp_path / "clip.png").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "metric"), [("paper", "pelvis_support"), ("dynamic", "external_support_force")])
def test_inspect_draws_a_recording_as_each_preset_sees_it(capsys, tmp_path, preset, metric):
    run(capsys, "synth", "--type", "run", "--seconds", 2, "--out", tmp_path)
    picture = tmp_path / "run.png"
    code, out, _ = run(capsys, "inspect", tmp_path / "run_0000.npz", "--preset", preset, "--plot", picture)
    assert code == 0
    assert f"preset {preset}" in out
    assert metric in out
    assert picture.stat().st_size > 10_000


def test_inspect_says_what_it_cannot_read(capsys, tmp_path):
    (tmp_path / "x.json").write_text('{"a": 1}')
    for file, says in ((tmp_path / "x.json", "of no kind that phuma knows"), (tmp_path / "none", "cannot be opened")):
        code, _, err = run(capsys, "inspect", file)
        assert code == 1
        assert says in err
        assert file.name in err
