#!/usr/bin/env python3
"""A program that is not the one that ran is named, by its build id or by the messages that it does not fit; a damaged
stream is no such program.

usage: fit.py NTRACE
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import ROOT, Run, case, check, equal, main, matches, need, scratch, skip, write

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
static int numbers[200];
static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) static int work(int n) {
    int sum = 0;
    INSERTED
    for (int i = 0; i < n; i++) {
        if (i % 3 == 0) sum += i;
        else if (i % 7 == 1) sum ^= i;
        else sum -= 1;
    }
    return sum;
}
int main(void) {
    for (int i = 0; i < 200; i++) numbers[i] = i * 7919 % 1009;
    qsort(numbers, 200, sizeof *numbers, ascending);
    printf("%d %d\\n", work(1000), numbers[17]);
    puts("end");
    printf("%x\\n", work(CONSTANT));
    return 0;
}
"""


def build(name, *options, compiler="riscv64-linux-gnu-gcc", inserted="", constant=77):
    """Builds the program, or a variant of it, once. Returns its path."""
    path = os.path.join(scratch(), name)
    if not os.path.exists(path):
        text = SOURCE.replace("INSERTED", inserted).replace("CONSTANT", str(constant))
        source = write(name + ".c", text.encode())
        if "clang" in compiler:
            subprocess.run([need(compiler), "--target=riscv64-linux-gnu", "-march=rv64gc", "-mabi=lp64d", "-isystem", "/usr/riscv64-linux-gnu/include",
                            "-w", "-c", *options, "-o", path + ".o", source], check=True)
            compiler, options, source = "riscv64-linux-gnu-gcc", [], path + ".o"
        subprocess.run([need(compiler), "-static", "-w", *(options or ["-O2"]), "-o", path, source], check=True)
    return path


def program(identifier=True):
    return build("program", "-O2", "-Wl,--build-id") if identifier else build("plain", "-O2", "-Wl,--build-id=none")


def line(identifier=True):
    """One inserted line."""
    inserted = "static volatile int more; more += n;"
    return (build("line", "-O2", "-Wl,--build-id", inserted=inserted) if identifier
            else build("plainline", "-O2", "-Wl,--build-id=none", inserted=inserted))


def bundle(path):
    """The bundle of a run of the program, beside it."""
    need("qemu-riscv64")
    name = path + ".ntrace"
    if not os.path.exists(name):
        Run("run", "-q", "-o", name, "--", path)
    return name


def raw(path):
    """The stream alone."""
    name = path + ".nex"
    if not os.path.exists(name):
        shutil.copy(os.path.join(bundle(path), "trace.nex"), name)
    return name


def lines(*arguments, status):
    return [text.split(": ", 1)[1] for text in Run(*arguments, status=status).err.splitlines()]


@case("the program that ran is not doubted: with its bundle, its stream, and stripped")
def truth():
    stripped = os.path.join(scratch(), "stripped")
    subprocess.run([need("riscv64-linux-gnu-strip"), "-o", stripped, program(False)], check=True)
    for path in (program(), program(False)):
        for trace in (bundle(path), os.path.join(bundle(path), "trace.nex"), raw(path)):
            check("fits" not in Run("decode", trace, "-e", path, "--output", "none").err, trace)
    for trace in (bundle(program(False)), raw(program(False))):
        check("fits" not in Run("decode", trace, "-e", stripped, "--output", "none").err, trace)


@case("-e beside a bundle: another build id is named, with how many messages fit, where the first does not, and what to do")
def beside_bundle():
    found = lines("decode", bundle(program()), "-e", line(), "--output", "none", status=1)
    equal(len(found), 3, "lines")
    matches(r"line fits \d+ of \d+ messages; it is not the program that ran \(build id differs(; built later than the trace)?\)$", found[0], "fit")
    fitting, messages = map(int, re.search(r"fits (\d+) of (\d+)", found[0]).groups())
    check(0 < fitting < messages / 2, found[0])
    matches(r"^the first message that does not fit: message #\d+ at byte 0x[0-9a-f]+, after 0x[0-9a-f]+ <\w+\+0x[0-9a-f]+>: ", found[1], "place")
    matches(r"program\.ntrace has the program that ran, as images/program: leave out -e$", found[2], "next")


