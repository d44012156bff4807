"""What every test script uses: run the command, check, skip for a known reason, print TAP.

A script defines functions with @case("what it shows") and ends with main(). A case passes when it returns and has checked
something; it fails by any exception; skip(REASON) skips it, with a reason of tests/skips.txt. docs/testing.md has examples.
"""
import inspect
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

NTRACE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "build/ntrace"  # the program under test: the first argument
TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
SHARED = os.environ.get("NTRACE_SHARED", os.path.join(os.path.dirname(ROOT), "shared"))
DEADLINE = 120  # seconds for what takes less than one on a machine with nothing else to do
LONG = 5  # seconds of a case that are shown
CASES = []
FOLDER = None
CHECKS = 0
if os.environ.get("SHLVL", "0") == "0":
    os.environ["SHLVL"] = "1"  # else bash reads ~/.bashrc when its input is a socket, as that of helpers and of GDB's pipe is


for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):  # as below nohup, and in the background of a script; commands keep that
    if signal.getsignal(ignored) == signal.SIG_IGN:
        signal.signal(ignored, signal.default_int_handler if ignored == signal.SIGINT else signal.SIG_DFL)

if os.environ.get("NTRACE_TEST_LEAKS") == "0":
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"


class Skip(Exception):
    """A case that cannot run here: the identifier of the reason, and for how many cases it stands."""

    def __init__(self, reason, cases=1):
        self.reason, self.cases = reason, cases
        super().__init__(f"{reason}{f'({cases})' if cases != 1 else ''}: {reasons()[reason]}")


class Failure(Exception):
    pass


def reasons():
    """{identifier: sentence} of tests/skips.txt."""
    with open(os.path.join(TESTS, "skips.txt"), encoding="ascii") as file:
        return dict(line.split(" | ")[:2] for line in file if " | " in line and not line.startswith("#"))


def skip(reason, cases=1):
    """Skips the case. `cases`: how many this case stands for, where what is missing would list them."""
    raise Skip(reason, cases)


def need(*tools):
    """The path of the first of these programs that is installed, or the case is skipped."""
    return next(filter(None, map(shutil.which, tools)), None) or skip(tools[0])


def check(good, message):
    global CHECKS
    CHECKS += 1
    if not good:
        raise Failure(message)


def equal(found, expected, what):
    check(found == expected, f"{what}: expected {expected!r}, found {found!r}"[:2000])


def same_items(found, expected, what):
    """Two long lists are equal. What is wrong is said about the first item that differs: a text for each item would take most of the time."""
    at = -1 if found == expected else next((i for i, (a, b) in enumerate(zip(found, expected)) if a != b), min(len(found), len(expected)))
    check(at < 0, f"{what} {at} of {len(found)}, expected {len(expected)}: expected {expected[at:at + 1]}, found {found[at:at + 1]}; "
          f"before it {expected[max(0, at - 3):at]}")


def matches(pattern, text, what):
    check(re.search(pattern, text), f"{what}: expected {pattern!r}, found {text!r}"[:2000])


def note(text):
    """A line for the reader of the log."""
    print("\n".join(f"# {line}" for line in str(text).splitlines()), flush=True)


def until(condition, what, seconds=DEADLINE):
    """Waits until condition() is true, and returns its value. The deadline is for what hangs, not for what is slow."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        check(time.monotonic() < end, f"expected {what() if callable(what) else what} within {seconds} s")
        time.sleep(0.01)
    return value


def has_taken(pid, number):
    """Whether a process has no signal of this number that waits to be taken."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        waiting = [int(mask, 16) for mask in re.findall(r"(?m)^S[ih][gd]Pnd:\s+(\w+)$", file.read())]
    return not any(mask >> (number - 1) & 1 for mask in waiting)


