"""The inference engines: vLLM servers over HTTP, or vLLM in this process. Only `vllm_ext` imports vLLM besides."""

import asyncio

from trainer.config import Config
from trainer.engines.colocated import ColocatedEngine
from trainer.engines.process import Notice, VllmProcess
from trainer.engines.server import ServerEngine
from trainer.engines.server_pool import ServerPool

Engine = ServerPool | ColocatedEngine  # ServerPool describes the methods


async def start_engines(config: Config, notice: Notice = print) -> Engine:
    """Return an engine, connected to vLLM or started, with unverified weights; a notice tells of outages."""
    if config.rollout.engine == "colocated":
        return await ColocatedEngine(config).open()
    servers = [ServerEngine(config, url, notice) for url in config.rollout.servers]
    if not servers:
        processes = [VllmProcess.from_config(config, number) for number in range(config.rollout.replicas)]
        servers = [ServerEngine(config, each.url, notice, each) for each in processes]
    pool = ServerPool(servers, config.rollout.patience_seconds, config.rollout.concurrency)
    opened = await asyncio.gather(*(server.open() for server in servers), return_exceptions=True)
    if errors := [each for each in opened if isinstance(each, BaseException)]:
        await pool.close()
        raise errors[0]
    return pool
