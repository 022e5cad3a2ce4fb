"""Runs in SandboxFusion's environment: programs by `run_code`, sync and async, and answers by `submit`."""

# mypy: ignore-errors

import asyncio
from concurrent.futures import ThreadPoolExecutor

import sandbox_fusion as sdk
from asked import answer_all


def run(asked):
    """Return the SDK's result of a run."""
    try:
        answer = sdk.run_code(sdk.RunCodeRequest(language="python", **asked))
    except Exception as error:  # noqa: BLE001 - the SDK raises Exception itself
        return {"raised": str(error)}
    words = sdk.SummaryMapping(RunFailed="RunFailed", RunTimeout="RunTimeout", CompileFailed="CompileFailed")
    summary = sdk.summary_run_code_result(answer, words)
    return {"summary": summary, "stdout": answer.run_result and answer.run_result.stdout}


def submit(asked):
    """Return the SDK's result of an answer."""
    config = sdk.TestConfig(language="python", **asked.pop("config"))
    try:
        result = sdk.submit(sdk.SubmitRequest(config=config, **asked))
    except Exception as error:  # noqa: BLE001 - the SDK raises Exception itself
        return {"raised": str(error)}
    passed = [test.passed for test in result.tests]
    return {"accepted": result.accepted, "passed": passed, "code": result.extracted_code, "type": result.extracted_type}


async def run_all_async(programs):
    async def one(asked):
        answer = await sdk.run_code_async(sdk.RunCodeRequest(language="python", **asked))
        return answer.run_result.stdout

    return await asyncio.gather(*map(one, programs))


def answer(asked):
    sdk.set_endpoint(asked["url"])
    with ThreadPoolExecutor(16) as threads:
        return {
            "run": list(threads.map(run, asked.get("run", []))),
            "submit": list(threads.map(submit, asked.get("submit", []))),
            "async": asyncio.run(run_all_async(asked.get("async", []))),
        }


if __name__ == "__main__":
    answer_all(answer)
