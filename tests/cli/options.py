#!/usr/bin/env python3
"""Usage, help and options: which are accepted, which are refused, and the messages."""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, Run, case, check, equal, main, matches, need, write

COMMANDS = [line.split()[0] for line in Run("--help").out.split("commands:\n")[1].split("\n\n")[0].splitlines()]


@case("--version and --help go to standard output")
def version():
    matches(r"^ntrace \d+\.\d+\.\d+\n$", Run("--version").out, "version")
    matches(r"^usage: ntrace COMMAND", Run("--help").out, "help")


@case("without command: the usage on standard error, status 2")
def nothing():
    run = Run(status=2)
    matches(r"^usage: ntrace", run.err, "usage")
    equal(run.out, "", "standard output")


@case("every command has help, and --help prints the same")
def command_help():
    check(len(COMMANDS) >= 5, f"commands found: {COMMANDS}")
    for name in COMMANDS:
        text = Run("help", name).out
        matches(rf"^usage: ntrace {name}\b", text, name)
        equal(Run(name, "--help").out, text, name)
        check(max(map(len, text.splitlines())) <= 120, f"{name}: help is too wide")


@case("unknown commands and options are reported, with a suggestion")
def unknown():
    for arguments, words in [
        (["dmp"], "no command 'dmp'; did you mean 'dump'?"),
        (["frobnicate"], "no command 'frobnicate'; 'ntrace --help' lists them"),
        (["--frobnicate"], "unknown option '--frobnicate'"),
        (["dump", "--src-bit", "3", "x"], "unknown option '--src-bit'; did you mean '--src-bits'?"),
        (["dump", "-q", "x"], "unknown option '-q'"),
        (["help", "nothing"], "no command or topic 'nothing'"),
    ]:
        run = Run(*arguments, status=2)
        check(words in run.err, f"{arguments}: {run.err}")
        equal(run.err.count("\n"), 1, f"lines for {arguments}")


@case("values out of range are reported with option, range and value")
def ranges():
    trace = write("one.nex", bytes([0x24, 0x0d, 0x00, 0x0b]))
    for arguments, words in [
        (["--src-bits", "13"], "--src-bits: expected a number from 0 to 12, found '13'"),
        (["--src-bits=-1"], "--src-bits: expected a number from 0 to 12, found '-1'"),
        (["--src-bits", "0x"], "--src-bits: expected a number from 0 to 12, found '0x'"),
        (["--src-bits"], "--src-bits requires a value (N)"),
        (["--implicit-return", "some"], "--implicit-return: expected one of off|count|partial|full, found 'some'"),
        (["--dialect", "klingon"], "--dialect: expected a name from 'ntrace help dialects', found 'klingon'"),
        (["--xlen", "128"], "--xlen: expected one of 32|64, found '128'"),
        (["--format", "xml"], "--format: expected one of text|jsonl|csv|none, found 'xml'"),
        (["--bytes=1"], "--bytes takes no value"),
        (["--from", "t:x"], "--from: expected N or #N (message), @N (byte offset) or t:N (time), found 't:x'"),
        (["--src", "4096"], "--src: expected a number from 0 to 4095, found '4096'"),
    ]:
        run = Run("dump", trace, *arguments, status=2)
        check(words in run.err, f"{arguments}: {run.err}")
        equal(run.out, "", f"output for {arguments}")


@case("sizes have the units of MiB and GiB")
def sizes():
    for text in "0", "0M", "4K", "4MB", "4Mi", "G", "-1", "1048577G", "18446744073709551615G", "1" * 40:
        matches(rf"--max-size: expected a number from 1 to 1073741824, found '{text}'", Run("run", "--max-size", text, "--", "x", status=2).err, text)
    for text in "4", "4M", "4MiB", "1048576G", "1GiB":
        check("--max-size" not in Run("run", "--max-size", text, "--", "/nowhere/x", status=2).err, text)


@case("operands are counted")
def operands():
    matches(r"missing operand; usage: ntrace dump .*TRACE", Run("dump", status=2).err, "none")
    matches(r"unexpected operand 'b'", Run("dump", "a", "b", status=2).err, "two")


@case("options may follow operands, and -- ends them")
def order():
    trace = write("-strange.nex", bytes([0x24, 0x0d, 0x00, 0x0b]))
    folder, name = os.path.split(trace)
    out = Run("dump", "--", name, cwd=folder).out
    equal(Run("dump", "--format", "text", trace).out, out, "before")
    equal(Run("dump", trace, "--format=text").out, out, "after")


@case("help dialects lists the values of --dialect")
def dialects():
    names = [line.split()[0] for line in Run("help", "dialects").lines()]
    check({"ntrace-1.0", "sifive-pre1.0", "p550", "refcode"} <= set(names), names)
    trace = write("one.nex", bytes([0x24, 0x0d, 0x00, 0x0b]))
    for name in names:
        Run("dump", "--dialect", name, trace, status=None)


@case("man pages are valid roff and list the options")
def man_pages():
    for name in COMMANDS:
        page = Run("help", "--as", "man", name).out
        help_text = Run("help", name).out
        matches(rf'^\.TH "NTRACE\\-{name}" 1', page, name)
        for option in set(re.findall(r"^ +(?:-\w, )?--(?:\[no-\])?([\w-]+)", help_text, re.M)):
            check(option.replace("-", "\\-") in page, f"{name}: --{option} is not in its page")


@case("man reads the pages without a warning")
def man_reads_pages():
    man = need("man")
    for name in ["", *COMMANDS]:
        done = subprocess.run([man, "--warnings", "-l", "-"], input=Run("help", "--as", "man", *filter(None, [name])).bytes,
                              capture_output=True, env=dict(os.environ, MANROFFOPT="-ww", LC_ALL="C"))
        equal((done.stderr.decode(), done.returncode), ("", 0), f"warnings and status of man for {name or 'ntrace'}")


def complete(*words):
    """The suggestions of the completion for the last word."""
    script = ('source /dev/stdin <<<"$SCRIPT"; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _ntrace; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, "bash", "ntrace", *words], capture_output=True, text=True,
                          env=dict(os.environ, SCRIPT=Run("help", "--as", "bash").out))
    equal(done.stderr, "", "bash")
    return done.stdout.split()


@case("bash completes commands, options and their values")
def completion():
    check(set(COMMANDS) <= set(complete("")), "commands")
    equal(complete("du"), ["dump"], "du")
    check({"--src-bits", "--bytes"} <= set(complete("dump", "--")), "options of dump")
    equal(complete("dump", "--format", "j"), ["jsonl"], "values")
    check("p550" in complete("dump", "--dialect", ""), "dialects")


if __name__ == "__main__":
    assert NTRACE
    main()
