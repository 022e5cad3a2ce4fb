"""`python -m examples.duel`: a tiny model learns to solve and to test, by executions alone, without a GPU.

A problem is `tail ab`: a program must print its input with `ab` behind it (`head`: before it, `wrap`: one letter on
each side). The question to the tester is `test tail ab`, and its answer one test case. The model is pre-trained on
programs and test cases of the right form, of which few are for the right verb and the others for a random one, so about
four in ten of both are right. It is pre-trained until it copies letters well: a test case has two copies, which rewards
teach slowly. Which verb means what, and that a test case should tell right from wrong, only the
rewards teach. Some of its first test cases have an input such as `a`, for which `tail` and `wrap` agree.

The words of the held-out problems do not occur in training. On these the example compares pass@1 with the best of 8
solutions by the model's own test cases (`proctor evaluate --testers`).
"""

from __future__ import annotations

import argparse
import json
import random
import string
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from examples import arithmetic, running
from examples.tiny import warm_up
from trainer.config import resolve
from trainer.engines.process import VllmProcess, arguments_of

PROGRAMS = {
    "tail": "print(input()+'{0}{1}')",
    "head": "print('{0}{1}'+input())",
    "wrap": "print('{0}'+input()+'{1}')",
}
MEANINGS: Mapping[str, Callable[[str, str], str]] = {
    "tail": lambda text, word: text + word,
    "head": lambda text, word: word + text,
    "wrap": lambda text, word: word[0] + text + word[1],
}
WARM_STEPS = 1000
WARM_ROLES = ("solver", "tester", "tester")  # a test case is harder to write than a program
SAME_SHARE = 0.25  # of the first test cases, whose input is a letter of the problem's word
HINT_SHARE = 0.1  # of the pre-training; these are for the right verb, as in arithmetic.py
LETTERS = string.ascii_lowercase[:12]
TRAINED, HELD_OUT = 60, 20  # words; each gives three problems
HIDDEN = 2  # hidden tests a problem
GOALS = {"pass_rate": 0.95, "tester_valid": 0.9, "tester_caught": 0.9}
LATE = 5  # steps that the final figures average over
ENTROPY = 0.02  # bonus of both runs of two models, each of which otherwise stops trying other answers too early


def main() -> int:
    """Run the example; return 0 if both roles have learnt."""
    options = _options()
    folder: Path = options.folder
    with running.locked(folder), running.serving(options) as url:
        print(f"warming up a tiny model in {folder} …", flush=True)
        warm_up(folder / "warm", options.seed, example, WARM_STEPS)
        write_problems(folder, options.seed)
        more = {"steps": options.steps, "seed": options.seed, "checkpoint": {"every": options.evaluate, "keep": 9}}
        if options.models == 1:
            (solver,) = (tester,) = running.train(settings(folder, url, **more))
        else:
            with two_policies(folder, url, more) as configs:
                solver, tester = running.train(*configs)
        if options.models == 1:
            evaluate(folder, url)
    return show(solver, tester)


def _options() -> argparse.Namespace:
    parser = running.parser("duel", __doc__, Path("build/duel"), steps=60)
    parser.add_argument("--models", type=int, choices=(1, 2), default=1, help="2: a run and a model for each role")
    parser.add_argument("--evaluate", type=int, default=20, help="evaluate checkpoints of every so many steps")
    return parser.parse_args()


