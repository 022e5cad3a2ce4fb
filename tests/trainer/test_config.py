"""Tests of the precedence and validation of settings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trainer.config import Config, algorithms, load, resolve
from trainer.errors import ConfigError

LEAST = 'model.path = "m"\ndata.train = ["d.jsonl"]\n'
SAID: dict[str, Any] = {"model": {"path": "m"}, "data": {"train": ["d.jsonl"]}}


def written(folder: Path, more: str = "", name: str = "run.toml") -> Path:
    path = folder / name
    path.write_text(LEAST + more)
    return path


def test_the_least_that_can_be_said(tmp_path: Path) -> None:
    config = load(written(tmp_path))
    assert (config.model.path, config.data.train, config.algorithm) == ("m", ("d.jsonl",), "grpo")
    assert config.folder == Path("runs/run")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("colour = 1", "colour is not known"),
        ("[rollout]\nsample = 4", "rollout.sample is not known"),
        ("[optimiser]\nlr = '1e-6'", "optimiser.lr should be a number"),
        ("[rollout]\nsamples = 4.0", "rollout.samples should be an integer"),
        ("[rollout]\nsamples = true", "rollout.samples"),
        ("[rollout]\nsamples = 1", "rollout.samples should be greater than or equal to 2"),
        ("[buffer]\ndepth = 2\nmax_staleness = 1", "max_staleness must be at least buffer.depth, 2"),
        (
            "[rollout]\nmax_model_len = 2048",
            "leaves no room for a response to a prompt",
        ),
        (
            "[advantage]\nnormalise = true\n[reward]\noverlong_filter = 'silence'",
            "silenced samples an advantage",
        ),
        ("[rollout]\nprompts = 4\n[optimiser]\nminibatches = 5", "groups are not split"),
        ("[sync]\ntransport = 'memory'", "sync.transport should be 'auto', 'file' or 'broadcast'"),
        (
            "[rollout]\nengine = 'colocated'\n[sync]\ntransport = 'file'",
            "requires sync.transport = 'auto' and no delta",
        ),
        ("[rollout]\nservers = ['http://a']\nreplicas = 2", "that the trainer starts"),
        ("[rollout]\nturns = true\n[buffer]\ndepth = 1", "requires buffer.depth = 0"),
        ("[rollout]\nturns = true\n[sync]\ntransport = 'broadcast'", "excludes sync.transport = 'broadcast'"),
        ("[rollout]\nreplicas = 2\ntensor_parallel = 2\ndevices = '0,1'", "must name 4 GPUs"),
        ("[rollout]\nprompts = 4\n[optimiser]\nminibatch_prompts = 5", "groups are not split"),
        ("[optimiser]\nminibatches = 2\nminibatch_prompts = 5", "exclude each other"),
        ("[loss]\ndual_clip = 1.0", "dual_clip should be greater than 1"),
        ("[loss]\nclip_low = 1.0", "clip_low should be less than 1"),
        ("[kl]\nquantile = 80", "kl.quantile"),
        ("[kl]\nestimator = 'k4'", "kl.estimator should be 'k2' or 'k3'"),
        ("[correction]\nname = 'is'", "correction.name should be 'none', 'tis', 'icepop' or 'sequence'"),
        ("[advantage]\nname = 'gae'", "advantage.name should be 'grpo', 'dr_grpo' or 'rloo'"),
        ("model.attention = 'sdpa'\n[deepspeed]\nsequence_parallel = 2", "requires model.attention"),
        ("[buffer]\ndepth = 'deep'", "buffer.depth"),
        ("[rollout]\nmax_tokens = 8\n[reward]\noverlong_buffer = 9", "a response has only 8 tokens"),
        ("steps = 0", "steps"),
        ("data.shuffle = true", "data.shuffle is not known"),
        ("data.order = 'random'", "data.order"),
        ("data.difficulty = [0.5, 0.2]", "is not a range"),
        ("data.difficulty = [0.5, 1.2]", "less than or equal to 1"),
        ("[optimiser]\nlr = inf", "optimiser.lr should be a finite number"),
        ("[optimiser]\nbetas = [0.9, 1.0]", "optimiser.betas[1] should be less than 1"),
        ("[correction]\nlow = 3.0", "correction.low"),
        ("[sync]\ntimeout_seconds = 0", "sync.timeout_seconds"),
        ("[rollout]\npatience_seconds = nan", "rollout.patience_seconds"),
        ("[rollout]\nservers = ['http://a', 'http://a/']", "names a server twice"),
        ("[rollout]\nreplicas = 2\ndevices = '0,0'", "must name 2 GPUs"),
        ("[reward]\nurl = 'http://'", "reward.url"),
        ("name = '../other'", "name should match"),
        ("name = ''", "name should match"),
        ("[duel]\ntesters = 2\nask = 'test it'", "the question has no {statement}"),
        ("seed = 4294967296", "seed should be less than 4294967296"),
        ("[held_out]\nproblems = ['./d.jsonl']", "held_out.problems has files of data.train"),
        ("[deepspeed.extra]\nzero_optimization = 3", "zero_optimization is a table without a stage"),
        ("steps = 2024-01-01", "steps should be an integer"),
        ("[reward]\nlimits = 3", "reward.limits should be an object"),
        ("[duel]\ntesters = 2\ntrains = 'solver'\nopponent = 'host:1'", "duel.opponent should match"),
        ("data.format = 'think_answer'", "data.format should be 'chat' or 'plain'"),
        ("[rollout]\nturns = true\nreplicas = 0", "rollout.replicas should be greater than or equal to 1"),
        ("[deepspeed.extra.zero_optimization]\nstage = 3", "set deepspeed.zero"),
    ],
)
def test_what_cannot_be_is_refused_by_name(tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        load(written(tmp_path, more))
    assert str(refusal.value).startswith(str(tmp_path / "run.toml"))
    assert said in str(refusal.value)


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"(?s)colour.*shape|shape.*colour"):
        load(written(tmp_path, "colour = 1\nshape = 2"))


def test_what_must_be_said_is_asked_for() -> None:
    with pytest.raises(ConfigError, match=r"(?s)model is missing.*data is missing"):
        resolve({})
    with pytest.raises(ConfigError, match=r"data\.train"):
        resolve(SAID | {"data": {"train": []}})


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml"):
        load(tmp_path / "gone.toml")
    with pytest.raises(ConfigError, match=r"run\.toml"):
        load(written(tmp_path, "steps ="))

    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(ConfigError, match=r"run\.json: settings by section are expected"):
        load(tmp_path / "run.json")


def test_an_unknown_algorithm_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="'ppo' is not one of grpo, dapo"):
        resolve(SAID | {"algorithm": "ppo"})
    with pytest.raises(ConfigError, match="is not one of grpo, dapo"):
        resolve(SAID | {"algorithm": ["grpo"]})


@pytest.mark.parametrize(
    ("override", "value"),
    [
        ("steps=7", 7),
        ("optimiser.lr=1e-5", 1e-5),
        ("watch.tensorboard=false", False),
        ("name=fine run", "fine run"),
        ('name="7"', "7"),
        ('data.train=["a", "b"]', ("a", "b")),
        ("reward.limits.cpu_seconds=2.5", 2.5),
        ("loss.clip_high=0.3", 0.3),
        ("kl.high_entropy_coefficient=0.0", 0.0),
        (" steps = 7 ", 7),
        ("name=a=b", "a=b"),
    ],
)
def test_an_override_is_typed_and_goes_before_the_file(tmp_path: Path, override: str, value: object) -> None:
    found: Any = load(written(tmp_path, 'steps = 3\nname = "x"\nwatch.tensorboard = true\n'), [override]).model_dump()
    for part in override.partition("=")[0].strip().split("."):
        found = found[part]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("override", ["steps", "=3", "steps=many", "stepz=3", "name=3", "steps=" + "[" * 9000])
def test_an_override_that_says_nothing_sensible_is_refused(tmp_path: Path, override: str) -> None:
    with pytest.raises(ConfigError):
        load(written(tmp_path), [override])


def test_of_two_overrides_the_later_one_holds(tmp_path: Path) -> None:
    assert load(written(tmp_path), ["steps=1", "steps=2"]).steps == 2


def test_an_algorithm_is_below_what_the_file_says(tmp_path: Path) -> None:
    config = load(written(tmp_path, 'algorithm = "dapo"\n[loss]\nclip_high = 0.22\n[reward]\noverlong_buffer = 16\n'))
    assert config.loss.constants == {"clip_low": 0.2, "clip_high": 0.22, "dual_clip": 10.0}
    assert (config.reward.overlong_buffer, config.reward.overlong_factor) == (16, 1.0)
    assert config.buffer.drop_flat


def test_an_algorithm_that_is_overridden_brings_its_own(tmp_path: Path) -> None:
    config = load(written(tmp_path, 'algorithm = "dapo"\n'), ["algorithm=gspo"])
    assert config.loss.constants == {"clip_low": 3e-4, "clip_high": 4e-4}
    assert not config.buffer.drop_flat


def test_another_loss_takes_no_constants_from_the_algorithm() -> None:
    config = resolve(SAID | {"algorithm": "dapo", "loss": {"name": "aspo"}})
    assert config.loss.constants == {}
    assert config.buffer.drop_flat, "the rest of the algorithm stays"


def test_another_loss_on_the_command_line_takes_none_from_the_file(tmp_path: Path) -> None:
    config = load(
        written(tmp_path, "[loss]\nname = 'gspo'\nclip_low = 0.5\n"), ["loss.name=cispo", "loss.clip_high=2.0"]
    )
    assert config.loss.constants == {"clip_high": 2.0}


def test_the_same_loss_keeps_what_is_not_said() -> None:
    config = resolve(SAID | {"algorithm": "dapo", "loss": {"name": "grpo", "clip_high": 0.5}})
    assert config.loss.constants == {"clip_low": 0.2, "clip_high": 0.5, "dual_clip": 10.0}


@pytest.mark.parametrize("name", list(algorithms()))
def test_every_algorithm_is_a_configuration(name: str) -> None:
    config = resolve(SAID | {"algorithm": name})
    for section, settings in algorithms()[name].items():
        found = getattr(config, section).model_dump()
        assert {key: found[key] for key in settings} == dict(settings)


@pytest.mark.parametrize("name", list(algorithms()))
def test_what_a_run_saves_can_be_given_in_place_of_the_file(tmp_path: Path, name: str) -> None:
    config = resolve(
        SAID
        | {
            "algorithm": name,
            "loss": {"threshold": 0.1} if name == "m2po" else {"clip_low": 0.1},
            "reward": {"limits": {"cpu_seconds": 2}, "url": "http://é"},
        }
        | {"optimiser": {"betas": [0.9, 0.95]}, "kl": {"high_entropy_coefficient": None}}
    )
    path = tmp_path / "config.json"
    path.write_text(config.model_dump_json(indent=2))
    assert load(path) == config
    assert load(path, ["steps=3"]).steps == 3


def test_a_saved_loss_that_is_changed_takes_no_constants_along(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(resolve(SAID | {"algorithm": "dapo"}).model_dump_json())
    assert load(path, ["loss.name=cispo"]).loss.constants == {}


def test_nothing_can_be_changed_afterwards() -> None:
    config = resolve(SAID)
    with pytest.raises(ValueError, match="frozen"):
        config.steps = 3  # type: ignore[misc]
    assert json.loads(config.model_dump_json())["steps"] == Config.model_fields["steps"].default


def test_a_shipped_configuration_is_known_by_its_bare_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = load(Path("archer_1.5b"), ["rollout.prompts=32"])
    assert (config.name, config.rollout.prompts) == ("archer_1.5b", 32)
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "name = 'mine'", name="archer_1.5b")
    assert load(Path("archer_1.5b")).name == "mine", "a file of that name is meant"


@pytest.mark.parametrize("name", ["archer", "configs/archer_1.5b", "archer_1.5b.toml"])
def test_what_is_neither_a_file_nor_shipped_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as refusal:
        load(Path(name))
    assert ("there are archer_1.5b" in str(refusal.value)) == (name == "archer")
    assert str(refusal.value).startswith(name)


def test_evaluation_against_a_server_needs_no_torch() -> None:
    """Its command reads settings, and imports what computes only to start vLLM."""
    script = "import sys, trainer.evaluation.__main__; print({'torch', 'vllm', 'transformers'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "set()\n"
