#!/usr/bin/env python3
"""Example programs do what their first comment says."""
import os
import subprocess
import sys

import tiny
from harness import bytes_of, case, check, equal, main, write

FOLDER = os.path.dirname(os.path.abspath(sys.argv[2]))


def example(name, *arguments, status=0):
    done = subprocess.run([os.path.join(FOLDER, name), *arguments], capture_output=True, text=True, timeout=60, check=False)
    equal(done.returncode, status, f"{name}: exit status ({done.stderr})")
    return done


@case("instructions: address, bits and privilege of each")
def instructions():
    moves = tiny.START + "Ownership PROCESS=0x4\nProgTraceCorrelation EVCODE=0 CDF=1 ICNT=9 HIST=0x5\n"
    found = example("instructions", write("program.elf", tiny.elf()), write("moves.nex", bytes_of(moves)))
    equal(found.stdout.split("\n"), ["0 S 0x00000100 908a", "0 S 0x00000102 0e000f63", "0 S 0x00000106 003100b3",
                                     "0 S 0x0000010a 1e000b63", "0 S 0x00000300 003100b3", ""], "its output")
    equal(found.stderr, "", "its complaints")
    found = example("instructions", "/nonexistent", write("moves.nex", b""), status=1)
    check("/nonexistent: No such file" in found.stderr, found.stderr)
    example("instructions", status=2)


main()
