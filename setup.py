# SPDX-License-Identifier: Apache-2.0
"""A wheel holds the checkout as far as runs need it, in emery/checkout (emery.common.ROOT)."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent


class Build(build_py):
    def run(self):
        super().run()
        if self.editable_mode:
            return
        # The last one: `emery new system`.
        for name in ("rtl", "systems", "boards", "bench", "sw", "requirements", "tests/loop_card"):
            target = Path(self.build_lib) / "emery" / "checkout" / name
            shutil.copytree(HERE / name, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copyfile(HERE / "LICENSE", target.parent / "LICENSE")


setup(cmdclass={"build_py": Build})
