#!/usr/bin/env python3
"""Lines that count: comments that exclude lines, compared with lcov's capture of gcov's data, and patches, compared with git's.

usage: changes.py NTRACE
"""
import json
import os
import re
import sqlite3
import subprocess
import sys
from xml.etree import ElementTree

sys.path.append(os.path.join(sys.path[0], ".."))
import gcov_truth as truth
import harness
from harness import NTRACE, case, check, equal, folder, need

GCC = "riscv64-linux-gnu-gcc"
SOURCE = """#include <stdio.h>
static int tested(int x) {
    if (x > 100) /* LCOV_EXCL_BR_LINE */
        return 1; // LCOV_EXCL_LINE
    return x;
}
/* LCOV_EXCL_START */
static int hidden(int x) {
    return x * 2;
}
/* LCOV_EXCL_STOP */
static int unused(int x) {
    return x * 3;
}
int main(int argc, char **argv) {
    int s = tested(argc);
    // %s_EXCL_START
    if (s > 5)
        s = hidden(s);
    // %s_EXCL_STOP
    if (s > 7)
        s = unused(s);
    printf("%%d\\n", s);
    return 0;
}
"""


def write(place, text, name="m.c"):
    with open(os.path.join(place, name), "w", encoding="utf-8") as file:
        file.write(text)


def trace(place, *sources):
    truth.run(GCC, "-g", "-O0", "-static", *(sources or ("m.c",)), "-o", "m", cwd=place)
    truth.run(NTRACE, "run", "-q", "-o", "m.ntrace", "--", "./m", cwd=place, status=())


