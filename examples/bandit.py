"""A bandit learned by reward alone: stochastic nodes and reinforce(), as torch 0.1 to 0.3 taught it.

    python examples/bandit.py                        # some seconds; the picture is bandit.png
    python examples/bandit.py --episodes 400 --seed 7 --output /tmp/run.png

Ten slot machines pay with different probabilities, which the player does not know. A policy has one score a machine. It draws
machines (multinomial), pulls them, and gives the payments to the draws as their reward. backward() turns the reward into a
gradient of the scores (the score function: R. J. Williams, Machine Learning 8, 1992). The policy learns from nothing else.
In the middle of the run the best machine stops paying, and the policy has to find another.

Needs matplotlib and tqdm: pip install "wengert[examples]".
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

import wengert
from wengert import autograd
from wengert.nn import functional

try:
    import matplotlib
    from tqdm import tqdm
except ImportError as error:
    sys.exit(f'bandit.py: {error}\nThe examples need a few packages more: pip install "wengert[examples]"')

MACHINES = 10
PULLS = 20  # an episode
RATE = 0.2
ENTROPY = 0.02  # how much it is worth to keep trying: without it the policy could not change its mind
REQUIRED_SHARE = 0.85  # of what the best machine would pay, over the last episodes


class Course(NamedTuple):
    """History of a run. One entry an episode: the mean reward, the payment of the best machine, and the policy."""

    rewards: list[float]
    best: list[float]
    policies: list[np.ndarray]


def payoffs(episode: int, episodes: int) -> wengert.Tensor:
    """Return the probability with which each machine pays."""
    chances = wengert.linspace(0.05, 0.95, MACHINES)[wengert.tensor([3, 7, 0, 9, 5, 1, 8, 2, 6, 4])]
    if episode >= episodes // 2:
        chances[chances.argmax()] = 0.0
    return chances


def play(episodes: int) -> Course:
    """Learn for a number of episodes."""
    scores = wengert.zeros(MACHINES, requires_grad=True)
    baseline = 0.0  # the reward to be expected: only what is better or worse than that teaches anything
    course = Course([], [], [])
    for episode in tqdm(range(episodes), desc="pulling", unit="episode"):
        chances = payoffs(episode, episodes)
        policy = functional.softmax(scores, dim=0)
        actions = wengert.multinomial(policy, PULLS, replacement=True)
        rewards = wengert.bernoulli(chances[actions])

        actions.reinforce((rewards - baseline) / PULLS)
        entropy = -(policy * policy.log()).sum()
        scores.grad = None
        autograd.backward([actions, -ENTROPY * entropy])
        with wengert.no_grad():
            scores -= RATE * MACHINES * scores.grad

        baseline += 0.05 * (rewards.mean().item() - baseline)
        course.rewards.append(rewards.mean().item())
        course.best.append(chances.max().item())
        course.policies.append(policy.detach().numpy().copy())
    return course


def smooth(values: list[float], width: int = 25) -> np.ndarray:
    """Return the mean over the last `width` values at each place."""
    sums = np.cumsum([0.0, *values])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - width, 0)
    return (sums[ends] - sums[starts]) / (ends - starts)


INK, MUTED, ACCENT = "#222222", "#8a8a8a", "#2a6f97"


def draw(path: Path, course: Course) -> None:
    """Write the picture: reward over the episodes, and below it the probability with which the policy pulls each machine."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({
        "font.size": 10, "axes.titlesize": 11, "axes.titlelocation": "left", "axes.spines.top": False,
        "axes.spines.right": False, "axes.edgecolor": MUTED, "xtick.color": INK, "ytick.color": INK, "text.color": INK,
    })  # fmt: skip
    figure, (upper, lower) = pyplot.subplots(2, 1, figsize=(8.5, 5.6), dpi=120, sharex=True, layout="constrained")
    upper.set_title("Reward a pull, mean of the last 25 episodes")
    upper.plot(course.best, color=MUTED, linewidth=1, linestyle="--", label="the best machine")
    upper.axhline(np.mean(payoffs(0, 1 << 30).tolist()), color=MUTED, linewidth=1, linestyle=":", label="chance")
    upper.plot(smooth(course.rewards), color=ACCENT, linewidth=1.8, label="the policy")
    upper.set_ylim(0, 1)
    upper.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    upper.legend(loc="center right", frameon=False)
    lower.set_title("Probability of each machine")
    image = lower.imshow(
        np.array(course.policies).T, aspect="auto", interpolation="nearest", cmap="Blues", vmin=0, vmax=1
    )
    lower.set_yticks(range(MACHINES), [str(i + 1) for i in range(MACHINES)])
    lower.set_ylabel("machine")
    lower.set_xlabel("episode")
    figure.colorbar(image, ax=lower, pad=0.01)
    figure.savefig(path)
    pyplot.close(figure)


def main(arguments: list[str] | None = None) -> int:
    """Run the example. Return the exit status: 0, or 1 if the policy has not learned."""
    parser = argparse.ArgumentParser(description="Learns which slot machine pays best, by reinforce().")
    parser.add_argument("--episodes", type=int, default=600, help="of 20 pulls each (default: 600)")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    parser.add_argument("--output", type=Path, default=Path("bandit.png"), help="the picture (default: bandit.png)")
    options = parser.parse_args(arguments)
    if options.episodes < 20:
        parser.error("fewer than 20 episodes teach nothing")
    if not options.output.resolve().parent.is_dir():
        parser.error(f"no such folder: {options.output.resolve().parent}")
    warnings.filterwarnings("ignore", "reinforce", DeprecationWarning)  # the old way is the subject here

    wengert.manual_seed(options.seed)
    course = play(options.episodes)
    last = len(course.rewards) // 10
    share = sum(course.rewards[-last:]) / sum(course.best[-last:])
    before = options.episodes // 2
    share_before = sum(course.rewards[before - last : before]) / sum(course.best[before - last : before])
    print(f"of what the best machine pays: {share_before:.0%} before it broke down, {share:.0%} at the end")
    draw(options.output, course)
    print(f"wrote {options.output}")
    if min(share, share_before) < REQUIRED_SHARE:
        print(f"bandit.py: below {REQUIRED_SHARE:.0%}; more --episodes may help", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
