#!/usr/bin/env python3
"""An output that was asked for and cannot be written: a status that is not 0, a reason, and nothing is left. Every option that names one.

usage: outputs.py NTRACE
The options are those of `ntrace help --as options`: one whose help says that it writes, and that has no row here, fails.
"""
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from every import FORMATS, ROWS, TRACED, filled, formats
from harness import NTRACE, Run, case, check, equal, main, scratch, skip, write

NOT_FILES = ("script", "dialect", "when", "ram-wp")


def options():
    """(command, option, help) of those that write."""
    for line in Run("help", "--as", "options").lines():
        words = line.split("\t")
        if words[0] == "option" and words[5] == "value" and (words[3] in ("output", "index", "cache") or re.search(
                r"^(also )?write (?!back)", words[7])) and words[3] not in NOT_FILES:
            yield words[1], words[3]


PLACES = {"a full device": "/dev/full", "a folder that takes no file": "/sys/x", "no folder": "none/x", "a name that is too long": "n" * 300,
          "a folder in place of a file": "taken"}
MADE = ("no folder", "a folder in place of a file")  # are no obstacle to an option that names a folder, or the beginning of names
FOLDERS = {("coverage", "evidence"): MADE, ("explore", "cache"): MADE, ("open", "cache"): MADE, ("split", "output"): ("a full device", MADE[1])}
UNUSED = [("combine", "index")]  # where no part has to be decoded again, as here
KEPT = {("explore", "cache"): 1, ("open", "cache"): 1}  # the answer is whole, and only the next start is slower


def place(new=True):
    path = os.path.join(scratch(), "place")
    if new:
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(os.path.join(path, "taken", "full"))
    return path


def run(words, **more):
    return subprocess.run([NTRACE, *words], input=b"r 0x10000000\n", timeout=120, check=False, cwd=place(),
                          **({"capture_output": True} if "stdout" not in more else more))


def refused(command, option, words, what):
    """What is wrong."""
    done = run([command, f"--{option}", PLACES[what], *words])
    left = [os.path.join(folder, name) for folder, _, names in os.walk(place(False)) for name in names]
    if done.returncode == KEPT.get((command, option), 2) and done.stderr.strip() and not left:
        return []
    return [f"{command} --{option} {PLACES[what][:20]} {' '.join(words)}: {what}: status {done.returncode}: {done.stderr.decode(errors='replace')[-300:]} {left or ''}"]


def all_refused(places):
    wrong = []
    for (command, option), words in ROWS.items():
        for what in places:
            if what not in FOLDERS.get((command, option), ()) and (command, option) not in UNUSED:
                wrong += refused(command, option, list(filled(words)), what)
    check(not wrong, "\n".join(wrong))


@case("every option that writes has a row")
def _():
    equal(sorted(ROWS), sorted(options()), "rows")


@case("an output on a full device: status 2, a reason, and nothing is left")
def _():
    all_refused(["a full device"])


@case("evidence takes the place of earlier evidence as a whole: after a failure that is unchanged, later nothing of it is left")
def _():
    def contents():
        return {name: open(os.path.join(place(False), "ev", name), "rb").read() for name in os.listdir(os.path.join(place(False), "ev"))}

    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # lines.txt has room, report.html has not
    words = [NTRACE, "coverage", "--evidence", "ev", *filled(TRACED)]
    run(words[1:])  # makes the place
    for name in ("report.pdf", "lines.json", "of the user"):
        write(os.path.join("place", "ev", name), b"earlier")
    before = contents()
    done = subprocess.run(words, cwd=place(False), capture_output=True, preexec_fn=small, check=False)
    equal((done.returncode, contents() == before), (2, True), f"status, and the folder is unchanged: {done.stderr} {sorted(contents())}")
    equal(subprocess.run(words, cwd=place(False), capture_output=True, check=False).returncode, 0, "status")
    after = contents()
    equal((sorted({*before, "of the user"} - {"report.pdf"}), after["of the user"]), (sorted(after), b"earlier"), "files")
    check(after["lines.json"] != b"earlier", "the file is new")


@case("an output that cannot be made: status 2, a reason, and nothing is left", long=True)
def _():
    all_refused(list(PLACES)[1:])


@case("the same for each format of --to", long=True)
def _():
    check(not (wrong := [each for command in FORMATS for name in formats(command) for what in PLACES
                         for each in refused(command, "output", ["--to", name, *filled(TRACED)], what)]), "\n".join(wrong))


@case("standard output that is full: status 2 and a reason", long=True)
def _():
    lines = [[command, *filled(words)] for (command, option), words in ROWS.items() if option in ("output", "cache")]
    lines += [[command, "--to", name, *filled(TRACED)] for command in FORMATS for name in formats(command)]
    for words in [*lines, ["help"], ["help", "--as", "options"], ["decode", "-h"], ["--version"]]:
        if run(words).stdout:
            with open("/dev/full", "wb") as full:
                done = run(words, stdout=full, stderr=subprocess.PIPE)
            check(done.returncode == 2 and done.stderr.strip(), f"{' '.join(words)}: {done.returncode} {done.stderr}")


@case("a file system that is full: status 2, a reason, and nothing is left", long=True)
def _():
    """In a name space of its own, with a file system of 16 KiB that has no room."""
    wrong = []
    script = "mount -t tmpfs -o size=16k none \"$0\" && (head -c 16384 /dev/zero >\"$0\"/fill; cd \"$0\" && shift 0; \"$@\" <&3; code=$?; rm -f fill; echo left: $(ls -A); exit $code)"
    for (command, option), words in ROWS.items():
        if command == "run" or (command, option) in UNUSED:  # `run` needs seconds to say it, and has tests of its own
            continue
        with open(write("input", b"r 0x10000000\n"), "rb") as file:
            done = subprocess.run(["unshare", "-rm", "sh", "-c", script.replace("<&3", "<" + file.name), place(), NTRACE, command, f"--{option}", "new", *filled(words)],
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
        if b"unshare" in done.stderr or b"mount:" in done.stderr:
            skip("namespace")
        if done.returncode not in (2, KEPT.get((command, option))) or not done.stderr.strip() or done.stdout.rsplit(b"left:", 1)[-1].strip() not in (b"", b"new" if option == "cache" else b""):
            wrong.append(f"{command} --{option}: status {done.returncode}: {done.stderr[-300:]} {done.stdout[-200:]}")
    check(not wrong, "\n".join(wrong))


main()
