#!/usr/bin/env python3
"""Cobertura, gcovr's JSON and SonarQube's XML of a C++ program: gcovr and the schemas accept them, with the counts of `--to json`.

usage: coverage.py NTRACE

The sources lie in src/ and in the system's folders: names in the project are relative to it, others are whole.
"""
import collections
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

sys.path.append(os.path.join(sys.path[0], ".."))
import unpacked
from harness import NTRACE, Run, case, check, equal, main, need, scratch

HERE = os.path.dirname(os.path.abspath(__file__))
DTD = os.path.join(HERE, "..", "analysis", "golden", "cobertura.dtd")
# What SonarQube's page on generic test data publishes, as a DTD.
SONAR = """<!ELEMENT coverage (file*)> <!ATTLIST coverage version CDATA #REQUIRED>
<!ELEMENT file (lineToCover*)> <!ATTLIST file path CDATA #REQUIRED>
<!ELEMENT lineToCover EMPTY>
<!ATTLIST lineToCover lineNumber NMTOKEN #REQUIRED covered (true|false) #REQUIRED branchesToCover NMTOKEN #IMPLIED coveredBranches NMTOKEN #IMPLIED>
"""


@functools.cache
def project():
    """The folder of a project with inside.cc in "src", and the bundle plain.ntrace."""
    folder = os.path.realpath(tempfile.mkdtemp(dir=scratch()))
    os.mkdir(os.path.join(folder, "src"))
    shutil.copy(os.path.join(HERE, "inside.cc"), os.path.join(folder, "src"))
    for command in ([need("riscv64-linux-gnu-g++"), "-std=c++17", "-g", "-O1", "-static", os.path.join(folder, "src", "inside.cc"), "-o", "plain"],
                    [NTRACE, "run", "-q", "-o", "plain.ntrace", "--", "./plain"]):
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return folder


@functools.cache
def files():
    """{file: document} of our own JSON, with names as in `names`."""
    document = json.loads(Run("coverage", "--to", "json", "plain.ntrace", cwd=project()).out)
    return {names(each["file"]): each for each in document["files"]}


def names(path):
    return os.path.relpath(path, project()) if path.startswith(project() + "/") else path


def written(form, cwd=None, **environment):
    path = os.path.join(scratch(), form)
    Run("coverage", "--to", form, "-o", path, os.path.join(project(), "plain.ntrace"), cwd=cwd or project(), env=dict(os.environ, **environment))
    return path


def counts(each):
    return {line["line"]: line["count"] for line in each["lines"]}


@case("Cobertura: valid by its DTD; filename is relative to <source>; hits of the lines of each class")
def cobertura():
    path = written("cobertura")
    subprocess.run([need("xmllint"), "--noout", "--nonet", "--dtdvalid", DTD, path], check=True, stderr=subprocess.DEVNULL)
    root = ET.parse(path).getroot()
    equal([source.text for source in root.iter("source")], [project()], "sources")
    equal({each.get("filename"): {int(line.get("number")): int(line.get("hits")) for line in each.iterfind("lines/line")} for each in root.iter("class")},
          {name: counts(each) for name, each in files().items()}, "lines")
    check("src/inside.cc" in files() and any(name.startswith("/usr/") for name in files()), "files in the project, and others")


@case("Cobertura: <methods> are the functions; their lines are those of the source between first and last line")
def methods():
    root = ET.parse(written("cobertura")).getroot()
    for each in root.iter("class"):
        own = files()[each.get("filename")]
        found = [(method.get("name"), method.get("signature") or method.get("name")) for method in each.iter("method")]
        expected = collections.Counter((function["name"], function["linkage"]) for function in own["functions"])
        check(not collections.Counter(found) - expected, f"methods that are no functions: {found}")
        for method in each.iter("method"):
            lines = {int(line.get("number")): int(line.get("hits")) for line in method.iter("line")}
            executed = any(function["count"] for function in own["functions"] if function["name"] == method.get("name"))
            equal(lines, {number: counts(own)[number] if executed else 0 for number in lines}, f"lines of {method.get('name')}")
            equal(method.get("line-rate"), f"{sum(map(bool, lines.values())) / len(lines):.4f}", method.get("name"))
    of_main = next(method for method in root.iter("method") if method.get("name") == "main")
    with open(os.path.join(project(), "src", "inside.cc"), encoding="ascii") as file:
        text = file.read().splitlines()
    begin = next(number for number, line in enumerate(text, 1) if line.startswith("int main("))
    lines = [int(line.get("number")) for line in of_main.iter("line")]
    check(lines and begin <= min(lines) and max(lines) <= text.index("}", begin - 1) + 1, f"main at {begin}: {lines}")


