#!/usr/bin/env python3
"""The README's first command in bare systems of Debian and Ubuntu, with nothing of this machine: tools/in_root SUITE make demo. TAP."""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import ROOT, case, check, equal, main, need, skip


def demo(suite):
    need("mmdebstrap"), need("git")
    if os.getuid():
        skip("root")
    done = subprocess.run([os.path.join(ROOT, "tools/in_root"), suite, "make", "demo"], capture_output=True, text=True, timeout=3600)
    equal(done.returncode, 0, f"status: {done.stdout[-600:]}{done.stderr[-600:]}")
    said = re.search(r"demo: (\d+) instructions were reconstructed", done.stdout)
    check(said and int(said[1]) > 1_000_000, f"the demo ends with its number of instructions: {done.stdout[-600:]}")


for each in ("bookworm", "trixie", "noble"):
    case(f"{each}: make demo", each)(demo)
main()
