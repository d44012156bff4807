"""Cases that share one bench. A script sets the path of tests/harness.py first."""
import functools
import json
import os
import re

import harness
from harness import NTRACE, need, note, scratch, skip  # noqa: F401: need, note and skip are for the scripts


def hole(stream, first, last):
    """The stream without the bytes from `first` to `last`. The gap contains MSEO 10, which no message has: if the bytes were
    only missing, the following bytes could fit by chance."""
    return stream[:first] + b"\x02" * 7 + stream[last:]


def stream_options(bundle):
    """The options of the stream of a bundle, for a decoder that has the stream alone."""
    with open(os.path.join(bundle, "capture.json"), encoding="utf-8") as file:
        params = json.load(file)["params"]
    options = [f"--{name.replace('_', '-')}={params[name]}" for name in ("src_bits", "implicit_return", "return_stack") if name in params]
    return options + [f"--{name.replace('_', '-')}" for name in ("sequential_jump", "extend_addr", "all_jumps") if params.get(name)]


def warnings_of_genhtml(text):
    """The kinds of its warnings. lcov 2 says "unsupported": it has to find the ends of functions itself."""
    return set(re.findall(r"WARNING: (?:\((\w+)\))?", text)) - {"unsupported"}


def main(functions, bench, tools):
    """Runs each function as a case, with bench(NTRACE, FOLDER), which is made once; all are skipped where one of the tools is missing."""
    made = functools.cache(lambda: bench(NTRACE, scratch()))
    for function in functions:
        harness.case(function.__name__)(functools.wraps(function)(lambda function=function: function(made())))
    harness.main(*tools)
