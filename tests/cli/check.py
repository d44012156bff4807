#!/usr/bin/env python3
"""ntrace check: each rule has a stream in tests/corpus/check that violates this rule alone, and one that conforms to it.

A scene: "options:" for the command, "program" when it is about the program below, then two streams, "bad:" and
"good:", as lines for ntrace assemble; "bytes 0e 00" stands for itself.
"""
import itertools
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import ROOT, Run, bytes_of, case, check, equal, main, shared, write

SCENES = os.path.join(ROOT, "tests", "corpus", "check")

# Beside tiny's program: 0x400 jal 0x500, 0x404 c.jr a5; 0x500 c.add, 0x502 c.ret; 0x600 c.j 0x600
MORE = {0x400: (0x100000ef, 4), 0x404: (0x8782, 2), 0x406: (0x9002, 2), 0x500: (0x908a, 2), 0x502: (0x8082, 2), 0x600: (0xa001, 2)}


def program():
    data = bytearray(tiny.image()) + bytes(0x510)
    for pc, (opcode, size) in MORE.items():
        data[pc - tiny.BASE:pc - tiny.BASE + size] = opcode.to_bytes(size, "little")
    return write("program.bin", bytes(data)) + "@0x100"


def stream(name, lines, src_bits):
    data = b""
    for is_bytes, group in itertools.groupby(lines, lambda line: line.startswith("bytes ")):
        if is_bytes:
            data += b"".join(bytes.fromhex(line[6:]) for line in group)
        else:
            data += Run("assemble", *src_bits, "-", stdin="".join(line + "\n" for line in group).encode()).bytes
    return write(name, data)


class Scene:
    def __init__(self, rule):
        self.rule, self.options, self.streams = rule, [], {"bad": [], "good": []}
        part = None
        with open(os.path.join(SCENES, rule + ".txt"), encoding="ascii") as file:
            for line in file.read().splitlines():
                if line.startswith("options: "):
                    self.options = line[9:].split()
                elif line == "program":
                    self.options += ["--raw", program()]
                elif line in ("bad:", "good:"):
                    part = line[:-1]
                else:
                    self.streams[part].append(line)

    def findings(self, part):
        src_bits = self.options if "--src-bits" in self.options else []
        path = stream(f"{self.rule}.{part}.nex", self.streams[part], src_bits)
        return Run("check", path, *self.options, "--format", "jsonl", status=None).rows()


def rules():
    return [json.loads(line) for line in Run("check", "--list-rules", "--format", "jsonl").lines()]


@case("every rule has a file in the corpus, and every file a rule; at least 60")
def catalogue():
    names = [rule["rule"] for rule in rules()]
    equal(sorted(names), sorted(name[:-4] for name in os.listdir(SCENES)), "scenes")
    check(len(set(names)) == len(names) >= 60, f"{len(names)} rules")
    equal(len(Run("check", "--list-rules").lines()), len(names), "lines of --list-rules")
    for rule in rules():
        check(rule["severity"] in ("note", "warning", "error") and rule["section"] and rule["about"] and rule["breaking"], rule)


@case("the bad stream of a rule violates this rule alone, the good one no rule")
def each():
    wrong = []
    for rule in rules():
        scene = Scene(rule["rule"])
        bad = [finding["rule"] for finding in scene.findings("bad")]
        good = [finding["rule"] for finding in scene.findings("good")]
        if bad != [rule["rule"]]:
            wrong.append(f"{rule['rule']}: bad breaks {bad}")
        if good:
            wrong.append(f"{rule['rule']}: good breaks {good}")
    equal(wrong, [], "scenes")