@case("a changed constant that changes no flow is known by the build id alone")
def constant():
    changed = build("constant", "-O2", "-Wl,--build-id", constant=78)
    subprocess.run(["touch", "-d", "2001-01-01", changed], check=True)
    found = lines("decode", bundle(program()), "-e", changed, "--output", "none", status=1)
    matches(r"constant fits (all )?\d+ .*(of \d+ )?messages[,;] .*it is not the program that ran \(build id differs\)$", found[0], "fit")


@case("a rebuilt program without its address: a PIE beside the bundle of another build is known by its name, and by build id or bytes")
def rebuilt_pie():
    for options in (["-Wl,--build-id"], ["-Wl,--build-id=none"]):
        folder = os.path.join(scratch(), "pie" + options[0][-4:])
        os.makedirs(os.path.join(folder, "again"), exist_ok=True)
        for number, path in enumerate(("pie", "again/pie")):
            source = write("pie.c", b"int main(int n, char **v) { volatile int s = %d; while (n++ < 300) s += n ^ s; return 0; }\n" % (number * 40))
            subprocess.run([need("riscv64-linux-gnu-gcc"), "-O1", "-pie", "-fPIE", *options, "-o", path, source], cwd=folder, check=True)
        need("qemu-riscv64")
        Run("run", "-q", "-L", "/usr/riscv64-linux-gnu", "-o", "pie.ntrace", "--", "./pie", cwd=folder)
        equal(Run("decode", "pie.ntrace", "-e", "pie", "--show", "none", cwd=folder).err, "", "the program that ran")
        reason = "build id differs" if options[0].endswith("build-id") else "its bytes differ, and there is no build id"
        for command in (["decode", "--show", "none"], ["profile"], ["stat"]):
            error = Run(*command, "pie.ntrace", "-e", "again/pie", status=1, cwd=folder).err
            matches(rf"^ntrace {command[0]}: (again/)?pie is not the program that ran \({reason}.*\)\n"
                    rf"ntrace {command[0]}: pie.ntrace has the program that ran, as images/pie: leave out -e\n", error, f"{command}")


@case("a file of the bundle that was replaced is named by its build id, also where all messages fit; so is one that is missing")
def replaced_file():
    changed = build("constant", "-O2", "-Wl,--build-id", constant=78)
    folder = os.path.join(scratch(), "replaced.ntrace")
    shutil.copytree(bundle(program()), folder)
    file = os.path.join(folder, "images", "program")
    shutil.copy(changed, file)
    for command in (["decode", "--show", "none"], ["profile"], ["coverage", "--to", "json"], ["stat"], ["check"], ["explore", "--ask", '{"query":"about"}']):
        error = Run(*command, folder, status=1).err
        matches(rf"^ntrace {command[0]}: {file}: expected the file that ran, with build id [0-9a-f]{{12}}..., found one with [0-9a-f]{{12}}...; "
                "it was replaced after the capture$", error.splitlines()[0], f"{command}")
    os.remove(file)
    matches("images/program: No such file or directory; its code will be missing unless -e specifies the file", Run("stat", folder, status=1).err, "missing")
    equal(Run("stat", folder, "-e", program()).status, 0, "missing, and given")


@case("without build ids, the bytes are compared")
def content():
    found = lines("decode", bundle(program(False)), "-e", line(False), "--output", "none", status=1)
    matches(r"plainline fits \d+ of \d+ messages; it is not the program that ran \(its bytes differ, and there is no build id", found[0], "fit")


@case("the stream of a bundle: the bundle beside it says which program ran")
def stream_of_bundle():
    found = lines("decode", os.path.join(bundle(program()), "trace.nex"), "-e", line(), "--output", "none", status=1)
    matches(r"it is not the program that ran \(build id differs", found[0], "fit")
    matches(r"^the bundle .*program\.ntrace has the program that ran: give the bundle as TRACE, without -e$", found[2], "next")