def catches(pid, number):
    """Whether a process has a handler for a signal."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"SigCgt:\s+(\w+)", file.read())[1], 16) >> (number - 1) & 1


def processor_seconds(pid):
    """The processor time that a process has used."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def own_processor_seconds():
    """The processor time of this script and of the programs that it has waited for."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def case(name, *arguments, long=False):
    """Registers a function as a case. With arguments the function can be registered several times. A long case is for `make soak`,
    which runs the script again with NTRACE_TEST_LONG=1: that chooses the long cases, and no others."""
    def add(function):
        if long == bool(os.environ.get("NTRACE_TEST_LONG")):
            CASES.append((name, function, arguments))
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


class Memo(dict):
    """What a function returned for each value. The lines of an execution log repeat: most of them are so looked up, not parsed."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def __missing__(self, value):
        self[value] = self.function(value)
        return self[value]

    def of(self, values):
        return list(map(self.__getitem__, values))


ADDRESSES = Memo(lambda text: int(text, 16))


def scratch():
    """A folder that is removed when the script ends."""
    global FOLDER
    if FOLDER is None:
        FOLDER = tempfile.TemporaryDirectory(prefix="ntrace-test-")
    return FOLDER.name


def folder():
    """A new folder inside of scratch()."""
    return tempfile.mkdtemp(dir=scratch())


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
    return path if os.path.exists(path) else skip("corpus")


def corpus_cases(folder, count, listed, long=lambda name: False):
    """Registers the cases that listed(path) yields as (name, function, *arguments) for a folder of the reference corpus. Without
    the corpus, one case is skipped that stands for all `count` of them; with it, they must be `count`. `long` says which names are
    those of long cases."""
    path = os.path.join(SHARED, "corpus", folder)
    if not os.path.isdir(path):
        return case(f"{folder or 'corpus'}: all cases")(lambda: skip("corpus", count))
    found = list(listed(path))
    for name, function, *arguments in found:
        case(name, *arguments, long=long(name))(function)
    return len(found) == count or case(f"{folder or 'corpus'}: number of cases")(lambda: equal(len(found), count, "cases"))


def verdict(function, arguments):
    """None, or the lines that say what is wrong."""
    before = CHECKS
    try:
        function(*arguments)
    except Skip:
        raise
    except (Exception, SystemExit) as problem:  # a failed check, or a bug in the case: both fail
        frames = traceback.extract_tb(problem.__traceback__)
        frame = ([frame for frame in frames if frame.filename != __file__] or frames)[-1]
        return [*f"{type(problem).__name__}: {problem}"[:4000].splitlines(), f"{frame.filename}:{frame.lineno}: {frame.line}"]
    if CHECKS == before and "assert " not in inspect.getsource(inspect.getmodule(function)):
        return ["the case has checked nothing"]
    return None


def main(*tools):
    """Runs all cases, or those whose names match the regular expression NTRACE_TEST_CASE, and exits; 1 if one is red.
    All are skipped where one of the tools is not installed."""
    chosen = [each for each in CASES if re.search(os.environ.get("NTRACE_TEST_CASE", ""), each[0])]
    if CASES and not chosen:
        print(f"1..0 # SKIP {Skip('filter')}")
        sys.exit(0)
    print(f"1..{len(chosen)}")
    failed = not CASES
    for number, (name, function, arguments) in enumerate(chosen, 1):
        try:
            for tool in tools:
                need(tool)
            begin, before = time.monotonic(), own_processor_seconds()
            problem = verdict(function, arguments)
            if time.monotonic() - begin > LONG or os.environ.get("NTRACE_TEST_COSTS"):
                note(f"{time.monotonic() - begin:.1f} s, {own_processor_seconds() - before:.1f} s of processor time: {name}")
            failed |= bool(problem)
            print("\n# ".join([f"{'not ok' if problem else 'ok'} {number} - {name}", *(problem or [])]), flush=True)
        except Skip as why:
            print(f"ok {number} - {name} # SKIP {why}", flush=True)
    sys.exit(1 if failed else 0)