@case("streams of our encoder violate no rule, those of the reference only its known ones")
def encoded():
    pcs = "".join(f"{pc:#x}\n" for pc in tiny.PCS)
    for options in (["--mode", "btm"], ["--mode", "htm"], ["--timestamps"], ["--src-bits", "4", "--src-id", "3"], ["--best"]):
        path = write("encoded.nex", Run("encode", "-e", program_elf(), "--pc", "-", *options, stdin=pcs.encode()).bytes)
        reading = [option for option in options if option.startswith("--src-bits") or option == "4"] 
        run = Run("check", path, "-e", program_elf(), *reading)
        check(" 0 errors, 0 warnings, " in run.out, f"{options}: {run.out}")


def program_elf():
    return write("tiny.elf", tiny.elf())


@case("the reference encoder's streams of one program: no errors in its dialect", 1)
@case("the reference encoder's streams of four programs: no errors in its dialect", 4, long=True)
def reference(programs):
    folder = os.path.dirname(shared("corpus", "refcode", "published.csv"))
    for name in sorted(os.listdir(folder))[:programs]:
        for kind in ("btm", "htm", "htm-repeat", "htm-stack", "htm-stack-repeat"):
            path = os.path.join(folder, name, kind + ".nex.zst")
            if not os.path.exists(path):
                continue
            stack = ["--implicit-return", "full"] if "stack" in kind else []
            plain = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
            run = Run("check", write("plain.nex", plain), "--dialect", "refcode", "-e", os.path.join(folder, name, "program.elf"), *stack)
            check(" 0 errors, 0 warnings, " in run.out, f"{name} {kind}: {run.out[-600:]}")


BAD = tiny.START + "DirectBranch ICNT=0\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2\nDirectBranch ICNT=4:18\n"
BROKEN = ["branch-icnt", "field-padded", "after-stop"]


@case("what older encoders are known for is a note, and registers of any width may be full")
def habits():
    stopped = tiny.START + "IndirectBranchHist BTYPE=0 ICNT=12 UADDR=0x10 HIST=0x5\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2\n"
    path = write("habit.nex", bytes_of(stopped))
    for dialect, severity in (("ntrace-1.0", "error"), ("refcode", "note"), ("sifive-pre1.0", "note"), ("p550", "note"), ("andes", "error")):
        rows = Run("check", path, "--src-bits", "0", "--dialect", dialect, "--format", "jsonl", status=None).rows()
        equal([row["severity"] for row in rows if row["rule"] == "cdf-htm"], [severity], dialect)
    lost = write("lost.nex", bytes_of(tiny.START + "Error ETYPE=0 ECODE=0x2\n"))
    for dialect, count in (("ntrace-1.0", 1), ("nexus-data", 0), ("ctte", 0)):
        rows = Run("check", lost, "--src-bits", "0", "--dialect", dialect, "--rules", "ecode-reserved", "--format", "jsonl", status=None).rows()
        equal(len([row for row in rows if "rule" in row]), count, f"{dialect}: lost data messages")
    lost = write("lost.nex", bytes_of(tiny.START + "DirectBranch ICNT=4\nError ETYPE=0 ECODE=0x2\nDirectBranch ICNT=4\n"))
    more = write("more.nex", bytes_of(tiny.START + "DirectBranch ICNT=4\nError ETYPE=0 ECODE=0x6\nDirectBranch ICNT=4\n"))
    for dialect, path, rules in (("ntrace-1.0", lost, ["ecode-reserved", "error-sync"]), ("nexus-data", lost, []), ("ctte", lost, []),
                                 ("nexus-data", more, ["error-sync"])):
        rows = Run("check", path, "--src-bits", "0", "--dialect", dialect, "--format", "jsonl", status=None).rows()
        equal([row["rule"] for row in rows if row.get("severity") == "error"], rules, f"{dialect}: after an Error")
    for count, notes in ((1, 0), (3, 0), (15, 0), (0x3ffff, 0), (4, 1), (14, 1)):
        twice = tiny.START + 2 * f"ResourceFull RCODE=2 RDATA0=0x5 RDATA1={count}\n"
        rows = Run("check", write("twice.nex", bytes_of(twice)), "--rules", "hrepeat-split", "--format", "jsonl", status=None).rows()
        equal(len(rows), notes, f"HREPEAT {count}")


