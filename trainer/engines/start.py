"""Which engine a configuration means, and that it is there."""

from __future__ import annotations

from trainer.config import Config
from trainer.engines.base import Engine, Notice, Sampling
from trainer.engines.colocated import ColocatedEngine
from trainer.engines.process import VllmProcess
from trainer.engines.server import ServerEngine
from trainer.engines.servers import Servers


async def start_engines(config: Config, notice: Notice = print) -> Engine:
    """Connect to vLLM, or start it. It has no weights yet that were verified. Raises Away, ConfigError."""
    if config.rollout.engine == "colocated":
        return await ColocatedEngine(config).open()
    if not config.rollout.servers:
        process = VllmProcess.of(config)
        return await _server(config, process.url, notice, process).open()
    servers = [_server(config, url, notice) for url in config.rollout.servers]
    opened: list[ServerEngine] = []
    try:
        for server in servers:
            opened.append(await server.open())  # noqa: PERF401 - those that are open are closed if one is not
    except BaseException:
        for server in opened:
            await server.close()
        raise
    return opened[0] if len(opened) == 1 else Servers(opened)


def _server(config: Config, url: str, notice: Notice, process: VllmProcess | None = None) -> ServerEngine:
    rollout = config.rollout
    room = max(1, rollout.concurrency // max(1, len(rollout.servers)))
    return ServerEngine(url, Sampling.of(config), notice, rollout.patience_seconds, room, process)
