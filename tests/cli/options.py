#!/usr/bin/env python3
"""Usage, help and options: which are accepted, which are refused, and the messages."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import NTRACE, Run, case, check, equal, main, matches, need, scratch, write

COMMANDS = re.findall(r"^  ([a-z]+) ", Run("--help").out, re.M)
TOPICS = ["program", "stream", "window", "encoder"]


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
        (["help", "nothing"], "no command or topic 'nothing'; 'ntrace --help' lists them"),
        (["help", "strem"], "no command or topic 'strem'; did you mean 'stream'?"),
        (["help", "dump", "x"], "unexpected operand 'x'; usage: ntrace help [COMMAND | TOPIC]"),
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
        (["--dialect", "p555"], "--dialect: expected a name from 'ntrace help dialects', found 'p555'; did you mean 'p550'?"),
        (["--dialect", "klingon"], "--dialect: expected a name from 'ntrace help dialects', found 'klingon'"),
        (["--xlen", "128"], "--xlen: expected one of 32|64, found '128'"),
        (["--format", "xml"], "--format: expected one of text|jsonl|csv|none|json, found 'xml'"),
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
        help_text = Run("help", name).out + "".join(Run("help", topic).out for topic in TOPICS if f"ntrace help {topic} " in Run(name, "-h").out)
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
    done = subprocess.run(["bash", "-c", script, "bash", NTRACE, *words], capture_output=True, text=True,
                          env=dict(os.environ, SCRIPT=Run("help", "--as", "bash").out))
    equal(done.stderr, "", "bash")
    return done.stdout.split()


def candidates(*words):
    """What `ntrace help --as complete` says, which all shells ask."""
    run = Run("help", "--as", "complete", "--", *words, status=None)
    equal(run.status, 0 if run.out else 1, f"status for {words}")
    return [line.split("\t")[0] for line in run.lines()]


@case("completion of values: choices, file formats, transports, dialects, topics")
def values():
    equal(candidates("decode", "--show", "in"), ["insn"], "--show")
    equal(candidates("decode", "--show=in"), ["insn"], "--show=")
    equal(candidates("flame", "--to", "f"), ["folded"], "formats of flame")
    check({"lcov", "cobertura"} <= set(candidates("coverage", "--to", "")), "formats of coverage")
    equal(candidates("convert", "--to", "pib"), ["pib1", "pib2", "pib4", "pib8", "pib16"], "transports")
    equal(candidates("convert", "--input-format", "tm"), ["tmc"], "transports that are read")
    equal(candidates("encode", "--mode", ""), ["btm", "htm"], "--mode")
    check({"syscall", "boot-phase"} <= set(candidates("profile", "--by", "")), "--by")
    check("syscall" in candidates("boot", "--by", ""), "a replaced name of a command")
    equal(candidates("run", "--clock", "t"), ["time"], "words of a text option")
    equal(candidates("help", "win"), ["window"], "topics")
    equal(candidates("decode", "-o", ""), [], "a file")
    equal(candidates("decode", ""), [], "an operand")
    equal(candidates("nosuch", "--x"), [], "no command")


@case("completion of sources and functions of the trace that is named")
def of_the_trace():
    stream = write("many.nex", Run("assemble", "--src-bits", 4, "-", stdin=b"".join(
        b"ProgTraceSync SRC=%d SYNC=1 ICNT=0 FADDR=0x80\n" % src for src in (3, 11, 5))).bytes)
    equal(candidates("decode", "--src-bits", "4", stream, "--src", ""), ["3", "5", "11"], "sources of a stream")
    equal(candidates("decode", stream, "--src-bits=4", "--src", "1"), ["11"], "one of them")
    gcc = need("riscv64-linux-gnu-gcc")
    program = os.path.join(scratch(), "program")
    source = write("program.c", b"int alpha(int a) { return a; } int alphabet(int a) { return a; } int main(void) { return alpha(1); }")
    subprocess.run([gcc, "-g", "-o", program, source], check=True)
    equal(candidates("profile", stream, "-e", program, "--callers", "alph"), ["alpha", "alphabet"], "functions of -e")
    equal(candidates("run", "--start-at", "", program)[:0], [], "behind the word")
    folder = os.path.join(scratch(), "program.ntrace")
    os.makedirs(os.path.join(folder, "images"), exist_ok=True)
    shutil.copy(program, os.path.join(folder, "images", "program"))
    shutil.copy(stream, os.path.join(folder, "trace.nex"))
    capture = {"format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": {}, "sources": [{"src": 7, "hart": 0}], "images": [{"kind": "elf", "file": "images/program"}]}
    with open(os.path.join(folder, "capture.json"), "w", encoding="ascii") as file:
        json.dump(capture, file)
    equal(candidates("profile", folder, "--callees", "alphab"), ["alphabet"], "functions of a bundle")
    equal(candidates("profile", folder, "--src", ""), ["7"], "sources of a bundle")


@case("completion in zsh and fish asks the same")
def shells():
    for shell in "zsh", "fish":
        text = Run("help", "--as", shell).out
        check("help --as complete -- " in text, shell)
        if shutil.which(shell):
            equal(subprocess.run([shell, "-n", write(f"complete.{shell}", text.encode())], capture_output=True).returncode, 0, shell)


@case("-h is a screen: usage, up to six examples, the options of this command; no value is cut")
def screens():
    for name in COMMANDS:
        text = Run(name, "-h").out
        lines = text.splitlines()
        check(len(lines) <= 56, f"{name}: {len(lines)} lines")
        check(sum(line.startswith("  ntrace ") and not line.startswith("  ntrace help ") for line in lines) <= 6, f"{name}: examples")
        check(all(len(line) <= 100 for line in lines if not re.match(r" +(-\w, )?--\S+ \S+$|  ntrace ", line)), f"{name}: width")
        for option in Run("help", "--as", "options").out.splitlines():
            kind, command, group, option, _, _, value = option.split("\t")[:7] if option.startswith("option") else [""] * 7
            if command == name and group not in (*TOPICS, "limits") and value != "-":
                check(re.search(rf"--(\[no-\])?{option}(\[=| ){re.escape(value)}", text), f"{name}: --{option} {value}")
        if any(f"option\t{name}\tstream\t" in line for line in Run("help", "--as", "options").out.splitlines()):
            check("  ntrace help stream " in text, f"{name}: the stream's options are a topic")
        check("--ts-prescale" not in text and "--ram-base" not in text or name == "convert", f"{name}: shared options")


@case("bash completes names of functions as words: nothing in them is run, or becomes another word")
def hostile_names():
    names = ["$(touch pwned)", "`touch pwned`", "*", "a b;touch pwned", "'\"\\", "operator()(int&)", "~/x", "-rf", "#x", "tab\tx", "line\nx", "\x1b[2Jx", "\u202ex", "ünï"]
    elf = write("hostile.elf", tiny.elf(symbols=[(name, 0x100 + 2 * i, 2) for i, name in enumerate(names)]))
    place = tempfile.mkdtemp(dir=scratch())
    script = ('source /dev/stdin <<<"$SCRIPT"; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _ntrace; [ ${#COMPREPLY[@]} -gt 0 ] || exit 9; '
              'eval "set -- ${COMPREPLY[*]}"; printf "%s\\n" "$@"')  # as the user's line
    done = subprocess.run([need("bash"), "-c", script, "bash", NTRACE, "profile", "-e", elf, "--callers", ""], capture_output=True, cwd=place,
                          env=dict(os.environ, SCRIPT=Run("help", "--as", "bash").out), check=False)
    equal((done.returncode, done.stderr), (0, b""), "bash")
    equal(sorted(done.stdout.decode().splitlines()), sorted(name for name in names if name.isprintable()), "words")
    equal(os.listdir(place), [], "files")


@case("blocks of options that commands share have a page, with the commands that have them")
def pages():
    for topic, option in zip(TOPICS, ("--elf", "--src-bits", "--until", "--sync-max")):
        text = Run("help", topic).out
        check(option in text, f"{topic}: {option}")
        matches(r"^commands: .*\b(decode|run)\b", text[text.index("commands:"):], topic)


@case("the overview has the commands in groups, as tasks")
def overview():
    text = Run("--help").out
    for title, first in (("make a trace", "run"), ("count and show what was executed", "profile"), ("walk through the execution", "view")):
        matches(rf"\n\n{title}\n  {first} ", text, title)
    check(max(map(len, text.splitlines())) <= 80, "width")


@case("bash completes commands, options and their values")
def completion():
    check(set(COMMANDS) <= set(complete("")), "commands")
    equal(complete("du"), ["dump"], "du")
    check({"--src-bits", "--bytes"} <= set(complete("dump", "--")), "options of dump")
    equal(complete("dump", "--format", "j"), ["jsonl", "json"], "values")
    check("p550" in complete("dump", "--dialect", ""), "dialects")


if __name__ == "__main__":
    assert NTRACE
    main()
