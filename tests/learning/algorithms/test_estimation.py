"""Estimation: what is off by little counts by its square, what is off by much hardly more."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("torch")

import torch

from phuma.learning.algorithms.estimation import estimation_loss


def test_the_loss_by_hand():
    """Two samples of two numbers: one exact and one off by its exactness, one off by twice and one by a thousandth."""
    estimate = torch.tensor([[1.0, 2.0], [0.2, 0.5]])
    truth = torch.tensor([[1.0, 1.9], [0.0, 0.5001]])
    loss = estimation_loss(estimate, truth, torch.tensor([1.0, 0.5]), 0.1)
    expected = (math.log(2) + 0.5 * math.log(5) + 0.5 * math.log1p(1e-6)) / 4
    assert loss.item() == pytest.approx(expected, rel=1e-4)


def test_what_is_far_off_pulls_less():
    """The pull of an error is greatest where it is as large as its exactness, and falls beyond."""
    errors = torch.tensor([[0.05], [0.1], [0.4], [10.0]], requires_grad=True)
    estimation_loss(errors, torch.zeros(4, 1), torch.ones(4), 0.1).backward()
    assert errors.grad is not None
    near, at, beyond, far = errors.grad[:, 0].tolist()
    assert at > near > far
    assert at > beyond > far > 0
