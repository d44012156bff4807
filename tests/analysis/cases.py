"""Cases that share one bench; prints TAP."""
import json
import os
import shutil
import sys
import tempfile


class Skip(Exception):
    pass


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


def main(cases, bench, tools):
    """Call each case with bench(NTRACE, FOLDER); all are skipped where one of the tools is missing."""
    print(f"1..{len(cases)}")
    missing = [tool for tool in tools if not shutil.which(tool)]
    with tempfile.TemporaryDirectory() as folder:
        shared = None if missing else bench(os.path.abspath(sys.argv[1]), folder)
        for number, case in enumerate(cases, 1):
            try:
                if missing:
                    raise Skip(f"no {missing[0]}")
                case(shared)
                print(f"ok {number} - {case.__name__}")
            except Skip as reason:
                print(f"ok {number} - {case.__name__} # SKIP {reason}")
            except Exception as error:  # a wrong result can cause any exception in a case
                print(f"not ok {number} - {case.__name__}\n# {type(error).__name__}: {str(error)[:500]}")
