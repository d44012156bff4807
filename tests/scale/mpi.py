#!/usr/bin/env python3
"""ntrace-mpi on several ranks writes what ntrace writes; a part that ends its process is decoded again. TAP on standard output.

usage: mpi.py NTRACE NTRACE_MPI MPIRUN
"""
import os
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import captures
from harness import NTRACE, Run, case, check, equal, main, matches, scratch

PROGRAM, MPIRUN = sys.argv[2], sys.argv[3]
OPTIONS = ["--allow-run-as-root", "--oversubscribe"] if "openmpi" in MPIRUN else []
COMMANDS = [["profile", "--format", "csv"], ["profile", "--by", "instruction", "--format", "csv"], ["flame", "--to", "folded"],
            ["coverage", "--level", "object"]]


def run(ranks, *words, program=PROGRAM, options=(), status=0):
    done = subprocess.run([MPIRUN, *OPTIONS, *options, "-n", str(ranks), program, *words], capture_output=True, timeout=200, check=False,
                          text=True, env=dict(os.environ, TMPDIR=scratch()))
    check(done.returncode == status, f"{ranks} ranks, {words}: status {done.returncode}, expected {status}: {done.stderr[-1500:]}")
    return done


@case("the same bytes on 1, 2 and 3 ranks", (1, 2, 3))
@case("the same bytes on 1, 2, 3, 5 and 7 ranks", (1, 2, 3, 5, 7), long=True)
def ranks(counts):
    capture = captures.Capture(NTRACE, scratch(), 1, length=6000)
    for number, count in enumerate(counts):
        words = [*COMMANDS[number % len(COMMANDS)], capture.path]
        equal(run(count, *words).stdout, Run(*words).out, f"{count} ranks, {words}")


@case("parts that begin with a wrong guess are decoded again on the rank that has all of them")
def wrong_guess():
    capture = captures.Capture(NTRACE, scratch(), 8302, length=200000, sync=0, options=["--mode", "btm"])
    done = run(2, *COMMANDS[0], capture.path)
    matches("began with a wrong guess: .*; it is decoded again", done.stderr, "said")
    equal(done.stdout, Run(*COMMANDS[0], capture.path).out, "output")


def faulty(name, body):
    """A folder with ntrace-mpi and a script in the place of ntrace."""
    folder = os.path.join(scratch(), name)
    os.makedirs(folder, exist_ok=True)
    shutil.copy(PROGRAM, os.path.join(folder, "ntrace-mpi"))
    with open(os.path.join(folder, "ntrace"), "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n{body}\nexec {NTRACE} \"$@\"\n")
    os.chmod(os.path.join(folder, "ntrace"), 0o755)
    return os.path.join(folder, "ntrace-mpi")


@case("a part whose process is killed is given to another rank")
def killed():
    capture = captures.Capture(NTRACE, scratch(), 2, length=4000)
    mark = os.path.join(scratch(), "killed")
    program = faulty("once", f'case "$*" in *"--shard 2/4"*) [ -e {mark} ] || {{ : >{mark}; kill -9 $$; }};; esac')
    done = run(3, *COMMANDS[0], capture.path, program=program)
    equal(done.stdout, Run(*COMMANDS[0], capture.path).out, "output")
    matches("part 2 of 4 failed; it is decoded again", done.stderr, "said")


@case("a part that always fails is missing: exit status 1, and no output")
def lost():
    capture = captures.Capture(NTRACE, scratch(), 3, length=4000)
    program = faulty("always", 'case "$*" in *"--shard 3/4"*) kill -9 $$;; esac')
    for count in (1, 3):
        options = ["--parts", "4"]
        done = run(count, *options, *COMMANDS[0], capture.path, program=program, status=1)
        matches("part 3 of 4 is missing", done.stderr, "said")
        equal(done.stdout, "", "output")


@case("a rank that is killed costs its parts, or ends the job: another status than 0, no output, and the missing parts")
def dead_rank():
    capture = captures.Capture(NTRACE, scratch(), 4, length=4000)
    mark = os.path.join(scratch(), "dead-mark")
    program = faulty("dead", f'case "$*" in *"--shard 2/4"*) [ -e {mark} ] || {{ : >{mark}; kill -9 $PPID; sleep 1; exit 9; }};; esac')
    done = subprocess.run([MPIRUN, *OPTIONS, "-n", "3", program, "--silent", "3", *COMMANDS[0], capture.path],
                          capture_output=True, timeout=200, check=False, text=True, env=dict(os.environ, TMPDIR=scratch()))
    if "is silent" in done.stderr:
        equal(done.stdout, Run(*COMMANDS[0], capture.path).out, "output")
    else:
        check(done.returncode != 0 and "self," not in done.stdout, f"status {done.returncode}: {done.stderr[-500:]}")
        matches("part 2 of 4 is missing|[Ss]ignal 9|EXIT CODE: 9|KILLED", done.stderr + done.stdout, "said")