@case("a stream alone: the messages show it, no gap is listed, and inference does not explain it by other parameters")
def alone():
    for extra in ([], ["--auto"]):
        for command in (["decode", "--output", "none"], ["profile"], ["flame"], ["stat"]):
            found = lines(*command, raw(program()), "-e", line(), *extra, status=1)
            equal(len(found), 2, f"{command} {extra}: {found}")
            matches(r"line fits \d+ of \d+ messages; it is not the program that ran \(the trace has no build id to compare", found[0], "fit")


@case("the report says so too, although the program is judged only when the decode has a gap; of the program that ran it does not")
def report():
    page = os.path.join(scratch(), "report.html")
    for path, status in ((line(), 1), (program(), 0)):
        Run("report", raw(program()), "-e", path, "-o", page, status=status)
        text = open(page, encoding="utf-8").read()
        equal("the program is not the one that ran" in text, bool(status), path)
        counts = re.search(r", ([0-9]+) messages fit and ([0-9]+) contradict it", text)
        check(counts and int(counts[1]) and bool(int(counts[2])) == bool(status), f"{path}: {counts}")


@case("all ways of decoding judge it: counts, several threads, a part, and the first defect")
def ways():
    for words in (["--show", "count"], ["-j", "2"], ["--from", "@0"], ["--strict"], ["--format", "json"]):
        error = Run("decode", raw(program()), "-e", line(), "--output", "none", *words, status=1).err
        matches(r"line fits \d+ of \d+ messages; it is not the program that ran", error, str(words))


@case("damage is not a program: random bits of the stream are changed, 1 to 60 of them")
def damage():
    stream = open(raw(program()), "rb").read()
    for number in range(12):
        chance, data = random.Random(number), bytearray(stream)
        for _ in range((1, 2, 3, 5, 20, 60)[number % 6]):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        done = Run("decode", write("damaged.nex", bytes(data)), "-e", program(), "--output", "none", status=None)
        check("not the program" not in done.err, f"damage {number}: {done.err}")


@case("a FIFO overflow is not a program: whole messages are lost")
def overflow():
    lossy = Run("encode", "--help").out  # the options of the encoder
    check(lossy, "help")
    data = open(raw(program()), "rb").read()
    done = Run("dump", write("whole.nex", data)).lines()
    kept = [text for i, text in enumerate(done) if not 100 <= i < 140]
    kept.insert(100, "Error ETYPE=0 ECODE=0")
    text = "\n".join(re.sub(r"^#\d+ @0x[0-9a-f]+ ", "", t) for t in kept)
    stream = Run("assemble", "-", stdin=text.encode()).bytes
    done = Run("decode", write("lossy.nex", stream), "-e", program(), "--output", "none", status=None)
    check(" fits " not in done.err, done.err)


@case("another compiler, and other options")
def compilers():
    for name, options, compiler in (("O0", ["-O0"], "riscv64-linux-gnu-gcc"), ("O1", ["-O1"], "riscv64-linux-gnu-gcc"),
                                    ("Os", ["-Os"], "riscv64-linux-gnu-gcc")):
        other = build(name, *options, compiler=compiler)
        found = lines("decode", raw(program()), "-e", other, "--output", "none", status=1)
        matches(rf"{name} fits \d+ of \d+ messages; it is not the program that ran", found[0], name)


@case("a program at other addresses has no code there")
def elsewhere():
    moved = build("moved", "-O2", "-Wl,-Ttext-segment=0x40000000")
    found = Run("decode", raw(program()), "-e", moved, "--output", "none", status=1).err
    matches(r"moved has no code at 0x[0-9a-f]+, where the trace is, only at 0x40000000 to 0x[0-9a-f]+: "
            r"it is not the program that ran, or it was loaded elsewhere \(-e FILE@ADDR\)", found, "message")
    beside = Run("stat", bundle(program()), "-e", moved + "@0x70000000").err
    matches(r"moved: no instruction at 0x70000000 to 0x[0-9a-f]+ was executed; if it ran, it was loaded elsewhere \(-e FILE@ADDR\)$", beside.strip(), "beside")


