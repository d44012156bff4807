#!/usr/bin/env python3
"""One name, one meaning: docs/options.md, the check of it, and the names that were replaced.

usage: vocabulary.py NTRACE
"""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import NTRACE, ROOT, Run, bytes_of, case, check, equal, main, matches, scratch, write

CHECK = os.path.join(ROOT, "tools", "check_options")
LISTED = Run("help", "--as", "options").out
ALIASES = [line.split("\t")[1:] for line in LISTED.splitlines() if line.startswith("alias")]


def stream():
    return write("t.nex", bytes_of(tiny.BTM))


def program():
    return write("t.elf", tiny.elf())


def checked(listing):
    """Output and status of the check for a command that lists these options."""
    fake = write("fake", f"#!/bin/sh\ncat <<'EOF'\n{listing}EOF\n".encode())
    os.chmod(fake, 0o755)
    done = subprocess.run([CHECK, fake], stdout=subprocess.PIPE, text=True, cwd=scratch())
    return done.stdout, done.returncode


@case("docs/options.md has each name with its values, its meaning and its commands")
def complete():
    done = subprocess.run([CHECK, NTRACE], stdout=subprocess.PIPE, text=True)
    equal(done.returncode, 0, done.stdout)
    matches(r"\d{4} options of \d+ commands, \d+ names", done.stdout, "counts")


def option(command, name, value="-", kind="value", letter="-"):
    return f"option\t{command}\toptions\t{name}\t{letter}\t{kind}\t{value}\thelp\n"


for what, more, words in [
        ("another kind of value", option("top", "data", "WIRE"), "--data: values: expected `WIRE`, found none"),
        ("another command", option("top", "by", "function"), "--by: commands: expected profile, top, found profile"),
        ("a name without a row", option("top", "zebra"), r"no row for --zebra \(top\)"),
        ("a negation of a negation", option("top", "no-zebra", kind="switch"), "--no-zebra is a negation of a negation"),
        ("two options of one name", option("dump", "bytes", kind="flag"), "ntrace dump: two options --bytes"),
        ("a letter with two meanings", option("top", "zebra", letter="o"), "-o has several meanings: output, zebra"),
        ("a replaced name that leads nowhere", "alias\ttop\told\tquagga\tany\n", "alias --old of top: no command has --quagga"),
        ("a replaced name that hides an option", "alias\tdump\tsrc\tbytes\tany\n", "alias --src of dump: the command has an option"),
        ("a command with a replaced name", "command\tdump\tprofile --by x\n", "alias dump: there is a command of this name")]:
    def turns_red(more=more, words=words):
        out, status = checked(LISTED + more)
        equal(status, 1, "status")
        matches(words, out, "report")
    case(f"the check reports {what}")(turns_red)


@case("the check reports a row without an option")
def no_option():
    out, status = checked(re.sub(r"^option\tcheck\toptions\trules\t.*\n", "", LISTED, flags=re.M))
    equal(status, 1, "status")
    matches("no command has --rules", out, "report")


@case("replaced names are in no help, no man page and no completion")
def hidden():
    for command, old, name, when in ALIASES:
        if command == "*" or when != "any":
            continue
        for form in "text", "man":
            text = Run("help", "--as", form, command).out.replace("\\-", "-")
            check(not re.search(rf"^ +(?:-\w, )?--{old}\b(?!-)|^\\fB--{old}\\fR", text, re.M), f"{command}: --{old} in {form}")
            check(f"--{name}" in text, f"{command}: --{name} in {form}")
    for name in "syscalls", "boot", "bench":
        check(not re.search(rf"^  {name}\b", Run("--help").out, re.M), name)


@case("a replaced name is an option of its command, and no name of another one")
def works():
    for command, old, name, when in ALIASES:
        value = {"word": "raw" if name == "input-format" else "pc" if command == "decode" else "ingress", "point": "#1", "address": "h:1"}.get(when, "1")
        for place in ["dump" if old == "no-addr-diff" else "split" if old == "from" else "stat" if command == "*" else command]:
            run = Run(place, f"--{old}={value}" if when != "any" else f"--{old}", *([] if when != "any" else [value]), status=None)
            check("unknown option" not in run.err, f"{place} --{old}: {run.err}")
    matches("unknown option '--rows'", Run("profile", "--rows", "3", "x", status=2).err, "--rows of top")


