"""Damaged datasets go through every command, or are refused with a reason: `benchmarks/attack_datasets.py` in small."""

import pytest

from tests.dataset.attacks import COMMANDS, DAMAGES, attack
from tests.dataset.tiny import least

pytestmark = pytest.mark.slow

EACH = 9
"""Datasets of each damage: a hundred in all"""


@pytest.mark.parametrize("kind", DAMAGES)
def test_no_damage_ends_in_a_traceback_or_reaches_other_files(tmp_path_factory, tmp_path, kind):
    whole = least(tmp_path_factory.getbasetemp())
    failures = []
    for seed in range(EACH):
        (tmp_path / str(seed)).mkdir()
        commands = [name for name in COMMANDS if name != "report" or seed % 3 == 0]  # which takes longest
        result = attack(whole, tmp_path / str(seed), kind, seed, commands)
        failures += [f"seed {seed}, {command}: {text}" for command, text in result.failed.items()]
    assert not failures, "\n".join(failures)


def test_a_whole_dataset_goes_through_every_command(tmp_path_factory, tmp_path, monkeypatch):
    """Else the law above would hold for commands that refuse everything."""
    monkeypatch.setitem(DAMAGES, "none", lambda root, dice: None)
    result = attack(least(tmp_path_factory.getbasetemp()), tmp_path, "none", 0)
    assert (result.refused, result.failed) == ({}, {})