def coverage(place, *options, status=0):
    done = subprocess.run([NTRACE, "coverage", *options, "m.ntrace"], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    equal(done.returncode, status, f"status ({done.stderr})")
    return done


def counts_of(info, name):
    record = next(record for record in info.split("end_of_record") if re.search(rf"^SF:.*/{name}$", record, re.M))
    return ({int(n): int(c) for n, c in re.findall(r"^DA:(\d+),(\d+)", record, re.M)},
            sorted(re.findall(r"^(?:FNDA|FNA:\d+):?,?\d+,(.*)$", record, re.M)), {int(n) for n in re.findall(r"^BRDA:(\d+)", record, re.M)})


@case("LCOV_EXCL_*: lines, functions and branches are those that lcov counts; what they hide is counted")
def lcov_markers():
    place = folder()
    write(place, SOURCE % ("LCOV", "LCOV"))
    truth.run(GCC, "-g", "-O0", "-static", "--coverage", "m.c", "-o", "counted", cwd=place)
    truth.run("qemu-riscv64", "./counted", cwd=place, status=())
    truth.run(need("lcov"), "--capture", "--rc", "lcov_branch_coverage=1", "--gcov-tool", "riscv64-linux-gnu-gcov", "-d", ".", "-o", "theirs.info", cwd=place)
    with open(os.path.join(place, "theirs.info"), encoding="utf-8") as file:
        theirs = counts_of(file.read(), "m.c")
    trace(place)
    done = coverage(place, "--to", "lcov", "--only", "m.c")
    ours = counts_of(done.stdout, "m.c")
    braces = {6, 10, 14, 25}  # lcov 1 leaves out lines of only braces
    equal({line: count for line, count in ours[0].items() if line not in braces}, theirs[0], "counts of lines")
    equal(ours[1], theirs[1], "functions")
    equal(ours[2], theirs[2], "lines with branches")
    check("exclude 6 lines, 5 of them not executed" in done.stderr, done.stderr)
    every = counts_of(coverage(place, "--to", "lcov", "--only", "m.c", "--no-markers").stdout, "m.c")
    equal(set(every[0]) - set(ours[0]), {4, 8, 9, 10, 18, 19}, "lines that are hidden")


@case("GCOV_EXCL_* and GCOVR_EXCL_* are the same; a section without an end is named")
def other_markers():
    for tool in ("GCOV", "GCOVR"):
        place = folder()
        write(place, SOURCE % (tool, tool))
        trace(place)
        check("exclude 6 lines" in coverage(place, "--only", "m.c").stderr, tool)
    write(place, SOURCE % ("LCOV", "NO"))
    trace(place)
    check(re.search(r"m.c:17: .* no end", coverage(place, "--only", "m.c").stderr), "no message")


ODD_MARKERS = """int hit(int x) {
    x++; // XLCOV_EXCL_LINES
    // LCOV_EXCL_START
    x++;
    // GCOV_EXCL_START
    x++;
    // LCOV_EXCL_STOP
    x++;
    // LCOV_EXCL_STOP
    x++; // LCOV_UNREACHABLE_LINE
    return x;
}
int main(void) { return hit(-4); }
"""


@case("markers inside of words, as in lcov and gcovr; sections inside of sections, ends without a beginning and unreachable lines that were executed are named")
def odd_markers():
    place = folder()
    write(place, ODD_MARKERS)
    truth.run(GCC, "-g", "-O0", "-static", "--coverage", "m.c", "-o", "counted", cwd=place)
    truth.run("qemu-riscv64", "./counted", cwd=place, status=())
    lcov_1 = b"LCOV version 1." in truth.run(need("lcov"), "--version", cwd=place)  # lcov 2 refuses an end without a beginning
    truth.run("lcov", "--capture", "--gcov-tool", "riscv64-linux-gnu-gcov", "-d", ".", "-o", "theirs.info", cwd=place, status=(0,) if lcov_1 else (1,))
    trace(place)
    done = coverage(place, "--only", "m.c", "--to", "lcov", status=1)
    if lcov_1:  # it does not know UNREACHABLE, and leaves out a brace
        with open(os.path.join(place, "theirs.info"), encoding="utf-8") as file:
            equal(set(counts_of(file.read(), "m.c")[0]) - set(counts_of(done.stdout, "m.c")[0]), {10}, "lines")
    for said in ("m.c:5: a section of excluded lines begins inside of another one", "m.c:9: a section of excluded lines ends here and has no beginning",
                 "m.c:10: LCOV_UNREACHABLE_*: expected no execution, found 1", "comments in 1 files"):
        check(said in done.stderr, f"{said}: {done.stderr}")


def repository():
    """A repository with two files, of which the second commit has changed lines."""
    place = folder()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    truth.run(need("git"), "init", "-q", cwd=place)
    os.mkdir(os.path.join(place, "src"))
    write(place, "int old(int x) {\n    return x;\n}\n", "src/a, b.c")
    write(place, "int old(int), main(void);\nint main(void) {\n    return old(0);\n}\n", "src/main.c")
    truth.run("git", "add", ".", cwd=place)
    truth.run(*git, "commit", "-qm", "one", cwd=place)
    write(place, "int old(int x) {\n    if (x)\n        return 2;\n    return x;\n}\nint fresh(int x) {\n    x++;\n    return x;\n}\n", "src/a, b.c")
    trace(place, "src/a, b.c", "src/main.c")
    return place


@case("--since: lines that git says were changed, their share, annotations for GitHub and GitLab, and the threshold")
def patches():
    place = repository()
    diff = truth.run("git", "diff", "--unified=0", "HEAD", cwd=place).decode()
    changed = set()
    for first, size in re.findall(r"^@@ .*\+(\d+),?(\d*) @@", diff, re.M):
        changed |= set(range(int(first), int(first) + int(size or 1)))
    full = truth.traced(NTRACE, "m.ntrace", place, files={"a, b.c", "main.c"})
    expected = {key: count for key, count in full.lines.items() if key[0] == "a, b.c" and key[1] in changed}
    ours = truth.traced(NTRACE, "m.ntrace", place, "--since", "HEAD")
    equal(ours.lines, expected, "lines of the patch")
    missed = sorted(key[1] for key, count in expected.items() if not count)
    equal((len(expected), missed), (6, [3, 6, 7]), "lines that are expected")
    text = coverage(place, "--since", "HEAD").stdout
    check("src/a, b.c:6: lines 6 to 7 were not executed" in text and "3 of 6 changed lines" in text and "50.00 %" in text, text)
    github = coverage(place, "--since", "HEAD", "--format", "github").stdout.splitlines()
    equal(github, ["::warning file=src/a%2C b.c,line=3,endLine=3,title=Coverage::line 3 was not executed",
                   "::warning file=src/a%2C b.c,line=6,endLine=7,title=Coverage::lines 6 to 7 were not executed"], "GitHub")
    gitlab = json.loads(coverage(place, "--since", "HEAD", "--format", "gitlab").stdout)
    equal([(row["location"]["path"], row["location"]["lines"]["begin"]) for row in gitlab], [("src/a, b.c", 3), ("src/a, b.c", 6)], "GitLab")
    check(all(set(row) == {"description", "check_name", "fingerprint", "severity", "location"} for row in gitlab)
          and len({row["fingerprint"] for row in gitlab}) == 2, "fields of a code quality report")
    coverage(place, "--since", "HEAD", "--fail-under", "50")
    check("50.00 %" in coverage(place, "--since", "HEAD", "--fail-under", "51", status=1).stderr, "threshold")


def program_of_branches():
    """A repository in which `topic` has renamed a file and changed four lines of code, and `main` others. The program is built in a folder of its own."""
    place = folder()

    def git(*words):
        truth.run(need("git"), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", *words, cwd=place)
    os.mkdir(os.path.join(place, "module"))
    git("init", "-q", "-b", "main", "module")
    write(place, "int s(int x) { return x; }\n", "module/s.c")
    git("-C", "module", "add", "s.c")
    git("-C", "module", "commit", "-qm", "one")
    for name in ("work", "work/build", "work/one", "work/include"):
        os.mkdir(os.path.join(place, name))
    git("init", "-q", "-b", "main", "work")
    git("-C", "work", "submodule", "--quiet", "add", os.path.join(place, "module"), "sub")
    write(place, "int keep(int x) {\n    return x;\n}\nint upstream(int x) {\n    return x;\n}\n", "work/one/old.c")
    write(place, "int quoted(int x) {\n    return x;\n}\n", 'work/a"\t\\b.c')
    write(place, "static inline int twice(int x) {\n    return 2 * x;\n}\n", "work/include/h.h")
    main = "#include \"../include/h.h\"\nint quoted(int), keep(int), s(int);\nint %s(int n) {\n    return quoted(n) + keep(n) + s(n) + twice(n);\n}\n"
    write(place, main % "main", "work/one/main.c")
    write(place, (main % "other").replace("..", "./../work"), "work/sub2.c")
    os.symlink("one", os.path.join(place, "work", "link"))
    git("-C", "work", "add", ".")
    git("-C", "work", "commit", "-qm", "one")
    git("-C", "work", "checkout", "-qb", "topic")
    git("-C", "work", "mv", "one/old.c", "one/new.c")
    write(place, "int keep(int x) {\n    if (x > 5)\n        return 7;\n    return x;\n}\nint upstream(int x) {\n    return x;\n}\n", "work/one/new.c")
    write(place, "int quoted(int x) {\n    if (x > 5)\n        return 7;\n    return x;\n}\n", 'work/a"\t\\b.c')
    write(place, "static inline int twice(int x) {\n    x++;\n    return 2 * x;\n}\n", "work/include/h.h")
    git("-C", "work", "commit", "-qam", "two")
    git("-C", "work", "checkout", "-q", "main")
    write(place, "int keep(int x) {\n    return x;\n}\nint upstream(int x) {\n    return x + 1;\n}\n", "work/one/old.c")
    git("-C", "work", "commit", "-qam", "three")
    git("-C", "work", "checkout", "-q", "topic")
    build = os.path.join(place, "work", "build")
    trace(build, "../one/main.c", "../sub2.c", "../link/new.c", '../a"\t\\b.c', "../sub/s.c")
    return place, git


CHANGED = {("h.h", 2): 1, ("new.c", 2): 1, ("new.c", 3): 0, ('a"\t\\b.c', 2): 1, ('a"\t\\b.c', 3): 0}


@case("--since: names with '..', names that git quotes, renamed files, another branch's changes, settings of git, a clone elsewhere, a shallow clone, submodules, links")
def patches_of_branches():
    place, git = program_of_branches()
    build = os.path.join(place, "work", "build")

    def lines(where, bundle, **environment):
        done = subprocess.run([NTRACE, "coverage", "--since", "main", "--to", "json", bundle], cwd=where, capture_output=True, text=True, check=True,
                              env=dict(os.environ, **environment))
        files = json.loads(done.stdout)["files"]
        return {(os.path.basename(file["file"]), line["line"]): line["count"] for file in files for line in file["lines"]}, done.stderr
    equal(lines(build, "m.ntrace")[0], CHANGED, "lines of the patch")
    full = json.loads(truth.run(NTRACE, "coverage", "--to", "json", "--only", place, "m.ntrace", cwd=build))["files"]
    names = [os.path.relpath(file["file"], os.path.join(place, "work")) for file in full]
    equal(sorted(names), sorted({os.path.normpath(name) for name in names}), "a header has one name")
    for setting in ("interHunkContext=9", "relative=true", "renames=false", "noprefix=true", "mnemonicPrefix=true", "submodule=diff", "context=3"):
        name, value = setting.split("=")
        equal(lines(build, "m.ntrace", GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="diff." + name, GIT_CONFIG_VALUE_0=value)[0], CHANGED, setting)
    write(place, "*.c -diff\n", "work/.gitattributes")
    equal(lines(build, "m.ntrace", GIT_DIFF_OPTS="-u9")[0], CHANGED, "attributes and environment")
    write(place, "int s(int x) {\n    return x;\n}\n", "work/sub/s.c")
    git("-C", "work/sub", "commit", "-qam", "two")
    git("-C", "work", "rm", "--cached", "-q", "sub2.c")
    ours, said = lines(build, "m.ntrace")
    equal(ours, CHANGED, "without the submodule")
    check("the submodule sub was changed" in said and "git does not know 1 sources of the program, the first sub2.c" in said, said)
    git("clone", "-q", "-b", "topic", "work", "clone")
    git("-C", "clone", "branch", "main", "origin/main")
    ours, said = lines(os.path.join(place, "clone"), os.path.join(build, "m.ntrace"))
    equal(ours, CHANGED, "a clone in another folder")
    check(f"sources of the program in '{place}/work/' are compared" in said, said)
    git("clone", "-q", "--depth", "1", "--no-single-branch", "-b", "topic", "file://" + os.path.join(place, "work"), "shallow")
    git("init", "-q", "-b", "main", "foreign")
    git("-C", "foreign", "commit", "-q", "--allow-empty", "-m", "one")
    for where, status, said in (("shallow", 2, "in a shallow clone, fetch more"), ("foreign", 1, "expected a program from sources of the repository")):
        done = subprocess.run([NTRACE, "coverage", "--since", "origin/main" if where == "shallow" else "main", "--fail-under", "1", os.path.join(build, "m.ntrace")],
                              cwd=os.path.join(place, where), capture_output=True, text=True, check=False)
        check(done.returncode == status and said in done.stderr, f"{where}: {done}")
    for words in (("--fail-under", "mcdc=1"), ("--fail-under", "object=1"), ("--to", "decisions"), ("--diff", ".")):
        check("lines and branches only" in subprocess.run([NTRACE, "coverage", "--since", "main", *words, "m.ntrace"], cwd=build, capture_output=True, text=True,
                                                          check=False).stderr, words)


@case("--since: a patch without code passes; an unknown revision and an option are errors")
def no_patch():
    place = repository()
    truth.run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "two", cwd=place)
    check("no changed line has code" in coverage(place, "--since", "HEAD", "--fail-under", "100").stdout, "no patch")
    coverage(place, "--since", "HEAD~1", "--fail-under", "51", status=1)
    for revision in ("nothing", "--output=x"):
        done = subprocess.run([NTRACE, "coverage", "--since=" + revision, "m.ntrace"], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        check(done.returncode == 2 and not done.stdout, f"{revision}: {done}")
    check(not os.path.exists(os.path.join(place, "x")), "an option was passed to git")


@case("a source that was changed after the program was made is named; one that is older is not")
def newer_source():
    place = folder()
    write(place, SOURCE % ("NONE", "NONE"))
    os.utime(os.path.join(place, "m.c"), (1000000000, 1000000000))
    trace(place)
    commands = (["coverage", "--only", "m.c", "m.ntrace"], ["profile", "--annotate=main", "m.ntrace"], ["report", "-o", "m.html", "m.ntrace"])
    for newer in (False, True):
        if newer:
            write(place, "\n" + SOURCE % ("NONE", "NONE"))
        for command in commands:
            done = subprocess.run([NTRACE, *command], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
            said = re.search(r"expected sources that are older than the program, found 1 that are newer, the first \S*/m\.c ", done.stderr)
            check(bool(said) == newer, f"{command[0]}, newer {newer}: {done.stderr}")


@case("a source that was changed between the build and the run is named: the copy of the program has its age")
def newer_than_the_build():
    place = folder()
    write(place, SOURCE % ("NONE", "NONE"))
    truth.run(GCC, "-g", "-O0", "-static", "m.c", "-o", "m", cwd=place)
    for name, time in (("m", 1000000000), ("m.c", 1000000001)):
        os.utime(os.path.join(place, name), (time, time))
    truth.run(NTRACE, "run", "-q", "-o", "m.ntrace", "--", "./m", cwd=place, status=())
    check("found 1 that are newer" in coverage(place, "--only", "m.c").stderr, "message")


@case("a source whose name has a tab and a line feed: JSON, XML and SQLite have the name, texts have '?'")
def control_characters():
    place, name = folder(), "a\tb\nc\x1b.c"
    write(place, "int main(int n, char **a) { (void)a; if (n > 0 && n < 9) return 0; return 1; }\n", name)
    trace(place, name)
    path = os.path.join(place, name).replace("\x1b", "?")
    command = ["--only", path]
    equal([file["file"] for file in json.loads(coverage(place, *command, "--to", "json").stdout)["files"]], [path], "JSON")
    classes = ElementTree.fromstring(coverage(place, *command, "--to", "cobertura").stdout).iter("class")
    equal([entry.get("filename") for entry in classes], [os.path.basename(path)], "Cobertura")
    truth.run(NTRACE, "export", "--to", "sqlite", "-o", "m.db", "m.ntrace", cwd=place)
    equal(sqlite3.connect(os.path.join(place, "m.db")).execute("SELECT file FROM functions WHERE name = 'main'").fetchall(), [(path,)], "SQLite")
    shown = re.sub(r"[\t\n]", "?", path)
    equal([line[3:] for line in coverage(place, *command, "--to", "lcov").stdout.splitlines() if line.startswith("SF:")], [shown], "lcov")
    for words in (["coverage", *command], ["profile", "--by", "line", "--top", "9999"], ["profile", "--annotate=main"], ["coverage", "--level", "object", *command],
                  ["decode", "--show", "insn"], ["export", "--to", "callgrind"]):
        done = subprocess.run([NTRACE, *words, "m.ntrace"], cwd=place, stdout=subprocess.PIPE, text=True, check=True)
        check(os.path.basename(shown) in done.stdout and "a\tb" not in done.stdout and "\x1b" not in done.stdout, f"{words}: {done.stdout[:300]}")


CLANG = ("clang-19", "--target=riscv64-linux-gnu", "-fuse-ld=lld-19", "-g", "-O0", "-static")


def commands(place, status):
    """Runs what shows or counts sources; returns the messages and the output of each."""
    results = []
    for command in (["coverage", "--only", "m.c", "m.ntrace"], ["profile", "--annotate=main", "m.ntrace"],
                    ["report", "-o", "m.html", "m.ntrace"], ["coverage", "--only", "m.c", "--evidence", "evidence", "m.ntrace"]):
        done = subprocess.run([NTRACE, *command], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        equal(done.returncode, status, f"status of {command[0]} ({done.stderr})")
        results.append((done.stderr, done.stdout))
    with open(os.path.join(place, "m.html"), encoding="utf-8") as page, open(os.path.join(place, "evidence", "report.html"), encoding="utf-8") as report, \
            open(os.path.join(place, "evidence", "evidence.json"), encoding="utf-8") as manifest:
        return results, page.read(), report.read(), json.load(manifest)["other_sources"]


@case("with an MD5 in debug information it decides: a newer file with the same text is the source, an older one with another text is not")
def checksums():
    need(*CLANG[:1], "ld.lld-19")
    place = folder()
    text = SOURCE % ("NONE", "NONE")
    write(place, text)
    truth.run(*CLANG, "m.c", "-o", "m", cwd=place)
    truth.run(NTRACE, "run", "-q", "-o", "m.ntrace", "--", "./m", cwd=place, status=())
    os.utime(os.path.join(place, "m.c"), (2000000000, 2000000000))
    results, page, report, others = commands(place, 0)
    for error, _ in results:
        check("older than the program" not in error and "MD5" not in error, error)
    equal(others, [], "sources that differ")
    shown = "int s = tested(argc);"
    check(shown in results[1][1] and shown in page and shown in report, "the text of the source is missing")
    write(place, "\n" + text)
    os.utime(os.path.join(place, "m.c"), (1000000000, 1000000000))
    results, page, report, others = commands(place, 1)
    for error, _ in results:
        check(re.search(r"found 1 whose MD5 is not that of the debug information, the first \S*/m\.c \(program \S*m\)", error), error)
    equal([(os.path.basename(other["name"]), other["reason"]) for other in others], [("m.c", "md5")], "sources that differ")
    check(shown not in results[1][1] and shown not in page and shown not in report, "the text of another source is shown")
    check("its MD5 is not that of the debug information" in report, "report of the evidence")
    asked = subprocess.run([NTRACE, "explore", "m.ntrace", "--ask", json.dumps({"query": "source", "file": os.path.join(place, "m.c")})], cwd=place,
                           capture_output=True, text=True, check=False)
    check(asked.returncode == 1 and shown not in asked.stdout and "found 1 whose MD5" in asked.stderr, f"explore: {asked}")
    os.mkdir(os.path.join(place, "kept"))
    write(place, text, "kept/m.c")
    done = subprocess.run([NTRACE, "profile", "--annotate=main", "--source-path", "kept", "m.ntrace"], cwd=place, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=True)
    check(shown in done.stdout and "MD5" not in done.stderr, "the source in another folder")
    write(place, "", "m.c")
    check("found 1 whose MD5" in coverage(place, "--only", "m.c", status=1).stderr, "an empty source")


harness.main(GCC, "riscv64-linux-gnu-gcov", "qemu-riscv64")