@case("a run in another folder: the common folder of all sources takes the place of the project")
def elsewhere():
    path = os.path.join(scratch(), "one.xml")
    Run("coverage", "--to", "cobertura", "--only", os.path.join(project(), "src"), "-o", path, os.path.join(project(), "plain.ntrace"),
        cwd=tempfile.mkdtemp(dir=scratch()))
    root = ET.parse(path).getroot()
    equal([source.text for source in root.iter("source")], [os.path.join(project(), "src")], "source")
    equal([each.get("filename") for each in root.iter("class")], ["inside.cc"], "file")


@case("Cobertura: the time is that of the capture, or SOURCE_DATE_EPOCH when the trace has none; equal inputs give equal files")
def time_stamp():
    def stamp(environment):
        return ET.parse(written("cobertura", SOURCE_DATE_EPOCH=environment)).getroot().get("timestamp")
    equal(stamp("1000000000"), stamp(""), "a bundle has a date")
    path = os.path.join(project(), "plain.ntrace", "capture.json")
    with open(path, encoding="ascii") as file:
        text = file.read()
    capture = json.loads(text)
    del capture["date"]
    try:
        with open(path, "w", encoding="ascii") as file:
            json.dump(capture, file)
        equal([stamp(value) for value in ("1000000000", "", "x", "99999999999999999999")], ["1000000000000", "0", "0", "0"], "no date")
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)


def gcovr(*arguments):
    command, environment = unpacked.gcovr()
    done = subprocess.run([*command, *arguments], cwd=project(), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    equal(done.returncode, 0, f"gcovr {arguments}: {done.stderr[-500:]}")
    check("WARNING" not in done.stderr and "ERROR" not in done.stderr, done.stderr)
    return done.stdout


@case("gcovr -a reads gcovr-json: lines, functions and branches of each file; two files are summed")
def gcovr_json():
    path = written("gcovr-json")
    own = {name: each for name, each in files().items() if not name.startswith("/")}
    summary = json.loads(gcovr("-a", path, "--json-summary"))
    equal([each["filename"] for each in summary["files"]], list(own), "files")
    outcomes = [outcome for each in own.values() for line in each["lines"] for branch in line.get("branches", []) for outcome in (branch["taken"], branch["not_taken"])]
    functions = [function for each in own.values() for function in each["functions"]]
    for what, hits in (("line", [line["count"] for each in own.values() for line in each["lines"]]), ("branch", outcomes), ("function", [each["count"] for each in functions])):
        equal((summary[what + "_covered"], summary[what + "_total"]), (sum(map(bool, hits)), len(hits)), what)
    copy = shutil.copy(path, path + ".copy")
    double = json.loads(gcovr("-a", path, "-a", copy, "--json"))
    for each in double["files"]:
        equal({line["line_number"]: line["count"] for line in each["lines"]}, {number: 2 * count for number, count in counts(own[each["file"]]).items()}, "lines twice")
        equal(sum(one["execution_count"] for one in each["functions"]), 2 * sum(one["count"] for one in own[each["file"]]["functions"]), "calls twice")


@case("gcovr reads the Cobertura file of the folder in which it runs")
def gcovr_cobertura():
    summary = json.loads(gcovr("--cobertura-add-tracefile", written("cobertura"), "--json-summary"))
    equal([each["filename"] for each in summary["files"]], ["src/inside.cc"], "files")
    lines = counts(files()["src/inside.cc"])
    equal((summary["line_covered"], summary["line_total"]), (sum(map(bool, lines.values())), len(lines)), "lines")


@case("SonarQube: valid by the published schema; lines and outcomes of branches are ours")
def sonarqube():
    path, schema = written("sonarqube"), os.path.join(scratch(), "sonar.dtd")
    with open(schema, "w", encoding="ascii") as file:
        file.write(SONAR)
    subprocess.run([need("xmllint"), "--noout", "--nonet", "--dtdvalid", schema, path], check=True)
    root = ET.parse(path).getroot()
    equal(root.get("version"), "1", "version")
    for each, (name, own) in zip(root.iter("file"), files().items()):
        equal(each.get("path"), name, "path")
        found = {int(line.get("lineNumber")): (line.get("covered") == "true", int(line.get("coveredBranches", 0)), int(line.get("branchesToCover", 0))) for line in each}
        expected = {}
        for line in own["lines"]:
            taken = [bool(outcome) for branch in line.get("branches", []) for outcome in (branch["taken"], branch["not_taken"])]
            expected[line["line"]] = line["count"] > 0, sum(taken), len(taken)
        equal(found, expected, name)
    equal(len(list(root.iter("file"))), len(files()), "files")


main()
