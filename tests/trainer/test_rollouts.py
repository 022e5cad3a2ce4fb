"""Tests of kept samples: what is kept, how much, after a restart, and how it is printed."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from trainer.__main__ import main
from trainer.batch import trained_episodes, training_rows
from trainer.collect import Batch
from trainer.config import Config, resolve
from trainer.episode import Completion, Episode, Group, Prompt, Reward
from trainer.errors import ConfigError
from trainer.inspection import samples
from trainer.rollouts import OLDER, ROLLOUTS, Rollouts, read


def configured(folder: Path, normalise: bool = False, **watch: Any) -> Config:
    model = {"model": {"path": "m"}, "data": {"train": ["d"]}}
    more = {"advantage": {"normalise": normalise}, "watch": {"tensorboard": False} | watch}
    made = resolve(model | {"name": "r", "out": str(folder)} | more)
    made.folder.mkdir(parents=True, exist_ok=True)
    return made


def group(number: int, values: tuple[float | None, ...] = (1.0, 0.0)) -> Group:
    prompt = Prompt(f"p{number}", [number], {})
    episodes = [
        Episode(
            prompt,
            Completion([1, 2], [-1.0, -1.0], f"é {value}", False, 0, 0),
            Reward(value, {1.0: "AC", 0.0: "WA", None: "IE"}[value], "why"),
            is_masked=value is None,
        )
        for value in values
    ]
    return Group(prompt, episodes, number)


def written(config: Config, steps: range, groups: int = 6, done: int = 0) -> list[dict[str, Any]]:
    kept = Rollouts(config, done)
    for step in steps:
        batch = Batch([group(number) for number in range(groups)])
        kept.write(step, batch, trained_episodes(batch.groups, config), lambda prompt: f"prompt {prompt.id}")
    kept.close()
    return list(read(config.folder))


def test_a_line_says_what_was_sampled_and_what_it_earned(tmp_path: Path) -> None:
    line, other = written(configured(tmp_path), range(1, 2), groups=1)
    assert line == {
        "step": 1,
        "problem": "p0",
        "role": "solver",
        "prompt": "prompt p0",
        "completion": "é 1.0",
        "verdict": "AC",
        "reason": "why",
        "reward": 1.0,
        "penalty": 0.0,
        "advantage": pytest.approx(0.707, abs=1e-3),
        "prompt_tokens": 1,
        "tokens": 2,
        "truncated": False,
        "masked": False,
        "version": 0,
    }
    assert (other["verdict"], other["advantage"]) == ("WA", -line["advantage"])


@pytest.mark.parametrize(
    ("which", "problems"), [("none", []), ("sampled", ["p0", "p3"]), ("all", [*map("p{}".format, range(6))])]
)
def test_two_groups_a_step_are_kept_by_default(tmp_path: Path, which: str, problems: list[str]) -> None:
    lines = written(configured(tmp_path, rollouts=which), range(1, 3))
    assert list(dict.fromkeys(line["problem"] for line in lines)) == problems
    assert len(lines) == 2 * 2 * len(problems)


def advantages(config: Config, batch: Batch) -> list[float | None]:
    kept = Rollouts(config)
    kept.write(1, batch, trained_episodes(batch.groups, config), str)
    kept.close()
    return [line["advantage"] for line in read(config.folder)]


def test_a_sample_that_does_not_train_is_kept_without_an_advantage(tmp_path: Path) -> None:
    batch = Batch([group(0, (None, 1.0))], dropped=[group(1, (1.0, 1.0))])
    assert advantages(configured(tmp_path), batch) == [None, 0.0, None, None], (
        "no other sample of the first group counts"
    )


def test_the_advantage_is_the_one_that_is_trained_with(tmp_path: Path) -> None:
    config, batch = configured(tmp_path, normalise=True), Batch([group(0, (1.0, 0.0, 0.0)), group(1)])
    found = advantages(config, batch)
    assert found == [row.advantage for rows in training_rows(trained_episodes(batch.groups, config)) for row in rows]
    plain = advantages(configured(tmp_path / "plain"), batch)
    assert found != pytest.approx(plain)
    assert sum(found) == pytest.approx(0)  # type: ignore[arg-type]


def test_the_files_are_bounded_and_the_newest_samples_stay(tmp_path: Path) -> None:
    config = configured(tmp_path, rollouts_bytes=8000)
    lines = written(config, range(1, 201))
    sizes = [(config.folder / name).stat().st_size for name in (ROLLOUTS, OLDER)]
    assert sum(sizes) < 8000 + 2 * 1500, "a step more than the limit"
    steps = [line["step"] for line in lines]
    assert steps == sorted(steps)
    assert steps[-1] == 200
    assert len(set(steps)) > 2


def test_steps_that_run_again_are_not_kept_twice(tmp_path: Path) -> None:
    config = configured(tmp_path)
    once = written(config, range(1, 9))
    with (config.folder / ROLLOUTS).open("a") as file:
        file.write('{"step": 8, "problem": "to')  # killed while it wrote
    again = written(config, range(6, 9), done=5)
    assert again == once


def shown(folder: Path, *options: str) -> str:
    console = Console(file=(out := io.StringIO()), width=100, soft_wrap=True)
    samples.main(["--show", str(folder), *options], console)
    return out.getvalue()


def test_samples_can_be_read_and_filtered(tmp_path: Path) -> None:
    config = configured(tmp_path)
    written(config, range(1, 4))
    text = shown(config.folder)
    assert "step 3 · p3 · solver · WA · reward 0 · advantage -0.71 · 2 tokens · why" in text
    assert text.count("prompt p3") == 3, "a group's prompt is printed once"
    assert text.rstrip().endswith("10 of 12 samples, mean reward 0.500")
    assert "1 of 1 samples" in shown(config.folder, "--step", "2", "--verdict", "WA", "--problem", "p0")
    assert "4 of 4 samples" in shown(config.folder, "--step", "2..3", "--reward", "0.5..")
    assert "2 of 8 samples" in shown(config.folder, "--step", "2..", "--limit", "2")
    with pytest.raises(ConfigError, match="no such samples"):
        shown(config.folder, "--role", "tester")


def test_the_command_prints_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = configured(tmp_path)
    written(config, range(1, 2), groups=1)
    assert main(["--show", str(config.folder), "--verdict", "AC"]) == 0
    assert "[" not in (said := capsys.readouterr().out)
    assert "é 1.0" in said
    assert main(["--show", str(tmp_path / "nothing")]) == 2
    assert "no such samples" in capsys.readouterr().err


def test_markup_in_samples_is_text(tmp_path: Path) -> None:
    config = configured(tmp_path)
    kept = Rollouts(config)
    prompt = Prompt("[red]", [1], {})
    episodes = [Episode(prompt, Completion([1], [0.0], "x[/b]", False, 0, 0), Reward(1.0)) for _ in range(2)]
    kept.write(1, Batch([Group(prompt, episodes)]), [], lambda _: "[bold]q")
    kept.close()
    text = shown(config.folder)
    assert "[bold]q" in text
    assert "x[/b]" in text
    assert "[red]" in text
    assert json.dumps("x[/b]") in (config.folder / ROLLOUTS).read_text()
