"""Functions shared by the scripts of this folder: run the command, check, print TAP.

A script defines functions with @case("what it shows") and ends with main(). A case passes when it returns;
it fails by an exception (use check and expect), and is skipped by skip("why").
"""
import json
import os
import re
import subprocess
import sys
import tempfile

NTRACE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "build/ntrace"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("NTRACE_SHARED", os.path.join(os.path.dirname(ROOT), "shared"))
CASES = []
FOLDER = None
if os.environ.get("SHLVL", "0") == "0":
    os.environ["SHLVL"] = "1"  # else bash reads ~/.bashrc when its input is a socket, as that of helpers and of GDB's pipe is

# Every message of N-Trace 1.0, with conditional fields, and what a stream may hold besides.
MESSAGES = """\
ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80
DirectBranch ICNT=3
IndirectBranch BTYPE=2 ICNT=1 UADDR=0x480
IndirectBranchHist BTYPE=0 ICNT=125 UADDR=0x7 HIST=0xffe
Ownership PROCESS=0x3b2
Error ETYPE=0 ECODE=0x4
DirectBranchSync SYNC=2 ICNT=3 FADDR=0x100
IndirectBranchSync SYNC=2 BTYPE=0 ICNT=5 FADDR=0x100
IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=3 FADDR=0x83 HIST=0x2
ResourceFull RCODE=0 RDATA0=0x9
ResourceFull RCODE=2 RDATA0=0x5 RDATA1=150
RepeatBranch BCNT=1000
ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=4 HIST=0x3
ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0
DirectBranch ICNT=3 TSTAMP=7
ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80 TSTAMP=74565
DirectBranch ICNT=3:18
Vendor56 DATA=0x1f:6,0x0:6
Reserved1 DATA=0x3:6
"""


class Skip(Exception):
    pass


class Failure(Exception):
    pass


def skip(why):
    raise Skip(why)


def check(good, message):
    if not good:
        raise Failure(message)


def equal(found, expected, what):
    check(found == expected, f"{what}: expected {expected!r}, found {found!r}"[:2000])


def matches(pattern, text, what):
    check(re.search(pattern, text), f"{what}: expected {pattern!r}, found {text!r}"[:2000])


def case(name):
    def add(function):
        CASES.append((name, function))
        return function
    return add


class Run:
    """One run of the command. `status` None: any of 0, 1 and 2."""

    def __init__(self, *arguments, stdin=b"", status=0, env=None, cwd=None):
        done = subprocess.run([NTRACE, *map(str, arguments)], input=stdin, capture_output=True, timeout=300, cwd=cwd,
                              env=dict(os.environ, **(env or {})))
        self.bytes = done.stdout
        self.out = done.stdout.decode("utf-8", "replace")
        self.err = done.stderr.decode("utf-8", "replace")
        self.status = done.returncode
        line = "ntrace " + " ".join(map(str, arguments))
        check("Sanitizer" not in self.err and "runtime error:" not in self.err, f"{line}: {self.err[-1500:]}")
        check(self.status in ((0, 1, 2) if status is None else (status,)),
              f"{line}: status {self.status}, expected {status}: {self.err[-1500:]}")

    def lines(self):
        return self.out.splitlines()

    def rows(self):
        """JSON Lines."""
        return [json.loads(line) for line in self.lines()]


def scratch():
    """A folder that is removed when the script ends."""
    global FOLDER
    if FOLDER is None:
        FOLDER = tempfile.TemporaryDirectory(prefix="ntrace-cli-")
    return FOLDER.name



def write(name, content):
    path = os.path.join(scratch(), name)
    with open(path, "wb") as file:
        file.write(content)
    return path


def bytes_of(text, *options):
    """Messages as text to bytes, by 'ntrace assemble'."""
    return Run("assemble", *options, "-", stdin=text.encode()).bytes


def shared(*parts):
    """A file of ../shared, or the case is skipped."""
    path = os.path.join(SHARED, *parts)
    if not os.path.exists(path):
        skip(f"no {os.path.join(*parts)} in ../shared")
    return path


def main():
    """Runs all cases, or those whose names match the regular expression NTRACE_TEST_CASE."""
    chosen = [(name, function) for name, function in CASES if re.search(os.environ.get("NTRACE_TEST_CASE", ""), name)]
    print(f"1..{len(chosen)}")
    failed = False
    for number, (name, function) in enumerate(chosen, 1):
        try:
            function()
            print(f"ok {number} - {name}", flush=True)
        except Skip as why:
            print(f"ok {number} - {name} # SKIP {why}", flush=True)
        except Exception as problem:  # a failed check, or a bug in the case: both fail
            failed = True
            print(f"not ok {number} - {name}", flush=True)
            for line in f"{type(problem).__name__}: {problem}".splitlines():
                print(f"# {line}", flush=True)
    sys.exit(1 if failed else 0)
