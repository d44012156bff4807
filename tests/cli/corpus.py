#!/usr/bin/env python3
"""The corpus: every stream decodes to its list of program counters. (tests/roundtrip/refcode.py encodes the lists.) Skipped where ../shared
or zstd is missing."""
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, case, check, main, need, shared


def corpus(*parts):
    return shared("corpus", *parts)


def compare(command, *arguments):
    """Run a comparison of two streams in bash; neither is loaded into memory."""
    need("zstd")
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command, "bash", *arguments], capture_output=True, text=True)
    check(done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"[:1000])


# Captures that end inside a message, and one whose last message contradicts the program: their last lines are reported.
ENDS_BADLY = ("dv-850", "e31_coremark_release", "event-call", "timestamp")


def same(stream, options, listing, status=0):
    """decode prints the program counters of the listing, and ends with this status."""
    check(os.path.getsize(listing) > 20, f"{listing} is empty")
    compare('{ "${@:3}"; [ $? = "$2" ]; } | cmp - <(zstd -dcq "$1")', listing, str(status), NTRACE, "decode", stream, "--show", "pc", *options)


def each_program():
    folder = corpus("refcode")
    for name in sorted(os.listdir(folder)):
        if os.path.isdir(os.path.join(folder, name)):
            yield os.path.join(folder, name)


for settings in ("btm", "htm-stack-repeat"), ("htm", "htm-repeat", "htm-stack"):
    @case(f"reference streams: {', '.join(settings)}", long="htm" in settings)
    def reference_streams(settings=settings):
        stack = ["--implicit-return", "full", "--return-stack", "8"]
        for folder in each_program():
            for setting in settings:
                options = ["--dialect", "refcode", "-e", os.path.join(folder, "program.elf")]
                same(os.path.join(folder, setting + ".nex.zst"), options + (stack if "stack" in setting else []),
                     os.path.join(folder, "pc.txt.zst"))


EXTRA = {"dv-650": ["--src-bits", "4"], "timestamp": ["--timestamps"]}


@case("silicon captures")
def silicon():
    for name in ("dv-650", "dv-850", "dv-uaddr1", "e31_hello_debug", "e31_coremark_release", "eol", "itc_printf",
                 "event-call", "pc-sample-itc", "timestamp"):
        same(corpus("silicon", name, "trace.rtd"),
             ["--dialect", "sifive-pre1.0", "-e", corpus("silicon", name, "program.elf"), *EXTRA.get(name, [])],
             corpus("silicon", name, "src0.pc.zst"), int(name in ENDS_BADLY))


@case("text of an instrumentation channel")
def channel_text():
    done = subprocess.run([NTRACE, "decode", "--dialect", "sifive-pre1.0", "--show", "itc",
                           "-e", corpus("silicon", "itc_printf", "program.elf"),
                           corpus("silicon", "itc_printf", "trace.rtd")], capture_output=True, check=True)
    expected = open(corpus("silicon", "itc_printf", "itc.txt"), "rb").read().replace(b"\r\n", b"\n")
    check(done.stdout == expected, "text differs")


def true_programs():
    """Each stream of the corpora with the program that ran: (stream, options)."""
    for folder in each_program():
        for name in sorted(os.listdir(folder)):
            if name.endswith(".nex.zst"):
                stack = ["--implicit-return", "full", "--return-stack", "8"] if "stack" in name else []
                yield os.path.join(folder, name), ["--dialect", "refcode", "-e", os.path.join(folder, "program.elf"), *stack]
    folder = corpus("ttdfd")
    for name in sorted(os.listdir(folder)):
        stream, program = os.path.join(folder, name, "trace.nex"), os.path.join(folder, name, "program.elf")
        if os.path.exists(program):
            yield stream, ["-e", program, "--auto"]
            if "nosrc" not in name:
                yield stream, ["-e", program, "--dialect", "tt-dfd", "--src-bits", "4", *["--timestamps"] * ("-ts" in name)]
    folder = corpus("k3")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".data") and "etrace" not in name:
            yield os.path.join(folder, name), ["--sysroot", os.path.join(folder, "sysroot")]
    images = [word for file in ("progA:ctx=2120", "progB:ctx=2121", "kstub") for word in ("-e", os.path.join(folder, file))]
    for name in sorted(os.listdir(folder)):
        if name.startswith("hart") and name.endswith(".nex"):
            for options in ["--src-bits", "12", "--timestamps"], ["--auto"]:
                yield os.path.join(folder, name), [*images, *options]
    folder = corpus("silicon")
    for name in sorted(os.listdir(folder)):
        stream, program = os.path.join(folder, name, "trace.rtd"), os.path.join(folder, name, "program.elf")
        if os.path.exists(stream) and os.path.exists(program):
            yield stream, ["--dialect", "sifive-pre1.0", "-e", program, *EXTRA.get(name, [])]


@case("no true program is doubted: the fit of every stream of the corpora with its program", long=True)
def true_fit():
    judged = 0
    for stream, options in true_programs():
        done = subprocess.run([NTRACE, "stat", stream, *options, "--format", "jsonl"], capture_output=True, text=True)
        error = done.stderr
        if "nonotify" in stream:
            error = re.sub("fits [0-9]+ of [0-9]+ messages, and 1 contradict it: another process ran there before a message said so,", "", error)
        check(" fits " not in error and "not the program" not in error, f"{stream} {options}: {error}"[:1000])
        fits = [row for row in map(json.loads, done.stdout.splitlines()) if row.get("kind") == "fit"]
        # The last message, or that before the cut; counts that the encoder cut; a process whose switch has no message.
        bad = os.path.basename(os.path.dirname(stream)) in ENDS_BADLY or "nosrc" in stream or "nonotify" in stream
        check(fits and (fits[0]["messages_that_fit"] or not fits[0]["messages_of_the_flow"]) and fits[0]["messages_that_contradict"] <= bad, f"{stream}: {fits}")
        judged += 1
    check(judged >= 60, f"{judged} streams")


@case("dump and assemble reproduce every stream")
def assembled():
    for folder in each_program():
        stream = os.path.join(folder, "htm-repeat.nex.zst")
        compare('"$2" dump "$1" | "$2" assemble - | cmp - <(zstd -dcq "$1")', stream, NTRACE)


if __name__ == "__main__":
    main()
