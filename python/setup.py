"""The version is that of meson.build in the checkout; a source archive has it in PKG-INFO."""
import os
import re

from setuptools import setup

HERE = os.path.dirname(os.path.abspath(__file__))


def version():
    for path, pattern in (("../meson.build", r"version: '([^']+)'"), ("PKG-INFO", r"(?m)^Version: (\S+)")):
        if os.path.exists(os.path.join(HERE, path)):
            with open(os.path.join(HERE, path), encoding="utf-8") as file:
                return re.search(pattern, file.read())[1]
    raise SystemExit("setup.py: neither ../meson.build nor PKG-INFO is here; build from a checkout")


setup(version=version(), cffi_modules=["build_ffi.py:ffi"])
