"""Judge0's `GET /config_info`: this service's limits and features under Judge0's names."""

from __future__ import annotations

from typing import Any

from sandbox_service.api.compat import judge0_programs
from sandbox_service.settings import Settings

KIB = 1 << 10
CPU_SECONDS = 5.0  # Judge0's default
MOST_IN_BATCH = 100
CALLBACK_SECONDS, CALLBACK_TRIES = 5.0, 3


def config_info(settings: Settings) -> dict[str, Any]:
    """Return limits and features. `False` stands for a refused feature, 0 for an extra that is never granted."""
    memory, output = settings.max_memory_bytes // KIB, settings.max_output_bytes // KIB
    return {
        "maintenance_mode": False,
        "enable_wait_result": True,
        "enable_compiler_options": False,
        "allowed_languages_for_compile_options": [],
        "enable_command_line_arguments": True,
        "enable_submission_delete": False,
        "enable_callbacks": bool(settings.callback_names),
        "callbacks_max_tries": CALLBACK_TRIES,
        "callbacks_timeout": CALLBACK_SECONDS,
        "enable_additional_files": True,
        "max_queue_size": settings.queue_submissions,
        "cpu_time_limit": CPU_SECONDS,
        "cpu_extra_time": 0.0,
        "max_cpu_time_limit": settings.max_cpu_seconds,
        "max_cpu_extra_time": 0.0,
        "wall_time_limit": 3 * CPU_SECONDS + 2,
        "max_wall_time_limit": settings.max_wall_seconds,
        "memory_limit": min(memory, 1 << 20),
        "max_memory_limit": memory,
        "stack_limit": memory,
        "max_stack_limit": memory,
        "max_processes_and_or_threads": settings.max_processes,
        "max_max_processes_and_or_threads": settings.max_processes,
        "enable_per_process_and_thread_time_limit": False,
        "allow_enable_per_process_and_thread_time_limit": False,
        "enable_per_process_and_thread_memory_limit": False,
        "allow_enable_per_process_and_thread_memory_limit": False,
        "max_file_size": output,
        "max_max_file_size": output,
        "max_extract_size": judge0_programs.MOST_BYTES // KIB,
        "number_of_runs": 1,
        "max_number_of_runs": 1,
        "redirect_stderr_to_stdout": False,
        "enable_network": False,
        "allow_enable_network": False,
        "enable_batched_submissions": True,
        "max_submission_batch_size": min(MOST_IN_BATCH, settings.max_batch),
        "submission_cache_duration": settings.cache_seconds,
        "use_docs_as_homepage": False,
    }
