"""Processes that train one network together, as `torchrun` starts them: each has environments of its own, and what they
learn is the mean over all. A process that is alone does as if there were no others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from phuma.errors import PhumaError

if TYPE_CHECKING:
    from torch import Tensor

PATIENCE = timedelta(hours=24)
"""How long processes wait for the first of them, which certifies, evaluates and saves"""


def number() -> int:
    """Return which of the processes this is; the first, 0, writes and decides."""
    return _group()[0]


def processes() -> int:
    """Return how many processes train together."""
    return _group()[1]


def _group() -> tuple[int, int]:
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        return 0, 1
    import torch.distributed as dist

    return (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)


def own_threads() -> int:
    """Return the processor's cores that are this process's."""
    local = int(os.environ.get("LOCAL_WORLD_SIZE", "1")) if processes() > 1 else 1
    return max(1, (os.cpu_count() or 1) // local)


@contextmanager
def joined(device: str) -> Iterator[str]:
    """Join the processes that torchrun started, and yield this one's device: of several GPUs, each has its own."""
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        yield device
        return
    import torch
    import torch.distributed as dist

    on_gpu = device != "cpu" and torch.cuda.is_available()
    if device == "cuda" and on_gpu:
        device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if on_gpu else "gloo", timeout=PATIENCE)
    try:
        yield device
        dist.barrier()  # one that leaves first breaks the connections that another still uses
    except RuntimeError as e:
        if isinstance(e, dist.DistError) or "gloo" in str(e):
            raise PhumaError("another of the processes that train together has ended; it says why") from None
        raise
    finally:
        dist.destroy_process_group()


def decided(value: float, device: Any = "cpu") -> float:
    """Return the first process's value, on all of them."""
    if processes() == 1:
        return value
    import torch
    import torch.distributed as dist

    shared = torch.tensor(value, dtype=torch.float64, device=device)
    dist.broadcast(shared, 0)
    return float(shared)


def average_gradients(parameters: Iterable[Tensor]) -> None:
    """Replace the gradients of parameters by their means over the processes: those of all their samples together, as
    each has as many."""
    own = [p.grad for p in parameters if p.grad is not None]
    if processes() == 1 or not own:
        return
    import torch

    whole = _summed(torch.cat([grad.flatten() for grad in own])) / processes()
    for grad, mean in zip(own, whole.split([grad.numel() for grad in own])):
        grad.copy_(mean.view_as(grad))


def average(value: float, device: Any = "cpu") -> float:
    """Return the mean of a number over the processes."""
    return averages({"": value}, device)[""]


def averages(values: Mapping[str, float], device: Any = "cpu") -> dict[str, float]:
    """Return the means of numbers over the processes; one that is not finite in one of them is so in all."""
    if processes() == 1:
        return dict(values)
    import torch

    names = sorted(values)
    whole = _summed(torch.tensor([values[name] for name in names], dtype=torch.float64, device=device)) / processes()
    means = dict(zip(names, whole.tolist()))
    return {name: means[name] for name in values}


def moments(count: int, mean: Tensor, var: Tensor) -> tuple[int, Tensor, Tensor]:
    """Return number, mean and variance of the samples of all processes, from those of this one's:

    m = sum_k m_k,  mean = sum_k m_k mean_k / m,  var = sum_k m_k (var_k + (mean_k - mean)^2) / m
    """
    if processes() == 1:
        return count, mean, var
    import torch

    own = mean.double()
    sums = _summed(torch.cat([own.new_tensor([count]), (count * own).flatten()]))
    total, whole = sums[0], (sums[1:] / sums[0]).view_as(own)
    spread = _summed(count * (var.double() + (own - whole) ** 2)) / total
    return int(total), whole.to(mean.dtype), spread.to(var.dtype)


def _summed(values: Tensor) -> Tensor:
    """Return the sum of a tensor over the processes."""
    import torch.distributed as dist

    dist.all_reduce(values)
    return values
