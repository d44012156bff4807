#!/usr/bin/env python3
"""tests/harness.py and tests/unit/run: what passes without looking is red, and skips have their form."""
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import TESTS, case, equal, folder, main, matches

HEAD = f"""import sys
sys.path.append({TESTS!r})
from harness import *
"""
# what is wrong: the script, its exit status, the output
SCRIPTS = {
    "a case that checks nothing": ("case('a')(lambda: None)", 1, r"\nnot ok 1 - a\n# the case has checked nothing\n"),
    "a case that fails, with the line of its check": (
        "@case('a')\ndef a():\n    equal(1, 2, 'one')", 1, r"\nnot ok 1 - a\n# Failure: one: expected 2, found 1\n# .*:6: equal\(1, 2, 'one'\)\n$"),
    "an exception": ("case('a')(lambda: {}['x'])", 1, r"\nnot ok 1 - a\n# KeyError: 'x'\n"),
    "an exit of status 0 inside of a case": ("case('a')(lambda: sys.exit(0))\ncase('b')(lambda: check(True, ''))", 1, r"\nnot ok 1 - a\n(#.*\n)*ok 2 - b\n$"),
    "no case": ("", 1, r"^1\.\.0\n$"),
    "a skip without a row in tests/skips.txt": ("case('a')(lambda: skip('weather'))", 1, r"\nnot ok 1 - a\n# KeyError: 'weather'\n"),
    "another number of cases than the script says": (
        "os.makedirs(SHARED + '/corpus')\ncorpus_cases('', 3, lambda path: [('a', check, True, '')])", 1,
        r"\nok 1 - a\nnot ok 2 - corpus: number of cases\n# Failure: cases: expected 3, found 1\n"),
    "a missing program: all cases are skipped": ("shutil.which = lambda name: None\ncase('a')(lambda: None)\nmain('zstd')", 0,
                                                  r"^1\.\.1\nok 1 - a # SKIP zstd: zstd is not installed\n$"),
    "a missing corpus: one line for all cases": ("corpus_cases('', 63, None)", 0,
                                                 r"^1\.\.1\nok 1 - corpus: all cases # SKIP corpus\(63\): the reference corpus was not found\n$"),
    "a filter that no case matches": ("os.environ['NTRACE_TEST_CASE'] = 'b'\ncase('a')(lambda: None)", 0, r"^1\.\.0 # SKIP filter: "),
    "a wait without end": ("case('a')(lambda: until(lambda: False, 'the end', 0.05))", 1, r"\nnot ok 1 - a\n# Failure: expected the end within 0.05 s\n"),
}


def script(text, status, output):
    path = os.path.join(folder(), "script.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD + text + "\nmain()\n")
    environment = {name: value for name, value in os.environ.items() if name != "NTRACE_TEST_CASE"}
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, env=dict(environment, NTRACE_SHARED=os.path.join(folder(), "shared")))
    equal((done.returncode, done.stderr), (status, ""), f"status and messages; output {done.stdout}")
    matches(output, done.stdout, "output")


for what, arguments in SCRIPTS.items():
    case(what, *arguments)(script)


@case("tests/unit/run: the reason of a skip", "# skip zstd\nnot ok 1 # SKIP a\n", 0, "ok 1 - a # SKIP zstd: zstd is not installed\n")
@case("tests/unit/run: a skip without a reason", "not ok 1 # SKIP a\n", 1, "not ok 1 - a\n# skipped without a reason of tests/skips.txt\n")
@case("tests/unit/run: a test that fails, and one that passes", "not ok 1 - a\nok 2 - b\n", 0, "not ok 1 - a\nok 2 - b\n")
def unit(said, status, output):
    done = subprocess.run([os.path.join(TESTS, "unit", "run"), "printf", "%s", said], capture_output=True, text=True)
    equal((done.returncode, done.stdout), (status, output), "status and output")


main()
