#!/usr/bin/env python3
"""A release is made twice, from two clones in folders with different names: the same bytes, and both pass their own checks. Minutes.

usage: reproducible.py [ARCH]...        architectures of the static commands (default: amd64)
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import ROOT, case, check, equal, main, need, scratch

ARCHES = sys.argv[1:] or ["amd64"]


def made(name):
    """The digests of a release that is made in a clone, without the compiler's cache."""
    clone = os.path.join(scratch(), name)
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    command = [os.path.join(clone, "tools/release/build"), *(word for arch in ARCHES for word in ("--arch", arch))]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env={**{key: value for key, value in os.environ.items() if key != "SOURCE_DATE_EPOCH"}, "CCACHE_DISABLE": "1"})
    check(done.returncode == 0, done.stdout[-3000:])
    with open(os.path.join(clone, "dist/SHA256SUMS"), encoding="utf-8") as file:
        return file.read()


@case("two clones give the same bytes")
def twice():
    for tool in "git", "npm", "abidw":
        need(tool)
    first = made("first")
    check(len(first.splitlines()) == len(ARCHES) + 4, first)
    equal(made("the-second-one"), first, "digests")


main()