@case("programs of two processes at one address: none of them is chosen before the trace says which process runs")
def processes():
    one, other = write("one.bin", bytes.fromhex("0100010073000000")), write("other.bin", bytes.fromhex("01000100010073000000"))
    for process, other_process, expected in (0x20, 0x40, 1), (0x22, 0x42, 0):
        Run("assemble", "-o", write("processes.nex", b""), write("processes.txt", f"""ProgTraceSync SYNC=5 ICNT=0 FADDR=0x8000
Ownership PROCESS={process:#x}
IndirectBranch BTYPE=1 ICNT=2 UADDR=0x0
Ownership PROCESS={other_process:#x}
IndirectBranch BTYPE=1 ICNT=3 UADDR=0x0
Ownership PROCESS={process:#x}
ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=0x1
""".encode()))
        for images in (one, other), (other, one):
            programs = [f"--raw={path}@0x10000:ctx={1 if path == one else 2}" for path in images]
            run = Run("profile", *programs, "--format", "jsonl", os.path.join(scratch(), "processes.nex"), status=expected)
            equal(sum(row["self"] for row in run.rows()), 0 if expected else 7, "instructions")
            if expected:
                matches("programs of several processes have code at 0x10000, and the trace does not say there which process runs", run.err, "the reason")
                matches("several programs have code at this address, and the trace has not said which one runs", Run("decode", *programs, os.path.join(scratch(), "processes.nex"), status=1).err, "the gap")
        same = Run("profile", f"--raw={one}@0x10000:ctx=1", f"--raw={one}@0x10000:ctx=2", "--format", "jsonl", os.path.join(scratch(), "processes.nex"), status=None)
        equal(sum(row["self"] for row in same.rows()) >= 2, True, "equal code needs no choice")


@case("programs of two guests, or of two modes, at one address: the reason names what the trace does not say")
def guests_and_modes():
    one, other = write("one.bin", bytes.fromhex("0100010073000000")), write("other.bin", bytes.fromhex("01000100010073000000"))
    stream = os.path.join(scratch(), "guests.nex")
    Run("assemble", "-o", write("guests.nex", b""), write("guests.txt", b"""ProgTraceSync SYNC=5 ICNT=0 FADDR=0x8000
ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=0x1
"""))
    for bound, words in (("hctx=1", "hctx=2"), "guests .* which guest runs (no hcontext was sent)"), (("prv=U", "prv=S"), "privilege modes .* which mode the hart is in (no privilege mode was sent)"):
        programs = [f"--raw={path}@0x10000:{text}" for path, text in zip((one, other), bound)]
        run = Run("profile", *programs, stream, status=1)
        matches("programs of several " + words.replace("(", r"\(").replace(")", r"\)"), run.err, f"{bound}: the note")
        matches("several programs have code at this address, and the trace has not said which one runs", Run("decode", *programs, stream, status=1).err, f"{bound}: the gap")


@case("stat: the fit of each image, with its build id, and the share of instructions that have names")
def figures():
    rows = {row["kind"]: row for row in Run("stat", "--format", "jsonl", bundle(program())).rows()}
    equal(rows["fit"]["messages_of_the_flow"], rows["fit"]["messages_that_fit"], "all messages fit")
    equal((rows["fit"]["messages_that_contradict"], rows["quality"]["gaps"], rows["quality"]["bytes_in_gaps"]), (0, 0, 0), "none contradicts")
    check(90 < rows["quality"]["%_of_instructions_named"] <= 100, rows["quality"])
    matches(r"program, build id [0-9a-f]{40}$", rows["image"]["name"], "image")
    equal(rows["image"]["instructions_followed"], rows["execution"]["instructions"], "instructions")


