#!/usr/bin/env python3
"""`ntrace run` of programs that execute others and fork.

QEMU writes its execution log in the very run that is traced, so that what was decoded can be compared with it (traced.py).

usage: children.py NTRACE FOLDER      FOLDER holds the programs that tests/programs/build made
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, check, equal, main, matches, scratch
from traced import FOLDER, command, decoded, limit_files, logged_run, own_code, path_of, same


def without_bundles():
    for old in glob.glob(path_of("live.*ntrace")):
        shutil.rmtree(old)


def family(program, *options, name=None):
    """Output and messages of a program that forks, spawns and executes `program`, by another name if there is one, and a script with it."""
    script = path_of("script")
    with open(script, "w", encoding="ascii") as file:
        file.write(f"#! {program} first  second\n")
    os.chmod(script, 0o755)
    without_bundles()
    done = subprocess.run(command("family", *options, operands=[name or program, script]), capture_output=True, text=True,
                          timeout=60, cwd=scratch(), env=dict(os.environ, PATH="/usr/bin:/bin"))
    return done.returncode, done.stdout.splitlines(), done.stderr


def pids_of(lines, statuses):
    rows = [line.split() for line in lines if re.match(r"(forked|spawned|script) ", line)]
    equal({row[0]: int(row[2]) for row in rows}, statuses, "exit statuses")
    return {row[0]: int(row[1]) for row in rows}


@case("execve, posix_spawn and scripts: the guest's programs run, with their arguments and environment")
def executed():
    program = os.path.join(FOLDER, "family")
    for options, name in ([], None), (["--follow-fork"], None), ([], "/proc/self/exe"):
        status, lines, messages = family(program, *options, name=name)
        equal(status, 7, f"exit status ({messages})")
        pids_of(lines, {"forked": 3, "spawned": 7, "script": 7})
        # QEMU 10 gives the environment in the other order.
        shown = [line.replace("[C=] [A=b]", "[A=b] [C=]") for line in lines if line.startswith("arguments")]
        named = "arguments [name of its own] [one] [two words] environment [A=b] [C=]"
        script = f"arguments [{program}] [first  second] [{path_of('script')}] [one] [two words] environment [A=b] [C=]"
        equal(shown, [named, script, named], "what the programs say")
        check("execve" not in messages, messages)
        equal("forked" in messages, not options, f"a message about child processes: {messages}")


@case("--follow-fork: children that start while their parent translates code")
def racing():
    for _ in range(3):
        without_bundles()
        subprocess.run(command("racing", "--follow-fork"), check=True, timeout=60, cwd=scratch())
        children = glob.glob(path_of("live.*.ntrace"))
        equal(len(children), 8, "bundles of children")
        for bundle in children:
            found = own_code("racing", decoded(bundle=os.path.basename(bundle)), "_Fork")
            check(len(found) > 5, "the child begins in _Fork")
            same(found, sorted(set(found)), "_Fork in a child, executed once and in order")


@case("--follow-fork: a bundle for each process, exact from its start to its end")
def follow_fork():
    program = os.path.join(FOLDER, "bare64")
    bare = subprocess.run(["qemu-riscv64", program], capture_output=True, timeout=60).returncode
    alone = logged_run("bare64", status=bare)[0].harts[0]
    status, lines, messages = family(program, "--follow-fork")
    equal(status, bare, f"exit status ({messages})")
    pids = pids_of(lines, {"forked": 3, "spawned": bare, "script": bare})
    bundles = {pid: f"live.{pid}.ntrace" for pid in pids.values()}
    found = set(os.path.basename(name) for name in glob.glob(path_of("live.*ntrace")))
    equal(len(found - set(bundles.values())), 2, f"bundles of the first process and of the second child: {found}")
    work = own_code("family", decoded(0), "work")
    check(len(work) > 3000, "the first process does not call work")
    for name in "spawned", "script":
        pcs = decoded(bundle=bundles[pids[name]])
        same(pcs[-len(alone):], alone, name)
        check(len(pcs) > len(alone), f"{name}: nothing was executed between fork and execve")
    same(decoded()[-len(alone):], alone, "the first process")
    child = own_code("family", decoded(1, bundles[pids["forked"]]), "work")
    same(child, work, "work in the child")
    check("live.ntrace" in found, f"the first bundle: {found}")
    grandchild, = found - set(bundles.values()) - {"live.ntrace"}
    half = own_code("family", decoded(1, grandchild), "work")
    check(len(work) * 0.49 < len(half) < len(work) * 0.51, f"work(500) in the grandchild: {len(half)} of {len(work)}")
    with open(path_of(bundles[pids["script"]]) + "/capture.json", encoding="ascii") as file:
        about = json.load(file)
    equal(about["sources"][0]["name"], "bare64", "name of the process")
    for by in ("hart", "process", "thread"):
        profile = ["profile", path_of(bundles[pids["script"]]), "--by", by]
        equal([row["source"] for row in Run(*profile, "--format", "jsonl").rows()], ["bare64"], f"--by {by}")
        matches(r"  src 0  bare64$", Run(*profile).lines()[-1], f"--by {by} as text")
    rows = Run("profile", path_of("live.ntrace"), "--format", "jsonl").rows()
    names = {row["function"]: row["self"] for row in rows}
    check({"work", "fibonacci"} <= set(names), f"functions of both programs: {names}")


@case("execve of a program for another machine: traced up to there, with a message")
def replaced():
    log, messages = logged_run("replaced", status=7)
    same(decoded(), log.harts[0], "replaced")
    matches("execve", messages, "what `run` says")
    matches("execve", Run("decode", path_of("live.ntrace"), "--show", "none").err, "what `decode` says")


limit_files()
main()