@case("names on which scripts rely mean what they meant")
def relied_on():
    new = Run("decode", "--show", "pc", "-e", program(), stream()).out
    equal(Run("decode", "--output", "pc", "-e", program(), stream()).out, new, "decode --output pc")
    equal(Run("decode", "--output=pc", "-e", program(), stream()).out, new, "decode --output=pc")
    where = os.path.join(scratch(), "x.pc")
    Run("decode", "--show", "pc", "--output", where, "-e", program(), stream())
    equal(open(where).read(), new, "decode --output FILE")
    Run("decode", "--show", "pc", "-o", "pc", "-e", program(), stream(), cwd=scratch())
    equal(open(os.path.join(scratch(), "pc")).read(), new, "decode -o pc")
    part = Run("dump", "--from", "2", "--until", "3", stream()).out
    equal(Run("dump", "--from", "2", "--to", "3", stream()).out, part, "--to POINT")
    pins = Run("convert", "--to", "pib4", stream()).bytes
    equal(Run("convert", "--from", "pib4", "-", stdin=pins).bytes, Run("convert", "--input-format", "pib4", "-", stdin=pins).bytes, "convert --from")
    equal(Run("flame", "--to", "folded", "--to", "3", "-e", program(), stream()).out,
          Run("flame", "--to", "folded", "--until", "3", "-e", program(), stream()).out, "flame --to FORMAT --to POINT")


@case("syscalls and boot are profiles")
def machines():
    for old, by in ("syscalls", "syscall"), ("boot", "boot-phase"):
        equal(Run(old, "-e", program(), stream()).out, Run("profile", "--by", by, "-e", program(), stream()).out, old)
        equal(Run("profile", "--by", by, "--sort", "calls", "-e", program(), stream(), status=2).err,
              f"ntrace profile: --by {by} cannot be combined with --sort\n", by)
        equal(Run("help", old).out, Run("help", "profile").out, f"help {old}")


@case("a mistyped word of --output is not a file")
def mistyped():
    equal(Run("decode", "--output", "spn", "-e", program(), stream(), status=2, cwd=scratch()).err,
          "ntrace decode: --output: expected a file, found 'spn'; did you mean '--show span'? A file of this name is ./spn\n", "error")
    check(not os.path.exists(os.path.join(scratch(), "spn")), "no file")


@case("a wrong value suggests the near one")
def near():
    for arguments, words in [
            (["decode", "--format", "jsnl"], "--format: expected one of text|jsonl|csv|json, found 'jsnl'; did you mean 'jsonl'?"),
            (["decode", "--show", "isn"], "found 'isn'; did you mean 'insn'?"),
            (["split", "--from", "tmcc"], "--from: expected one of auto|raw|coresight|tmc, found 'tmcc'; did you mean 'tmc'?"),
            (["check", "--rules", "tcode-reservd"], "--rules: no rule 'tcode-reservd'; did you mean 'tcode-reserved'?"),
            (["stat", "--limit", "taks=1"], "--limit: no limit 'taks'; did you mean 'tasks'?"),
            (["profile", "--by", "syscal"], "found 'syscal'; did you mean 'syscall'?"),
            (["dump", "--format", "xml"], "--format: expected one of text|jsonl|csv|none|json, found 'xml'")]:
        error = Run(*arguments, stream(), status=2).err
        check(error.endswith(words + "\n"), f"{arguments}: {error}")
    for arguments, words in [
            (["--mode", "htn"], "--mode: expected one of btm|htm, found 'htn'; did you mean 'htm'?"),
            (["--xlen", "63"], "--xlen: expected one of 32|64, found '63'; did you mean '64'?"),
            (["--implicit-return", "ful"], "--implicit-return: expected one of off|count|partial|full, found 'ful'; did you mean 'full'?")]:
        equal(Run("encode", "-e", program(), "--pc", stream(), *arguments, "-o", stream() + ".x", status=2).err, f"ntrace encode: {words}\n", "encode")
    matches("query: no such question 'functoins': expected one of about, overview, .*functions, .*source", Run(
        "explore", stream(), "-e", program(), "--ask", '{"query":"functoins"}', status=2).out, "explore")


main()
