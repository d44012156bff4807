#!/usr/bin/env python3
"""Commands under valgrind without errors: memcheck.py NTRACE. TAP on standard output."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from harness import NTRACE, case, check, main, scratch, skip  # noqa: E402
from commands import COMMANDS, fill, prepare  # noqa: E402

VALGRIND = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect,possible",
            "--track-fds=no", "--child-silent-after-fork=yes"]
PATHS = {}


def memcheck(arguments):
    if not shutil.which("valgrind"):
        skip("no valgrind")
    if not PATHS:
        PATHS.update(prepare())
    done = subprocess.run(VALGRIND + [NTRACE] + [fill(a, PATHS, os.path.join(scratch(), "answer")) for a in arguments],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    messages = done.stderr.decode(errors="replace")
    if done.returncode == 2 and "not " in messages:
        skip(messages.strip().splitlines()[-1])
    check(done.returncode == 0, f"status {done.returncode}: {messages[-3000:]}")


for command_name, command_arguments in COMMANDS:
    @case(command_name)
    def _(arguments=command_arguments):
        memcheck(arguments)

main()