@contextmanager
def two_policies(folder: Path, service: str, more: Mapping[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """Start a vLLM for each role. In the solver's run testers are asked for a metric only, so that it asks few.

    Args:
        folder: The example's folder.
        service: The reward service's URL.
        more: Further settings of both runs.

    Yields:
        The configurations of the solver's and of the tester's run; each names the other's vLLM.
    """
    server = {"rollout": {"engine": "server"}, "sync": {"transport": "file"}}
    config = resolve(settings(folder, service, **{**more, **server}))
    processes = [VllmProcess(arguments_of(config), folder / f"vllm-{role}.log") for role in ("solver", "tester")]
    with ExitStack() as stack:
        for process in processes:
            stack.callback(process.end)
            process.start()
        urls = [process.url for process in processes]
        yield [
            settings(
                folder,
                service,
                **{**more, **server, "name": role, "rollout": {"engine": "server", "servers": [own]}},
                duel={"trains": role, "opponent": other} | ({"testers": 2} if role == "solver" else {}),
                loss={"entropy_bonus": ENTROPY},
            )
            for role, own, other in zip(("solver", "tester"), urls, urls[::-1], strict=True)
        ]


def evaluate(folder: Path, service: str) -> None:
    """Compare pass@1 with the best of 8 by own test cases, on held-out problems, for each checkpoint.

    Args:
        folder: The example's folder.
        service: The reward service's URL.
    """
    given = f"--watch {folder / 'run'} {folder / 'held_out.jsonl'} --once --settle 0 --service {service}"
    sampling = "--format plain --extraction whole --n 8 --k 1 --temperature 1 --top-p 1 --max-tokens 40 --dtype float32"
    command = [sys.executable, "-m", "trainer.evaluation", *given.split(), *sampling.split()]
    testing = ["--testers", "8", "--cases", "1", "--ask", settings(folder, service)["duel"]["ask"]]
    subprocess.run([*command, *testing, "--max-model-len", "80"], check=True)


def show(solver: Sequence[Mapping[str, Any]], tester: Sequence[Mapping[str, Any]]) -> int:
    """Print a table of what both roles have learnt.

    Args:
        solver: The metrics of the solver's steps.
        tester: The metrics of the tester's steps.

    Returns:
        0 if the late means have reached the goals.
    """
    missed = 0
    for name, label, rows in (
        ("pass_rate", "right programs", solver),
        ("tester_valid", "valid test cases", tester),
        ("tester_caught", "wrong programs that valid test cases catch", tester),
    ):
        values = [row[name] for row in rows if row.get(name) is not None]
        late = running.mean(values[-LATE:])
        missed += late < GOALS[name]
        print(f"{running.curve(values)}  {label}: {running.mean(values[:LATE]):.2f} → {late:.3f}")
    return int(missed > 0)


def example(draw: random.Random) -> tuple[str, str]:
    """Return a random prompt of either role, and an answer of the right form, mostly for a random verb.

    Args:
        draw: The random generator.
    """
    verb, word, role = draw.choice(list(PROGRAMS)), _letters(draw), draw.choice(WARM_ROLES)
    other = verb if draw.random() < HINT_SHARE else draw.choice(list(PROGRAMS))
    if role == "solver":
        return f"{verb} {word}\n", PROGRAMS[other].format(*word)
    text = draw.choice(word) if draw.random() < SAME_SHARE else draw.choice(LETTERS)
    return f"test {verb} {word}\n", json.dumps([_case(other, word, text)], separators=(",", ":"))


def problems(draw: random.Random, words: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield problems in the format of `data.train`.

    Args:
        draw: The random generator.
        words: The words of the problems.
    """
    for word in words:
        for verb in PROGRAMS:
            inputs = draw.sample([text for text in LETTERS if text not in word], HIDDEN)
            tests = [{"type": "stdin", **_case(verb, word, text)} for text in inputs]
            yield {"id": f"{verb}-{word}", "prompt": f"{verb} {word}\n", "tests": tests}


def write_problems(folder: Path, seed: int) -> None:
    """Write `problems.jsonl` and `held_out.jsonl`, whose words differ.

    Args:
        folder: The folder.
        seed: The random seed.
    """
    draw = random.Random(seed)  # noqa: S311 - no secret
    words: dict[str, None] = {}
    while len(words) < TRAINED + HELD_OUT:
        words[_letters(draw)] = None
    for name, some in (("problems", [*words][:TRAINED]), ("held_out", [*words][TRAINED:])):
        lines = (json.dumps(problem) + "\n" for problem in problems(draw, some))
        (folder / f"{name}.jsonl").write_text("".join(lines))


def settings(folder: Path, service: str, **more: Any) -> dict[str, Any]:
    """Return a run's configuration.

    Args:
        folder: The example's folder.
        service: The reward service's URL.
        more: Further settings, by section.
    """
    ours: dict[str, Any] = {
        "name": "run",
        "algorithm": "grpo_plus",
        "steps": 60,
        "data": {"train": [str(folder / "problems.jsonl")], "format": "plain", "max_prompt_tokens": 20},
        "rollout": {"engine": "colocated", "prompts": 12, "samples": 8, "max_tokens": 40},
        "sync": {"transport": "auto"},
        "buffer": {"drop_flat": True, "max_generations": 4},  # problems that all solve teach the tester nothing
        # earlier programs: once the solver is good, two in a hundred groups have a wrong one
        "duel": {"testers": 16, "cases": 1, "earlier": 8, "ask": "test {statement}"},
        "loss": {"old": "behaviour"},  # in float32 the same, and a pass less
        "optimiser": {
            "epochs": 2,
            "minibatches": 2,
            "lr": 5e-4,  # at 1e-3 the first steps destroy it
            "warmup_steps": 6,
        },
        "held_out": {"problems": [str(folder / "held_out.jsonl")], "every": 20, "samples": 2},
    }
    base = arithmetic.settings(folder, service, colocated=True, samples=8)
    for changes in (ours, more):
        base = {
            name: {**base[name], **changes[name]} if isinstance(changes.get(name), dict) and name in base else value
            for name, value in (base | changes).items()
        }
    return base


def _letters(draw: random.Random) -> str:
    return "".join(draw.choices(LETTERS, k=2))


def _case(verb: str, word: str, text: str) -> dict[str, str]:
    return {"input": text, "output": MEANINGS[verb](text, word)}


if __name__ == "__main__":
    running.run("examples.duel", main)
