"""Tests that any ZeRO stage, number of ranks and number of micro-batches takes the same step as plain PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.markers import some
from tests.trainer.launcher import Running, start_ranks
from tests.trainer.policy_steps import EVERY, FEW, LORA, SHAPES, STEPS, TEMPERATURE, rows, settings
from tests.trainer.tiny import save_tiny
from trainer.batch import collate
from trainer.config.sections import Lora, Optimiser
from trainer.errors import ConfigError
from trainer.model import add_adapters, load, weights_of
from trainer.policy import deepspeed_settings, learning_rate
from trainer.ranks import Ranks

SECONDS = 1800  # a guard against hanging
RANKS = (1, 2)
close = partial(torch.testing.assert_close, rtol=2e-5, atol=2e-6)  # float32, in another order, three steps of 1e-3


@dataclass(frozen=True)
class Made:
    """The scenarios' outcomes, by the number of ranks and by name."""

    folder: Path
    by_ranks: dict[int, dict[str, Any]]

    def __call__(self, ranks: int, scenario: str) -> dict[str, Any]:
        made: dict[str, Any] = self.by_ranks[ranks][scenario]
        return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Made:
    """What one and what two ranks came to, with the stages of the selected tests."""
    folder = tmp_path_factory.mktemp("policy")
    save_tiny(folder / "model", hidden=64)
    save_tiny(folder / "untied", hidden=64, tied=False)
    save_tiny(folder / "other", hidden=64, seed=1)
    own = [item for item in request.session.items if item.path == request.path]
    stages = "every" if any(item.get_closest_marker("full") for item in own) else "few"
    module, arguments = "tests.trainer.policy_steps", [str(folder), stages]
    running = [Running(module, arguments, {}), *start_ranks(module, arguments, 2)]
    for status, said in [each.end(SECONDS) for each in running]:
        assert status == 0, said[-4000:]
    return Made(folder, {ranks: torch.load(folder / f"ranks{ranks}.pt") for ranks in RANKS})


@pytest.fixture(scope="module")
def truth(made: Made) -> dict[str, Any]:
    return plainly(made.folder / "model")


def plainly(path: Path) -> dict[str, Any]:
    """The same steps in the plainest way."""
    model = plain_model(path)
    return train_plainly(model) | {"weights": dict(model.named_parameters())}


def plain_model(path: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)


def train_plainly(model: Any) -> dict[str, Any]:
    """What three steps of plain torch on all parameters that have gradients come to."""
    batch = rows()
    tokens = sum(row.response for row in batch)
    trained = [each for each in model.parameters() if each.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=0.0, eps=1e-4, weight_decay=0.01)
    losses, norms, entropies = [], [], []
    for step in range(STEPS):
        optimiser.param_groups[0]["lr"] = (0.5e-3, 1e-3, 1e-3)[step]  # two of warm-up, then down from the third on
        loss, entropy = torch.zeros(()), 0.0
        for row in batch:
            ids = torch.tensor([row.ids])
            all_logp = torch.log_softmax(model(ids).logits[0, :-1] / TEMPERATURE, -1)[-row.response :]
            logp = all_logp.gather(1, ids[0, -row.response :, None])
            loss = loss - row.advantage * logp.sum() / tokens
            entropy -= float((all_logp.exp() * all_logp).sum().detach()) / tokens
        loss.backward()  # type: ignore[no-untyped-call]
        norms.append(float(torch.nn.utils.clip_grad_norm_(trained, 1.0)))
        optimiser.step()
        optimiser.zero_grad()
        losses.append(float(loss.detach()))
        entropies.append(entropy)
    return {"loss": losses, "grad_norm": norms, "entropy": entropies}


def assert_same_weights(weights: dict[str, Tensor], truth: dict[str, Tensor]) -> None:
    assert list(weights) == list(truth)
    for name, weight in weights.items():
        close(weight, truth[name].detach(), msg=name)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("zero", some(EVERY.plain, FEW.plain))
