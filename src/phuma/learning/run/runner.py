"""The training loop: environments act, the algorithm improves the policy, again and again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from phuma.core.rotations import Array
from phuma.core.tensors import to_numpy
from phuma.errors import PhumaError
from phuma.learning.algorithms.algorithm import Outcome, below
from phuma.learning.algorithms.distillation import Label, Teacher
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.disturbances import Disturbances
from phuma.learning.env.observation import Observation
from phuma.learning.env.tracking import TrackingEnv
from phuma.learning.motions.experts import Experts
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.motions.mirroring import with_images
from phuma.learning.motions.references import References, expand
from phuma.learning.motions.sampling import Sampler
from phuma.learning.nets.actor_critic import Actor
from phuma.learning.nets.weights import all_finite, load_weights, weights_of
from phuma.learning.recipes.recipe import EXPERTS, RunCfg, recipe_named
from phuma.learning.run.random_state import restore_rng, rng_state
from phuma.runtime.distributed import averages, number, own_threads, processes
from phuma.sim.coordinates import Coordinates
from phuma.sim.interface import Simulation
from phuma.sim.model import CONTROL_RATE
from phuma.sim.randomization import Randomization

MOST_FRAMES = 100_000
"""Most frames of motions that are learned from at a time: half an hour, with their experts two gigabytes."""
REFRESH = 200
"""Iterations after which other motions of a larger library are learned from."""


class Diverged(PhumaError):
    """The values of the network are no longer finite."""


class StageRunner:
    """The training of one stage of a run. All of its state, that of the environments too, is in `snapshot`, so that a
    run that continues from one does what it would have done. `teacher` is the network of an earlier stage, if there is
    one, `teacher_base` what its actions are added to where that is not this stage's base; a stage that learns from
    experts takes them from the library. `begin` is the network of an earlier stage whose policy this one begins with.
    Of several processes that train together, each has environments and random numbers of its own; the first one's are
    in the checkpoint."""

    def __init__(
        self,
        library: MotionLibrary,
        cfg: RunCfg,
        stage: str,
        device: str = "cpu",
        threads: int | None = None,
        teacher: Actor | None = None,
        teacher_base: str | None = None,
        begin: Actor | None = None,
    ) -> None:
        torch.manual_seed(cfg.seed)
        recipe = recipe_named(cfg.algo)
        self.stage, self.cfg, self.device = stage, cfg.stages[stage], device
        self.task = recipe.task(stage, self.cfg.environment)
        library = replace(library, robot=self.task.tracked(library.robot))
        self.library = with_images(library) if self.cfg.environment.mirror else library
        self.seed = cfg.seed
        self.rng, self.generator = np.random.default_rng(cfg.seed), torch.Generator().manual_seed(cfg.seed)
        if number():
            self._seed_apart(0)
        own = self.cfg.environment
        self.disturbances = Disturbances(
            own.disturbances, self.task.randomization, library.robot, own.environments, self.rng
        )
        self.simulation = make_simulation(library, own, device, threads, self.disturbances.randomization)
        self._clips = np.arange(0)
        self.expert_taught = cfg.teacher_of(stage) == EXPERTS
        self.teacher, self.teacher_base = teacher, teacher_base or self.task.base
        references, self.sampler = self._chosen()
        self.env = TrackingEnv(
            library.robot, self.simulation, self.task, references, self.sampler.draw, self.rng,
            self.disturbances.events(0.0), self.sampler.record,
        )  # fmt: skip
        self.observation = self._tensors(self.env.observe())
        made = recipe.stages[stage]
        self.net = made.network(self.task, library.robot, self.cfg.network).to(device)
        if begin is not None:
            self.net.actor.load_state_dict(begin.actor.state_dict())
        if teacher is not None:
            self.net.learn_from(teacher)
        self.net.use(self._features())
        labels = self._labeller()
        algorithm = self.cfg.algorithm.for_motions(len(library))
        self.algorithm = made.algorithm(self.net, algorithm, self.observation, self.generator, labels)
        self.iterations = self.steps = 0

    def iterate(self, progress: float = 0.0) -> dict[str, float]:
        """Let all environments act for the algorithm's horizon and improve the policy; return means of what is worth
        watching. `progress` is the share of the stage that is over."""
        self.algorithm.progress, self.env.cfg = progress, self.disturbances.events(progress)
        if self.iterations and self.iterations % REFRESH == 0 and len(self._clips) < len(self.library):
            self._refresh()
        means = self._collect()
        means = averages(means | self.algorithm.update(self.observation), self.device)
        self.net.see(self.algorithm.storage.flat())
        if not all(math.isfinite(v) for v in means.values()) or not all_finite(self.net):
            raise Diverged(
                f"training diverged in iteration {self.iterations}: its values are not finite any more; the checkpoint "
                "before it is kept. Try another seed or a smaller learning rate"
            )
        self.iterations += 1
        self.steps += processes() * self.cfg.steps_per_update
        return means

    @torch.no_grad()
    def _collect(self) -> dict[str, float]:
        algorithm, horizon = self.algorithm, self.cfg.algorithm.horizon
        ended = failed = 0.0
        rewards: list[float] = []
        terms: dict[str, float] = {}
        for _ in range(horizon):
            action = algorithm.act(self.observation)
            step = self.env.step(self._native(action))
            final = None if step.final is None else self._tensors(step.final)
            reward, terminated, truncated = map(self._tensor, (step.reward, step.terminated, step.truncated))
            outcome = Outcome(reward, terminated, truncated, final)
            rewards.append(float(outcome.reward.mean()))
            algorithm.record(self.observation, action, outcome)
            self.observation = self._tensors(step.observation)
            ended, failed = ended + float(outcome.done.sum()), failed + float(outcome.terminated.sum())
            terms = {name: terms.get(name, 0.0) + value / horizon for name, value in step.terms.items()}
        return {
            "reward": float(np.mean(rewards)),
            "failures_per_second": CONTROL_RATE * failed / self.cfg.steps_per_update,
            "failed_share": failed / max(ended, 1.0),
            **{f"terms/{name}": value for name, value in terms.items()},
        }

    def snapshot(self) -> dict[str, Array]:
        """Return the whole state as arrays, by names."""
        # The noise of the last observation is drawn already.
        seen = {f"observation.{name}": value.cpu().numpy().copy() for name, value in self.observation.items()}
        arrays = weights_of(self.net) | self.algorithm.snapshot() | seen
        arrays |= {f"env.{name}": value for name, value in self.env.snapshot().items()}
        arrays |= {f"sampler.{name}": value for name, value in self.sampler.snapshot().items()}
        return arrays | {
            "clips": self._clips,
            "counts": np.array([self.iterations, self.steps]),
            "generator": self.generator.get_state().numpy(),
            "rng": rng_state(self.rng),
        }

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Continue from a snapshot of the same library and configuration; of several processes, only the first has its
        environments in there, and those of the others begin episodes anew."""
        references, self.sampler = self._chosen(arrays["clips"])
        self.env.use(references, self.sampler.draw, self.sampler.record)
        self.net.features = self._features()
        load_weights(self.net, arrays)
        self.algorithm.restore(arrays)
        self.sampler.restore(below(arrays, "sampler."))
        self.iterations, self.steps = (int(n) for n in arrays["counts"])
        if number():
            self._seed_apart(self.iterations)
            self.env.use(references, self.sampler.draw, self.sampler.record)
            self.observation = self._tensors(self.env.observe())
            return
        self.env.restore(below(arrays, "env."))
        self.generator.set_state(torch.from_numpy(arrays["generator"].copy()))
        restore_rng(self.rng, arrays["rng"])
        seen = {name: torch.from_numpy(arrays[f"observation.{name}"].copy()) for name in self.observation}
        self.observation = {name: group.to(self.device) for name, group in seen.items()}

    def _chosen(self, clips: Array | None = None) -> tuple[References, Sampler]:
        """Return the motions to learn from for a while: all, if they are not too many."""
        if clips is None:
            lengths = np.array([len(m) for m in self.library.motions])
            order = np.arange(len(lengths)) if lengths.sum() <= MOST_FRAMES else self.rng.permutation(len(lengths))
            clips = np.sort(order[: max(1, int(np.searchsorted(np.cumsum(lengths[order]), MOST_FRAMES, "right")))])
        self._clips = clips
        both = not self.task.lawful and (self.cfg.algorithm.taught or self.task.performed)
        references = expand(self.library, clips, self.task, both)
        self._teacher_targets = references.base
        if self.teacher is not None and self.teacher_base != self.task.base:
            other = replace(self.task, base=self.teacher_base, teacher=(), actor=(), critic=())
            self._teacher_targets = expand(self.library, clips, other, both).base
        taught = self.expert_taught and not self.task.lawful
        self.experts = Experts(self.library, references, self.task.reach) if taught else None
        return references, Sampler(references, self.rng, self.cfg.environment.first)

    def _seed_apart(self, iterations: int) -> None:
        """Draw other random numbers than the other processes from now on, after so many iterations."""
        words = np.random.SeedSequence([self.seed, number(), iterations]).generate_state(2)
        restore_rng(self.rng, rng_state(np.random.default_rng(words)))
        self.generator.manual_seed(int(words[0]))

    def _refresh(self) -> None:
        self.experts = None
        self.env.let_go()  # both at a time would take twice the memory
        references, self.sampler = self._chosen()
        self.env.use(references, self.sampler.draw, self.sampler.record)
        self.net.use(self._features())
        self.observation = self._tensors(self.env.observe())
        self.algorithm.forget()

    def _labeller(self) -> Teacher | None:
        """Return who labels actions, if anybody does."""
        if self.task.lawful:
            return self._truth
        return self._expert_labels if self.experts else self._labels if self.teacher else None

    def _truth(self, observation: Observation) -> Label:
        """Return what is to be estimated; what is far off counts less, as it costs its square."""
        (group,) = self.task.estimated
        truth = observation[group.name]
        return Label(truth, truth.square().sum(-1))

    def _labels(self, observation: Observation) -> Label:
        """Return what the teacher would do."""
        assert self.teacher is not None
        action = self.teacher.label(observation, self.net.features)
        if self.teacher_base != self.task.base:
            coming, scale = self.env.frame + 1, to_numpy(self.env.constants.action_scale)
            apart = (self._teacher_targets[coming] - to_numpy(self.env.references.base)[coming]) / scale
            action = action + torch.from_numpy(apart.astype(np.float32)).to(action.device)
        return Label(action, torch.zeros(len(action), device=action.device))

    def _expert_labels(self, observation: Observation) -> Label:
        """Return what experts would do in the environments' true states."""
        assert self.experts is not None
        env = self.env
        now = Coordinates(to_numpy(self.simulation.qpos), to_numpy(self.simulation.qvel))
        target, cost = self.experts(now, env.frame)
        bias = 0.0 if env.joint_bias is None else to_numpy(env.joint_bias)
        action = (target + bias - to_numpy(env.references.base)[env.frame + 1]) / to_numpy(env.constants.action_scale)
        return Label(*(torch.from_numpy(v.astype(np.float32)).to(self.device) for v in (action, cost)))

    def _features(self) -> dict[str, Tensor]:
        return {name: self._tensor(values) for name, values in self.env.references.features.items()}

    def _tensor(self, x: Any) -> Tensor:
        return torch.from_numpy(x) if isinstance(x, np.ndarray) else x

    def _tensors(self, observation: Observation) -> Observation:
        return {name: self._tensor(group) for name, group in observation.items()}

    def _native(self, action: Tensor) -> Any:
        """Return actions as a tensor of the simulator's library."""
        return to_numpy(action) if isinstance(self.env.action, np.ndarray) else action


def make_simulation(
    library: MotionLibrary,
    cfg: EnvironmentCfg,
    device: str,
    threads: int | None,
    randomization: Randomization | None,
) -> Simulation:
    """Return a simulation by MuJoCo's own threads on the CPU, or by MuJoCo Warp on another device."""
    if device == "cpu":
        from phuma.sim.mujoco_cpu import MujocoSimulation

        return MujocoSimulation(library.robot, cfg.environments, cfg.substeps, threads or own_threads(), randomization)
    from phuma.sim.mujoco_warp import WarpSimulation

    return WarpSimulation(library.robot, cfg.environments, cfg.substeps, device=device, randomization=randomization)
