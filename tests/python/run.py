#!/usr/bin/env python3
"""Build the wheel of the Python package, install it into a temporary folder and run the tests of pytest there.

usage: run.py BUILD NTRACE
"""
import glob
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import case, check, main, scratch, skip

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "python")
NEEDED = "import setuptools, wheel, cffi, pytest, pip"  # setuptools before what imports distutils


def find_python():
    """A Python with what is needed: this one, or that of the system."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", NEEDED], stderr=subprocess.DEVNULL).returncode == 0:
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
    environment["PKG_CONFIG_LIBDIR"] = folder
    said = subprocess.run([python, "build_ffi.py"], cwd=os.path.join(source, "python"), env=environment, stderr=subprocess.PIPE, text=True)
    check(said.returncode and said.stderr.startswith("libntrace is missing: run `make`"), f"without a library: {said.stderr}")
    os.symlink(os.path.abspath(build), os.path.join(source, "build"))
    quiet = {"stdout": sys.stderr, "check": True, "env": environment}
    subprocess.run([*pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", wheels, os.path.join(source, "python")], **quiet)
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", target, *glob.glob(os.path.join(wheels, "*.whl"))], **quiet)
    return target


def judge(result):
    """Of one test of pytest."""
    skipped = result.find("skipped")
    if skipped is not None:
        skip(skipped.get("message"))
    check(not [item for item in result if item.tag in ("failure", "error")], "\n".join("\n".join((item.text or "").splitlines()[-25:]) for item in result))


def run_pytest(python):
    """Builds, installs, runs all tests, and registers a case for each."""
    build, ntrace = sys.argv[1:3]
    target, results = install(python, build, scratch()), os.path.join(scratch(), "results.xml")
    environment = dict(os.environ, PYTHONPATH=target, NTRACE=os.path.abspath(ntrace), PYTHONDONTWRITEBYTECODE="1", LD_LIBRARY_PATH=os.path.abspath(build))
    subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={results}", f"--basetemp={scratch()}/tests", HERE],
                   stdout=sys.stderr, env=environment, cwd=scratch(), check=False)
    for result in ElementTree.parse(results).iter("testcase"):
        case(f"{result.get('classname', '').split('.')[-1]} {result.get('name')}", result)(judge)


PYTHON = find_python()
if PYTHON:
    run_pytest(PYTHON)
else:
    case("the package: all cases")(lambda: skip("python-packages"))
main()
