"""Builds the wheel of the Python package and installs it into a folder."""
import glob
import os
import shutil
import subprocess
import sys

from harness import check

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python")


def find_python(*modules):
    """A Python that can build the package, and has these modules: this one, or that of the system."""
    needed = ", ".join(["setuptools", "wheel", "cffi", "pip", *modules])  # setuptools before what imports distutils
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", f"import {needed}"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def install(python, build, folder):
    source, wheels, target = (os.path.join(folder, name) for name in ("source", "wheels", "installed"))
    shutil.copytree(PACKAGE, os.path.join(source, "python"), ignore=shutil.ignore_patterns("*.so", "build", "*.egg-info", "__pycache__"))
    for name in "include", "meson.build":
        os.symlink(os.path.join(os.path.dirname(PACKAGE), name), os.path.join(source, name))
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    # No library is installed: that of the checkout is used, if there is one.
    environment = {name: value for name, value in os.environ.items() if name != "NTRACE_BUILD"}
    environment |= {"PKG_CONFIG_LIBDIR": folder, "CFLAGS": "-O0 -g0"}  # to optimize the module would be a quarter of the whole test
    said = subprocess.run([python, "build_ffi.py"], cwd=os.path.join(source, "python"), env=environment, stderr=subprocess.PIPE, text=True)
    check(said.returncode and said.stderr.startswith("libntrace is missing: run `make`"), f"without a library: {said.stderr}")
    os.symlink(os.path.abspath(build), os.path.join(source, "build"))
    quiet = {"stdout": sys.stderr, "check": True, "env": environment}
    subprocess.run([*pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", wheels, os.path.join(source, "python")], **quiet)
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", target, *glob.glob(os.path.join(wheels, "*.whl"))], **quiet)
    return target