def folders():
    return sorted(name for name in os.listdir(scratch()) if name.startswith("ntrace-mpi."))


@case("the index of the trace is made once, before the parts are decoded; that of a raw stream is sent to all ranks")
def index():
    capture = captures.Capture(NTRACE, scratch(), 5, length=2000, options=["--mode", "btm"])
    raw = [os.path.join(capture.path, "trace.nex"), "-e", os.path.join(capture.path, "images", "program"), "--no-timestamps"]
    given = os.path.join(scratch(), "given.index")
    log, before = os.path.join(scratch(), "calls"), folders()
    program = faulty("log", f'echo "$*" >>{log}; for word; do case $word in *index-*|*.index) [ -s $word ] && echo present >>{log} || echo absent >>{log};; '
                            'esac; done')
    for trace, files in (([capture.path], False), ([*raw[1:], raw[0]], True), (["--index", given, *raw[1:], raw[0]], True)):
        expected = Run(*COMMANDS[0], *(raw if files else trace)).out
        equal(run(3, *COMMANDS[0], *trace, program=program).stdout, expected, f"{trace}")
        with open(log, encoding="utf-8") as file:
            calls = file.read().splitlines()
        os.unlink(log)
        shards = [call for call in calls if "--shard" in call]
        equal(["--shard 1/1048576" in call for call in shards], [True] + [False] * 4, f"{shards}")
        states = [call for call in calls if call in ("present", "absent")]
        if files:
            equal((states[0], states.count("absent")), ("absent", 1), f"the file of the index: {calls}")
        check(states.count("present") >= 4 if files else not states, f"the file of the index: {calls}")
        adding = [call for call in calls if call.startswith("combine ")]
        equal(["combine --redo --index " in call for call in adding], [trace[0] == "-e"] * len(adding), "parts decoded again")
    check(os.path.getsize(given) > 100, "the index that was given")
    equal(folders(), before, "no folder is left")


@case("options may follow the trace")
def behind():
    capture = captures.Capture(NTRACE, scratch(), 6, length=2000, options=["--mode", "btm"])
    words = [*COMMANDS[0], os.path.join(capture.path, "trace.nex"), "-e", os.path.join(capture.path, "images", "program"), "--no-timestamps"]
    equal(run(2, *words).stdout, Run(*words).out, "output")


@case("tasks of srun that MPI does not connect are refused: each would decode the whole trace")
def separate_tasks():
    capture = captures.Capture(NTRACE, scratch(), 6, length=300)
    os.environ["SLURM_STEP_NUM_TASKS"] = "3"
    alone = run(1, *COMMANDS[0], capture.path, status=2)
    matches("srun has started 3 tasks, and MPI connects none of them; .*--mpi=pmix.*--mpi=pmi2", alone.stderr, "said")
    equal(alone.stdout, "", "output")
    run(3, *COMMANDS[0], capture.path)
    del os.environ["SLURM_STEP_NUM_TASKS"]


@case("hostile files: no output that ntrace would not write, and its status; nothing is left")
def hostile():
    capture, before = captures.Capture(NTRACE, scratch(), 7, length=2000), folders()
    image, settings = os.path.join(capture.path, "images", "program"), os.path.join(capture.path, "capture.json")
    with open(image, "rb") as file:
        elf = bytearray(file.read())
    elf[40:48] = (1 << 40).to_bytes(8, "little")  # section headers are not in the file
    with open(image, "wb") as file:
        file.write(elf)
    alone = Run(*COMMANDS[0], capture.path, status=1)
    done = run(3, *COMMANDS[0], capture.path, status=1)
    equal(done.stdout, alone.out, "a damaged program: output")
    matches("names are missing", done.stderr, "a damaged program")
    os.unlink(image)
    os.mkfifo(image)
    equal(run(2, *COMMANDS[0], capture.path, status=1).stdout, "", "a FIFO as program: output")
    with open(settings, "w", encoding="ascii") as file:
        file.write("[" * 100000)
    equal(run(2, *COMMANDS[0], capture.path, status=1).stdout, "", "capture.json: output")
    equal(folders(), before, "no folder is left")


@case("usage")
def usage():
    matches("usage", run(1, "profile", status=2).stderr, "no trace")


main()
