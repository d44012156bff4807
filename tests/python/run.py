#!/usr/bin/env python3
"""Build the wheel of the Python package, install it into a temporary folder and run the tests there. TAP on standard output.

usage: run.py BUILD NTRACE
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

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
    os.symlink(os.path.join(os.path.dirname(PACKAGE), "include"), os.path.join(source, "include"))
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    # No library is installed: that of the checkout is used, if there is one.
    environment = {name: value for name, value in os.environ.items() if name != "NTRACE_BUILD"}
    environment["PKG_CONFIG_LIBDIR"] = folder
    said = subprocess.run([python, "build_ffi.py"], cwd=os.path.join(source, "python"), env=environment, stderr=subprocess.PIPE, text=True)
    if said.returncode == 0 or not said.stderr.startswith("libntrace is missing: run `make`"):
        sys.exit(f"Bail out! without a library: {said.stderr}")
    os.symlink(os.path.abspath(build), os.path.join(source, "build"))
    quiet = {"stdout": sys.stderr, "check": True, "env": environment}
    subprocess.run([*pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", wheels, os.path.join(source, "python")], **quiet)
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", target, *glob.glob(os.path.join(wheels, "*.whl"))], **quiet)
    return target


def report(path):
    cases = list(ElementTree.parse(path).iter("testcase"))
    print(f"1..{len(cases)}")
    for number, case in enumerate(cases, 1):
        name = f"{case.get('classname', '').split('.')[-1]} {case.get('name')}"
        skipped, bad = case.find("skipped"), [item for item in case if item.tag in ("failure", "error")]
        print(f"{'not ' if bad else ''}ok {number} - {name}" + (f" # SKIP {skipped.get('message')}" if skipped is not None else ""))
        for item in bad:
            print("\n".join(f"# {line}" for line in (item.text or "").splitlines()[-25:]))


def main():
    build, ntrace = sys.argv[1:3]
    python = find_python()
    if not python:
        print("1..0 # SKIP no Python with cffi, pip, pytest, setuptools and wheel")
        return
    with tempfile.TemporaryDirectory() as folder:
        target, results = install(python, build, folder), os.path.join(folder, "results.xml")
        environment = dict(os.environ, PYTHONPATH=target, NTRACE=os.path.abspath(ntrace), PYTHONDONTWRITEBYTECODE="1",
                           LD_LIBRARY_PATH=os.path.abspath(build))
        subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={results}", f"--basetemp={folder}/tests", HERE],
                       stdout=sys.stderr, env=environment, cwd=folder, check=False)
        if not os.path.exists(results):
            sys.exit("Bail out! pytest wrote no results")
        report(results)


main()
