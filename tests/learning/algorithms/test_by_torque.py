"""Joints that count by the torques that their actions make."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from phuma.learning.algorithms.by_torque import torque_loss
from phuma.learning.algorithms.distillation import imitation_loss


def test_the_same_torque_costs_the_same_whichever_joint_makes_it():
    limit, none, whole = torch.tensor([100.0, 5.0]), torch.zeros(1, 2), torch.ones(1)
    leg, wrist = torch.tensor([[0.1, 0.0]]), torch.tensor([[0.0, 2.0]])
    torch.testing.assert_close(torque_loss(leg, none, whole, limit), torque_loss(wrist, none, whole, limit))


def test_motors_that_are_alike_count_as_without_torques():
    torch.manual_seed(0)
    action, label, weight = torch.randn(5, 3), torch.randn(5, 3), torch.rand(5)
    alike = torque_loss(action, label, weight, torch.full((3,), 40.0))
    torch.testing.assert_close(alike, imitation_loss(action, label, weight))