@case("the exit status depends on the severity")
def status():
    padded = write("padded.nex", bytes_of(tiny.START + "DirectBranch ICNT=4:18\n"))
    cut = write("cut.nex", bytes_of(tiny.START) + b"\x0c")
    for path, options, expected in ((padded, [], 0), (padded, ["--fail-on", "note"], 1), (cut, [], 0), (cut, ["--fail-on", "warning"], 1),
                                    (write("bad.nex", bytes_of(BAD)), [], 1), (write("bad.nex", bytes_of(BAD)), ["--fail-on", "never"], 0),
                                    ("no-such-file", [], 2), (write("empty.nex", b""), [], 2)):
        Run("check", path, *options, status=expected)
    check("no rule 'icnt'" in Run("check", padded, "--rules", "icnt", status=2).err, "an unknown rule")
    check("expected TRACE" in Run("check", status=2).err, "no trace")


SPEC = os.path.join(ROOT, "tests", "corpus", "spec")
SYNC4_DFD = ("--dialect", "tt-dfd", "--src-bits", "0")
EXTENDED = ("--extend-addr",)
JUDGED = [  # a stream of tests/corpus/spec, options, the rules that it violates
    ("rb_own", (), ["ownership-format"]), ("rb_vendor", (), ["tcode-vendor"]), ("rb_reserved", (), ["tcode-reserved"]),
    ("err_vendor_then_branch", (), ["etype-vendor"]), ("own_h_only", (), ["ownership-pair"]),
    ("own_h_then_branch_then_s", (), ["ownership-pair"]), ("sync3_nostop", (), ["debug-exit"]), ("rf0_zero", (), ["rdata-icnt-zero"]),
    ("rf_rdata1", (), ["rdata-empty"]), ("db_linear", ("program",), ["flow-branch"]), ("ib_linear", ("program",), ["flow-branch"]),
    ("ts5", ("--ts-width", "40"), ["tstamp-limit"]), ("ts6", ("--ts-width", "40"), ["tstamp-limit"]), ("ts_reset1", (), []),
    ("ts_reset9", (), []), ("ext2", EXTENDED, []), ("ext_k", EXTENDED, []), ("ptc4_sync0", (), ["start-trigger"]),
    ("ptc_past", ("program",), ["flow-jump"]), ("ring_nosync", ("--mid-stream",), []), ("sync4_ok", SYNC4_DFD, []),
    ("sync4_min", SYNC4_DFD, []), ("sync4_late", SYNC4_DFD, []), ("sync4_min", (), ["counter-htm"]), ("sync4_late", (), ["counter-htm"]),
]


@case("streams of single statements of the specification")
def statements():
    for name, options, expected in JUDGED:
        program_of = ("-e", os.path.join(SPEC, "pa.elf")) if options == ("program",) else options
        rows = Run("check", os.path.join(SPEC, name + ".nex"), *program_of, "--format", "jsonl", status=None).rows()
        equal([row["rule"] for row in rows], expected, f"{name} {options}")
        check(all(row["statements"].startswith("NT-") for row in rows), f"{name}: identifiers of statements")
    said = Run("check", os.path.join(SPEC, "own_h_only.nex"), status=1).out
    check("[ownership-pair, section 6.1, NT-142]" in said, said)
    check(all(line.split()[4].startswith("NT-") for line in Run("check", "--list-rules").lines()), "--list-rules")


@case("in HTM, a sync is late one period after the end of the period, also without branch messages")
def late():
    full = ["ResourceFull RCODE=0 RDATA0=100\n"]
    for count, expected in ((16, []), (17, ["sync-period"]), (40, ["sync-period"])):
        path = write("loop.nex", bytes_of(tiny.START + "".join(full * count)))
        rows = Run("check", path, "--sync-period", "8", "--format", "jsonl", status=None).rows()
        equal([row["rule"] for row in rows], expected, f"{count} messages")


