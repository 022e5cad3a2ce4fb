"""Builds the static programs of the sandbox beside the extension module; pyproject.toml has everything else.

Without a C compiler or a static C library the package is installed without them: Python is graded, and other languages
are reported as missing.
"""

import os
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext

GUEST = Path("sandbox_service", "guest")
WARNINGS = ["-Wall", "-Wextra", "-Wno-unused-parameter"]
# the executables that run inside the jail, and what is linked into C and C++ programs
PROGRAMS = {
    "launcher.elf": "launcher.c",
    "builder.elf": "builder.c",
    "probe.elf": "probe.c",
    "start.o": "start.c",
    "cpuid.o": "cpuid.S",
}


class BuildPrograms(build_ext):
    """Builds the extension module and the static programs into the same folder."""

    def run(self):
        super().run()
        for name, source in PROGRAMS.items():
            how = ["-c"] if name.endswith(".o") else ["-static", "-s"]
            compiler = os.environ.get("CC", "gcc").split()
            try:
                self.spawn([*compiler, "-O2", *WARNINGS, *how, str(GUEST / source), "-o", str(self._target(name))])
            except Exception as error:  # noqa: BLE001  no compiler, or no static library
                self.warn(f"{name} was not built, languages other than Python will be missing: {error}")

    def _target(self, name):
        return Path(self.get_ext_fullpath("sandbox_service.guest._box")).parent / name

    def get_outputs(self):
        built = [self._target(name) for name in PROGRAMS]
        return super().get_outputs() + [str(path) for path in built if path.exists()]


# the extension module uses the stable ABI only: one wheel is for Python 3.11 and all later versions
setup(cmdclass={"build_ext": BuildPrograms}, options={"bdist_wheel": {"py_limited_api": "cp311"}})
