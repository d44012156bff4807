#!/usr/bin/env python3
"""Build the wheel of the Python package, install it into a temporary folder and run the tests of pytest there.

usage: run.py BUILD NTRACE
"""
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import case, check, main, scratch, skip
from python_package import find_python, install

HERE = os.path.dirname(os.path.abspath(__file__))


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


PYTHON = find_python("pytest")
if PYTHON:
    run_pytest(PYTHON)
else:
    case("the package: all cases")(lambda: skip("python-packages"))
main()