@pytest.mark.parametrize("accumulation", ["one", "several"])
def test_every_stage_is_plain_torch(
    made: Made, truth: dict[str, Any], ranks: int, zero: int, accumulation: str
) -> None:
    run = made(ranks, f"{accumulation} {zero}")
    assert run["micro"] == {"one": 1, "several": 4 // ranks}[accumulation]
    for figure in ("loss", "grad_norm", "entropy"):
        assert [each[figure] for each in run["seen"]] == pytest.approx(truth[figure], rel=1e-5)
    assert_same_weights(run["weights"], truth["weights"])


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("zero", some(EVERY.untied, FEW.untied))
def test_an_output_embedding_of_its_own_learns_too(made: Made, ranks: int, zero: int) -> None:
    truth = plainly(made.folder / "untied")["weights"]
    assert "lm_head.weight" in truth
    assert_same_weights(made(ranks, f"untied {zero}")["weights"], truth)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("zero", some(EVERY.adapters, FEW.adapters))
def test_adapters_learn_and_nothing_else_does(made: Made, ranks: int, zero: int) -> None:
    run = made(ranks, f"adapters {zero}")
    torch.manual_seed(0)
    model = plain_model(made.folder / "model")
    add_adapters(model, Lora(**LORA))
    names = [name for name, _ in plain_model(made.folder / "model").named_parameters()]
    before = {each.name: each.whole().clone() for each in weights_of(model)}
    truth = train_plainly(model)
    expected = {each.name: each.whole() for each in weights_of(model)}
    assert list(run["before"]) == list(run["weights"]) == names
    for figure in ("loss", "grad_norm", "entropy"):
        assert [each[figure] for each in run["seen"]] == pytest.approx(truth[figure], rel=1e-5)
    assert_same_weights(run["before"], before)
    assert_same_weights(run["weights"], expected)
    changed = {name for name, weight in run["weights"].items() if not torch.equal(weight, run["before"][name])}
    assert changed == {name for name in names if name.endswith("proj.weight")}
    assert_same_weights({name: run["saved"][name] for name in names}, run["weights"])


@pytest.mark.parametrize("zero", some(EVERY.split, FEW.split))
def test_rows_split_over_two_ranks_are_the_same(made: Made, truth: dict[str, Any], zero: int) -> None:
    """Every rank sees all log-probabilities, so the tokens' figures are those of one rank, counted twice."""
    run = made(2, f"several split {zero}")
    assert run["micro"] == 4
    for figure in ("grad_norm", "entropy"):
        assert [each[figure] for each in run["seen"]] == pytest.approx(truth[figure], rel=1e-5)
    assert_same_weights(run["weights"], truth["weights"])
    split = made(2, f"reference split {zero}")
    assert torch.equal(split["first"], split["frozen"])


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("zero", some(EVERY.offload, FEW.offload))
def test_an_offloaded_optimiser_is_the_same(made: Made, truth: dict[str, Any], ranks: int, zero: int) -> None:
    assert_same_weights(made(ranks, f"offload {zero}")["weights"], truth["weights"])


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("zero", some(EVERY.bfloat16, FEW.bfloat16))
def test_bfloat16_runs_close_by(made: Made, truth: dict[str, Any], ranks: int, zero: int) -> None:
    run = made(ranks, f"bfloat16 {zero}")
    assert [each["loss"] for each in run["seen"]] == pytest.approx(truth["loss"], rel=0.01)
    assert [each["grad_norm"] for each in run["seen"]] == pytest.approx(truth["grad_norm"], rel=0.02)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("zero", some(EVERY.plain, FEW.plain))
def test_weights_are_there_before_any_pass(made: Made, ranks: int, zero: int) -> None:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(made.folder / "model", dtype=torch.float32)
    before = made(ranks, f"one {zero}")["before"]
    assert list(before) == [name for name, _ in model.named_parameters()]
    assert all(torch.equal(before[name], weight) for name, weight in model.named_parameters())


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("zero", some(EVERY.plain, FEW.plain))
def test_a_nan_on_one_rank_is_a_step_that_nobody_takes(made: Made, ranks: int, zero: int) -> None:
    run = made(ranks, f"spoilt {zero}")
    assert run["spoilt"]["skipped_steps"] == 1
    assert "grad_norm" not in run["spoilt"]
    assert all(torch.equal(weight, run["after"][name]) for name, weight in run["before"].items())
    assert run["next"]["skipped_steps"] == 0
    assert run["next"]["grad_norm"] == pytest.approx(made(1, "one 0")["seen"][0]["grad_norm"], rel=1e-5)


@pytest.mark.parametrize("zero", some(EVERY.plain, FEW.plain))
def test_a_rank_without_rows_takes_part(made: Made, zero: int) -> None:
    one, two = made(1, f"lonely {zero}"), made(2, f"lonely {zero}")
    assert two["seen"][0]["grad_norm"] == pytest.approx(one["seen"][0]["grad_norm"], rel=1e-5)
    assert_same_weights(two["weights"], one["weights"])


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("zero", [0, 3])
def test_the_reference_stays_what_it_was(made: Made, ranks: int, zero: int) -> None:
    run = made(ranks, f"reference {zero}")
    close(run["frozen"], run["first"])
    assert (run["policy"] - run["first"]).abs().max() > 0.01


def test_without_a_kl_term_there_is_no_reference(made: Made) -> None:
    assert not made(1, "saved")["has_reference"]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("zero", [0, 3])
def test_prepare_sees_all_tokens_that_train(made: Made, ranks: int, zero: int) -> None:
    run, alone = made(ranks, f"preparation {zero}"), made(1, "preparation 0")
    tokens = sum(response for _, response in SHAPES)
    for (log_ratio, advantage), (expected, expected_advantage) in zip(run["told"], alone["told"], strict=True):
        assert log_ratio.shape == advantage.shape == (tokens,)
        torch.testing.assert_close(log_ratio.sort().values, expected.sort().values, rtol=1e-4, atol=2e-5)
        assert torch.equal(advantage.sort().values, expected_advantage.sort().values)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("zero", [0, 3])
def test_the_first_step_needs_no_other_pass(made: Made, ranks: int, zero: int) -> None:
    run = made(ranks, f"preparation {zero}")
    first, second, behaviour = (log_ratio for log_ratio, _ in run["told"])
    assert run["passes_at_first"] == []
    assert len(run["passes"]) == 2
    assert not first.any()
    assert second.abs().max() > 1e-3
    assert behaviour.mean().abs() > 10 * second.mean().abs()  # which is everywhere -5 in these rows


@pytest.mark.parametrize("ranks", RANKS)
def test_what_is_saved_is_a_model_with_its_tokenizer(made: Made, ranks: int) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = made.folder / f"saved{ranks}"
    model = AutoModelForCausalLM.from_pretrained(folder)
    weights = made(ranks, "saved")["weights"]
    assert model.dtype == torch.float32
    assert all(torch.equal(weights[name], weight) for name, weight in model.named_parameters())
    assert AutoTokenizer.from_pretrained(folder).decode([4 + 33]) == AutoTokenizer.from_pretrained(
        made.folder / "model"
    ).decode([4 + 33])
    assert not [each for each in made.folder.iterdir() if each.name.startswith(f"saved{ranks}.")]


def test_the_learning_rate_goes_up_and_comes_down() -> None:
    def rates(schedule: str) -> list[float]:
        optimiser = Optimiser.model_validate({"lr": 1.0, "warmup_steps": 2, "schedule": schedule})
        return [learning_rate(optimiser, step, 6) for step in range(1, 8)]

    assert rates("constant") == [0.5, 1, 1, 1, 1, 1, 1]
    assert rates("linear") == [0.5, 1, 1, 0.75, 0.5, 0.25, 0]
    assert rates("cosine") == pytest.approx([0.5, 1, 1, 0.8536, 0.5, 0.1464, 0], abs=1e-4)


def test_there_is_no_dropout_whatever_the_model_says(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    path = save_tiny(tmp_path / "model", hidden=32)
    model = AutoModelForCausalLM.from_pretrained(path)
    model.config.attention_dropout = 0.5
    model.save_pretrained(path)
    micro = collate(rows(), [1.0] * len(SHAPES))
    scorer = load(settings(tmp_path, 0), str(path)).train()
    first, second = (scorer(micro.ids, micro.positions, micro.where, micro.targets)[0] for _ in range(2))
    assert torch.equal(first, second)


def test_no_model_is_a_matter_of_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        load(settings(tmp_path, 0), str(tmp_path / "nowhere"))


def test_what_nobody_wants_is_refused(tmp_path: Path) -> None:
    for unwanted in ({"dtype": "bfloat16"}, {"offload": True}):
        with pytest.raises(ConfigError, match=r"deepspeed\.(zero|offload)"):
            settings(tmp_path, 0, **unwanted)
        settings(tmp_path, 1, **unwanted)
    ranks = object.__new__(Ranks)
    ranks.size = 3
    with pytest.raises(ConfigError, match="does not divide 3 ranks"):
        ranks.sequence_group(2)


def test_what_is_said_to_deepspeed_can_be_overruled(tmp_path: Path) -> None:
    zero = deepspeed_settings(settings(tmp_path, 3))["zero_optimization"]
    assert zero["stage"] == 3
    assert zero["stage3_param_persistence_threshold"] == 0


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", some(EVERY.kept, FEW.kept))
def test_what_was_kept_goes_on_to_the_bit(made: Made, ranks: int, name: str) -> None:
    run = made(ranks, f"kept {name}")
    (seen, weights), (expected, expected_weights) = run["got"], run["expected"]
    assert seen == expected
    assert weights.keys() == expected_weights.keys()
    assert all(torch.equal(weight, expected_weights[name]) for name, weight in weights.items())
    _, left, drawn = run["chance"]
    assert torch.equal(left, drawn), "the generators of chance go on as well"


@pytest.mark.parametrize("ranks", RANKS)
def test_what_one_rank_cannot_write_is_an_error_on_all_and_they_go_on(made: Made, ranks: int) -> None:
    run = made(ranks, "unwritable")
    assert all(all(troubles) for troubles in run["troubles"])
    assert run["next"]["skipped_steps"] == 0
    assert not run["left"], "half a model has no name"


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("zero", some(EVERY.plain, FEW.plain))
def test_the_state_of_another_model_is_refused_on_all_ranks(made: Made, ranks: int, zero: int) -> None:
    run = made(ranks, f"other {zero}")
    assert run["said"] == [run["said"][0]] * ranks
    for part in (f"is of the model {made.folder / 'model'}, ", f"those of {made.folder / 'other'}: set model.path"):
        assert part in run["said"][0]
    assert run["seen"][0]["skipped_steps"] == 0, "nothing was loaded"