@case("--src: other sources, which execute other code, do not matter")
def one_source():
    folder = scratch()
    for source, path in enumerate((program(), line())):
        execution = Run("decode", bundle(path), "--show", "pc").bytes
        with open(os.path.join(folder, f"pcs{source}"), "wb") as file:
            file.write(execution)
        Run("encode", "-e", path, "--pc", os.path.join(folder, f"pcs{source}"), "--src-bits", "1", "--src-id", source, "-o", os.path.join(folder, f"source{source}.nex"))
    both = os.path.join(folder, "both.nex")
    Run("merge", "--src-bits", "1", "-o", both, os.path.join(folder, "source0.nex"), os.path.join(folder, "source1.nex"))
    for command in (["decode", "--show", "count"], ["profile"], ["stat"]):
        check("fits" in Run(*command, both, "-e", program(), "--src-bits", "1", status=1).err, f"{command}: all sources")
        check("fits" not in Run(*command, both, "-e", program(), "--src-bits", "1", "--src", "0").err, f"{command}: source 0")


@case("wrong stream options are not a wrong program")
def parameters():
    found = Run("decode", raw(program()), "-e", program(), "--implicit-return", "off", "--output", "none", status=1).err
    matches(r"program\.nex: \d+ of \d+ messages fit with the given stream parameters, and \d+ with others: --implicit-return full", found, "message")
    check("not the program" not in found, found)


def variants():
    """Programs that differ from the one that ran: a name, the options of the compiler, more, and whether their flow differs."""
    for number in range(40):
        yield f"line{number}", ["-O2"], {"inserted": f"static volatile int more; more += n + {number};"}, True
    for number in range(40):
        yield f"deep{number}", ["-O2"], {"inserted": " ".join(["__asm__ volatile(\"nop\");"] * (number + 1))}, True
    for number in range(60):
        yield f"constant{number}", ["-O2", "-Wl,--build-id"], {"constant": 1000 + number}, False
    for number in range(60):
        compiler = {"compiler": "clang" if number % 3 == 0 and shutil.which("clang") else "riscv64-linux-gnu-gcc"}
        yield f"compiler{number}", [("-O0", "-O1", "-Os", "-O3")[number % 4], f"-falign-functions={2 << number % 6}"], compiler, True


@case("two hundred variants are named: an inserted line, a changed constant, another compiler and other options", long=True)
def many():
    unnamed, count = [], 0
    for name, options, more, flow in variants():
        path = build("many-" + name, *options, **more)
        done = Run("decode", raw(program()) if flow else bundle(program()), "-e", path, "--show", "none", status=1)
        if not re.search(r"many-\S+ (fits|is) .*it is not the program that ran|is not the program that ran", done.err):
            unnamed.append((name, done.err))
        os.remove(path)
        count += 1
    equal((count, unnamed), (200, []), "variants that are not said not to have run")


@case("another version of Debian: its C library beside the bundle of a program that ran with this one, with its address and without")
def debian():
    done = subprocess.run([os.path.join(ROOT, "tools", "debian_root"), "--suite", "trixie", "--arch", "riscv64", "--offline", "libc6"],
                          capture_output=True, text=True)
    here = "/usr/riscv64-linux-gnu"
    if done.returncode or not os.path.exists(here + "/lib/libc.so.6"):
        skip("real-programs")
    path = os.path.join(scratch(), "dynamic")
    source = write("dynamic.c", b"#include <stdio.h>\nint main(void) { return puts(\"here\") < 0; }\n")
    subprocess.run([need("riscv64-linux-gnu-gcc"), "-O2", "-o", path, source], check=True)
    need("qemu-riscv64")
    Run("run", "-q", "-L", here, "-o", path + ".ntrace", "--", path)
    images = {os.path.basename(image["file"]): image for image in json.load(open(path + ".ntrace/capture.json", encoding="utf-8"))["images"]}
    for name in ("libc.so.6", "ld-linux-riscv64-lp64d.so.1"):
        other = os.path.join(done.stdout.split()[-1], "usr/lib/riscv64-linux-gnu", name)
        for place in ("", "@" + images[name]["bias"]):
            error = Run("decode", path + ".ntrace", "-e", other + place, "--show", "none", status=1).err
            matches(rf"{name}.* is not the program that ran \(build id differs", error, name + place)
            matches(rf"has the program that ran, as images/{name}: leave out -e", error, name + place)


main()