@case("text: file, byte, message, field, rule, what was found")
def text():
    run = Run("check", write("bad.nex", bytes_of(BAD)), status=1)
    check("bad.nex: byte 0x4, message #2 DirectBranch, field ICNT: error: a DirectBranch counts the branch itself "
          "[branch-icnt, section 6.2, NT-154 NT-229], found ICNT=0" in run.out, run.out)
    check("4 messages, 2 errors, 0 warnings, 1 notes" in run.out, run.out)
    equal([row["rule"] for row in Run("check", write("bad.nex", bytes_of(BAD)), "--rules", "after-stop,first-sync", "--format", "jsonl",
                                      status=1).rows()], ["after-stop"], "--rules")


@case("--max limits the findings printed for each rule, all are counted")
def most():
    path = write("many.nex", bytes_of(tiny.START + "DirectBranch ICNT=0\n" * 25))
    run = Run("check", path, "--max", "3", status=1)
    equal(run.out.count("[branch-icnt,"), 3, "printed")
    check("22 more of branch-icnt" in run.out and "25 errors" in run.out, run.out)


@case("--src: findings of one source")
def one_source():
    bad = bytes_of("DirectBranch SRC=1 ICNT=3\nDirectBranch SRC=2 ICNT=3\n", "--src-bits", "2")
    path = write("sources.nex", bad)

    def sources(*options):
        rows = Run("check", path, "--src-bits", "2", "--format", "jsonl", *options, status=None).rows()
        return {row["src"] for row in rows if "src" in row}

    equal(sources(), {1, 2}, "all")
    equal(sources("--src", "2"), {2}, "one")
    equal(sources("--src", "3"), set(), "none")


@case("SARIF: members that the schema requires, rules by index")
def sarif():
    log = json.loads(Run("check", write("a bad.nex", bytes_of(BAD)), "--format", "sarif", status=1).out)
    equal(log["version"], "2.1.0", "version")
    run = log["runs"][0]
    described = run["tool"]["driver"]["rules"]
    equal([described[result["ruleIndex"]]["id"] for result in run["results"]], [result["ruleId"] for result in run["results"]], "indices")
    equal(sorted(result["ruleId"] for result in run["results"]), sorted(BROKEN), "results")
    place = run["results"][0]["locations"][0]["physicalLocation"]
    check(place["artifactLocation"]["uri"].endswith("a%20bad.nex"), place)
    equal(place["region"], {"byteOffset": 4, "byteLength": 2}, "region")
    equal(run["invocations"], [{"executionSuccessful": True, "exitCode": 1}], "invocation")
    good = json.loads(Run("check", write("good.nex", bytes_of(tiny.BTM)), "--format", "sarif").out)
    equal(good["runs"][0]["results"], [], "no results")


@case("JUnit: a test case for each rule, a failure for each violated rule")
def junit():
    root = ElementTree.fromstring(Run("check", write("bad.nex", bytes_of(BAD)), "--format", "junit", status=1).out)
    cases = root.findall("testsuite/testcase")
    equal(len(cases), len(rules()), "cases")
    equal([one.get("name") for one in cases if one.find("failure") is not None], ["after-stop", "branch-icnt"], "failures")
    equal((root.get("tests"), root.get("failures")), (str(len(cases)), "2"), "totals")


@case("damage is one finding; rules are checked again after a synchronizing message")
def damage():
    data = bytes_of(tiny.START) + b"\x0e\x00\x0f" + bytes_of("DirectBranch ICNT=0\n" + tiny.START + "DirectBranch ICNT=0\n")
    rows = Run("check", write("damaged.nex", data), "--format", "jsonl", status=1).rows()
    equal([(row["rule"], row["message"]) for row in rows], [("mseo-reserved", 2), ("branch-icnt", 5)], "findings")


main()
