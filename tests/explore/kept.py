#!/usr/bin/env python3
"""The index of ntrace explore that is kept for the next start. The truth is the answer without one.

usage: kept.py NTRACE
"""
import os
import shutil
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, check, equal, main, matches, scratch, write
from story import ask, bundle, damaged, program, trapped

QUESTIONS = [{"query": "about"}, {"query": "overview", "columns": 30}, {"query": "slices", "least": 0}, {"query": "tree"}, {"query": "functions"}, {"query": "gaps"},
             {"query": "names", "text": "o"}, {"query": "at", "position": 400}, {"query": "messages", "position": 400}, {"query": "find", "text": "main"}]


def folder(name):
    path = os.path.join(scratch(), name)
    shutil.rmtree(path, ignore_errors=True)
    return path


def files(path):
    return sorted(os.listdir(path)) if os.path.isdir(path) else []


def inode(path):
    """Changes when the file is written again: it is renamed to its place."""
    return os.stat(path).st_ino


@case("answers are those without a kept index: a bundle, a stream with gaps, one with traps")
def answers():
    for name, (trace, options) in {"bundle": (bundle(), []), "gaps": damaged(), "traps": trapped()}.items():
        place, status = folder("kept-" + name), 1 if name == "gaps" else 0
        questions = QUESTIONS[:-1] if name == "traps" else QUESTIONS
        truth = ask(trace, *questions, status=status, options=[*options, "--cache", "none"])
        equal(ask(trace, *questions, status=status, options=[*options, "--cache", place]), truth, name + ", made")
        kept, = files(place)
        matches(r"^[0-9a-f]{32}\.ntrace-index$", kept, "name")
        made = inode(os.path.join(place, kept))
        equal(ask(trace, *questions, status=status, options=[*options, "--cache", place]), truth, name + ", kept")
        equal((files(place), inode(os.path.join(place, kept))), ([kept], made), "the file is used, not made again")


@case("a damaged file is made anew")
def refused():
    place = folder("kept-damaged")
    truth = ask(bundle(), *QUESTIONS, options=["--cache", place])
    path = os.path.join(place, *files(place))
    with open(path, "rb") as file:
        good = file.read()
    for name, content in (("empty", b""), ("cut", good[:-1]), ("a byte", good[:200] + bytes([good[200] ^ 1]) + good[201:]), ("something else", b"x" * 1000), ("longer", good + b"\0")):
        write(path, content)
        equal(ask(bundle(), *QUESTIONS, options=["--cache", place]), truth, name)
        with open(path, "rb") as file:
            equal(file.read(), good, name + ": the file that is written instead")


@case("a stream, a program or an option that differs has an index of its own; a copy elsewhere uses the same")
def by_content():
    place, copy = folder("kept-content"), folder("copied.ntrace")
    source = bundle("--no-compress")
    shutil.copytree(source, copy)
    ask(copy, {"query": "about"}, options=["--cache", place])
    equal(len(files(place)), 1, "files")
    os.rename(copy, folder("moved.ntrace"))
    copy = os.path.join(scratch(), "moved.ntrace")
    ask(copy, {"query": "about"}, options=["--cache", place])
    equal(len(files(place)), 1, "after the bundle was moved")
    with open(os.path.join(copy, "trace.nex"), "r+b") as file:  # the same size, and the same time
        stream, times = file.read(), os.stat(copy + "/trace.nex")
        file.seek(len(stream) // 2)
        file.write(b"\x02")
    os.utime(os.path.join(copy, "trace.nex"), ns=(times.st_atime_ns, times.st_mtime_ns))
    changed = Run("explore", copy, "--cache", place, "--ask", '{"query":"functions"}', status=None).lines()
    equal(changed, Run("explore", copy, "--cache", "none", "--ask", '{"query":"functions"}', status=None).lines(), "another stream")
    equal(len(files(place)), 2, "after a byte of the stream was changed")
    ask(source, {"query": "about"}, options=["--cache", place, "-e", program("-DROUNDS=10")], status=None)
    equal(len(files(place)), 3, "with another program")
    ask(source, {"query": "about"}, options=["--cache", place, "--ts-width", "40"], status=None)
    equal(len(files(place)), 4, "with another parameter")


@case("the folder is bounded, and files of others stay")
def bounded():
    place = folder("kept-bounded")
    os.makedirs(place)
    for i in range(80):
        path = os.path.join(place, f"{i:032x}.ntrace-index")
        with open(path, "wb"):
            pass
        os.utime(path, (i, i))
    for name in ("notes.txt", "0" * 32 + ".other"):
        write(os.path.join(place, name), b"mine")
    ask(bundle(), {"query": "about"}, options=["--cache", place])
    kept = [name for name in files(place) if name.endswith(".ntrace-index")]
    equal(len(kept), 64, "files")
    equal([name for name in kept if int(name[:32], 16) < 80], [f"{i:032x}.ntrace-index" for i in range(17, 80)], "the files that were used last")
    check({"notes.txt", "0" * 32 + ".other"} <= set(files(place)), files(place))


@case("by default in the user's cache folder, and only if it took long; a folder that cannot be written is named if it was asked for")
def places():
    home = folder("kept-home")
    os.makedirs(home)
    env = {"HOME": home, "XDG_CACHE_HOME": ""}
    Run("explore", bundle(), "--ask", '{"query":"about"}', env=env)
    equal(files(home), [], "a small trace leaves nothing behind")
    blocked = write("kept-file", b"")
    error = Run("explore", bundle(), "--cache", blocked + "/deeper", "--ask", '{"query":"about"}', status=1).err
    check(f"--cache {blocked}/deeper: the index cannot be written there" in error, error)


main()
