"""Reads configurations: a file over the algorithm's settings over the defaults, and `section.key=value` over all."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sandbox_service.errors.fields import describe
from trainer.config.run import Config
from trainer.errors import ConfigError

CONFIGS = Path(__file__).parents[1] / "configs"  # shipped with the trainer
ALGORITHMS = Path(__file__).with_name("algorithms.toml")


@cache
def algorithms() -> Mapping[str, Mapping[str, Any]]:
    """Return the settings of each algorithm by its name."""
    return tomllib.loads(ALGORITHMS.read_text())


def shipped() -> list[str]:
    """Return the names of the shipped configurations."""
    return sorted(path.stem for path in CONFIGS.glob("*.toml"))


def load(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Return the configuration at a path, or of a shipped name, with overrides `a.b=value`. Raise ConfigError."""
    try:
        path = _found(path)
        text = path.read_text()
        settings = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        if not isinstance(settings, dict):
            raise ValueError("settings by section are expected")
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}") from None
    for override in overrides:
        settings = merge(settings, _override(override))
    return resolve(settings, str(path))


def resolve(settings: Mapping[str, Any], origin: str = "the configuration") -> Config:
    """Return settings over those of the algorithm and the defaults. Raise ConfigError, which names their origin."""
    name = settings.get("algorithm", "grpo")
    if name not in [*algorithms()]:  # a list may have no hash
        raise ConfigError(f"{origin}: algorithm: {name!r} is not one of {', '.join(algorithms())}")
    try:
        return Config.model_validate_json(json.dumps(merge(algorithms()[name], settings), default=str))  # dates of TOML
    except ValidationError as error:
        raise ConfigError(f"{origin}: {describe(error, whole='this')}") from None


def _found(path: Path) -> Path:
    """Return the path of a file or a shipped configuration. Raises ConfigError if there is neither."""
    if path.is_file() or path.name != str(path) or path.suffix in (".toml", ".json"):
        return path
    if path.name not in shipped():
        raise ConfigError(f"{path}: neither a file nor a shipped configuration; there are {', '.join(shipped())}")
    return CONFIGS / f"{path.name}.toml"


def _override(text: str) -> dict[str, Any]:
    """Parse `a.b=value`, with the value in TOML or as text. Raises ConfigError."""
    key, equals, value = text.partition("=")
    for literal in (value, json.dumps(value, ensure_ascii=False)) if equals else ():
        with suppress(tomllib.TOMLDecodeError, RecursionError):
            return tomllib.loads(f"{key} = {literal}")
    raise ConfigError(f"{text!r}: expected section.key=value")


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return the mapping above merged into the one below. A table "loss" with another name inherits no constants."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            is_other_loss = key == "loss" and value.get("name") not in (None, old.get("name"))
            merged[key] = value if is_other_loss else merge(old, value)
        else:
            merged[key] = value
    return merged
