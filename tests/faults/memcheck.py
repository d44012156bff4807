#!/usr/bin/env python3
"""Commands under valgrind without errors: memcheck.py NTRACE. TAP on standard output."""
import os
import subprocess
import sys

sys.path += [os.path.join(sys.path[0], "..", name) for name in ("", "cli", "perf")]
from harness import NTRACE, case, check, main, need, scratch
from commands import COMMANDS, fill, prepare, skip_without_feature

VALGRIND = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect,possible",
            "--track-fds=no", "--child-silent-after-fork=yes"]
PATHS = {}


def memcheck(arguments):
    need("valgrind")
    if not PATHS:
        PATHS.update(prepare())
    done = subprocess.run(VALGRIND + [NTRACE] + [fill(a, PATHS, os.path.join(scratch(), "answer")) for a in arguments],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    messages = done.stderr.decode(errors="replace")
    skip_without_feature(done.returncode, messages)
    check(done.returncode == 0, f"status {done.returncode}: {messages[-3000:]}")


for command_name, command_arguments in COMMANDS:
    @case(command_name)
    def _(arguments=command_arguments):
        memcheck(arguments)

main()
