"""The traced program of this folder, and questions about a trace."""
import functools
import json
import os
import subprocess

import harness
from harness import NTRACE, check, need, scratch

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "story.c")


@functools.cache
def program():
    path = os.path.join(scratch(), "story")
    subprocess.run([need("riscv64-linux-gnu-gcc"), "-g", "-O1", "-static", "-o", path, SOURCE], check=True)
    return path


@functools.cache
def bundle(*options):
    need("qemu-riscv64")
    path = os.path.join(scratch(), "".join(["story", *options]).replace("/", "") + ".ntrace")
    done = subprocess.run([NTRACE, "run", "-q", *options, "-o", path, "--", program()], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, timeout=harness.DEADLINE, check=False)
    check(os.path.exists(path), f"ntrace run: {done.stderr[-500:]}")
    return path


def ask(trace, *questions, status=0, options=()):
    """The answers to the questions, in order."""
    words = [word for question in questions for word in ("--ask", question if isinstance(question, str) else json.dumps(question))]
    run = harness.Run("explore", trace, *options, *words, status=status)
    return [json.loads(line) for line in run.lines()]


def names(answer):
    return [function["name"] for function in answer["functions"]]
