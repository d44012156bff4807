#!/usr/bin/env python3
"""The evidence of a coverage: its files agree with each other and with what they rest on. Campaigns, names of tests, justifications. TAP.

usage: evidence.py NTRACE [every]      every: also the page in a browser, and the PDF twice
"""
import hashlib
import html
import json
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

sys.path.append(os.path.join(sys.path[0], ".."))
import cases
import mcdc
from browser import Browser


def files_of(folder):
    return {name: open(os.path.join(folder, name), "rb").read() for name in sorted(os.listdir(folder))}


def evidence(bench):
    """All levels, with the digests of what they rest on; twice the same bytes."""
    bench.source("decisions.c")
    trace = bench.trace("decisions.c", "-O0", "0", "20")
    folders = [os.path.join(bench.folder, name) for name in ("evidence1", "evidence2")]
    for folder in folders:
        bench.run(bench.ntrace, "coverage", "--evidence", folder, trace)
    first, second = map(files_of, folders)
    assert first == second
    assert set(first) == {"cobertura.xml", "decisions.json", "decisions.txt", "evidence.json", "justified.txt", "lcov.info", "lines.json",
                          "lines.txt", "object.json", "report.html", "tests.json"}, set(first)
    assert json.loads(first["decisions.json"])["decisions"] == bench.mcdc(trace)["decisions"]
    assert json.loads(first["object.json"])["instructions"] > 1000
    manifest = json.loads(first["evidence.json"])
    names = {}
    for file in manifest["files"]:
        names.setdefault(file["kind"], []).append(file["name"])
        path = os.path.join(bench.folder, file["name"])
        if os.path.exists(path):
            assert file["sha256"] == hashlib.sha256(open(path, "rb").read()).hexdigest(), file
    assert any(name.endswith("trace.nex") for name in names["trace"]) and any(name.endswith("decisions.c") for name in names["source"]), names
    assert "clang version" in manifest["parser"]
    page = first["report.html"].decode()
    assert "a &amp;&amp; b" in page and page.count("<script") == 1 and "http" not in page.replace("http-equiv", ""), page[:300]


def rows_of(page, heading):
    """The cells of the table behind a heading, as text; "" for a cell over several columns is left out."""
    table = re.search(re.escape(heading) + ".*?</table>", page, re.S)[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in re.findall("<tr[^>]*>(.*?)</tr>", table, re.S)]
    return [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in row] for row in rows if row]


def page(bench):
    """The page for people says what the JSON files say: sums, what the results rest on, what is missing, and the source with its counts."""
    bench.source("hard.c")
    with open(os.path.join(bench.folder, "hard.c"), encoding="utf-8") as source:
        text = source.read()
    trace = bench.trace("hard.c", "-O0", "1", "2")
    bench.run(bench.ntrace, "coverage", "--evidence", "page", "--only", "hard.c", trace)
    files = files_of(os.path.join(bench.folder, "page"))
    report, lines, decisions, object_ = files["report.html"].decode(), *(json.loads(files[name + ".json"]) for name in ("lines", "decisions", "object"))
    file, = lines["files"]
    sums = {row[0]: (int(row[1]), int(row[2].split()[0])) for row in rows_of(report, "<h1>")}
    assert sums["lines"] == (len(file["lines"]), sum(line["count"] > 0 for line in file["lines"])), sums
    assert sums["instructions"] == (object_["instructions"], object_["executed"]), sums
    assert sums["MC/DC, unique-cause"][0] == sum(len(decision["conditions"]) > 1 for decision in decisions["decisions"]), sums
    assert json.loads(files["evidence.json"])["parser"] in report and "<li>none in any trace</li>" in report and "only hard.c" in report
    assert rows_of(report, "<h3>Tests</h3>")[0][:3] == ["0", "", trace] and "implicit-return\u00a0full" in rows_of(report, "<h3>Tests</h3>")[0][3]
    assert [row[2] for row in rows_of(report, "<h3>Digests</h3>")] == [one["sha256"] for one in json.loads(files["evidence.json"])["files"]]
    shown = {int(row[0]): row for row in rows_of(report, '<h2 id="sources">') if len(row) == 5}
    assert {number: int(row[1]) for number, row in shown.items() if row[1]} == {line["line"]: line["count"] for line in file["lines"]}
    assert all(row[4] == text.splitlines()[number - 1] for number, row in shown.items())
    first, last = file["lines"][0]["line"], file["lines"][-1]["line"]
    assert all(set(range(a["line"], b["line"])) <= set(shown) for a, b in zip(file["lines"], file["lines"][1:]) if b["line"] - a["line"] <= 20)
    assert min(shown) == first - 3 and max(shown) == last, (first, last, sorted(shown))
    one_sided = {(branch["address"], "not taken" if branch["taken"] else "taken") for line in file["lines"] for branch in line.get("branches", ())
                 if bool(branch["taken"]) != bool(branch["not_taken"])}
    assert {(row[1], row[2]) for row in rows_of(report, "<h3>Branches with one outcome</h3>")} == one_sided and len(one_sided) > 10
    missing = {row[1] for row in rows_of(report, "<h3>Functions that were not executed</h3>")}
    assert missing == {function["name"] for function in file["functions"] if not function["count"]} and missing
    assert html.unescape(re.search("<details><summary>instructions.*?<pre>(.*?)</pre>", report, re.S)[1]) == bench.run(
        bench.ntrace, "coverage", "--level", "object", "--only", "hard.c", trace)


def part_of_row(cells):
    return [tuple(map(int, cell.split("/"))) for cell in cells if re.fullmatch(r"\d+/\d+", cell)]


def folders(bench):
    """Each folder has the sums of its sources, and the page lists the known anomalies of this release."""
    for name in ("one", "one/two"):
        os.makedirs(os.path.join(bench.folder, name), exist_ok=True)
    bench.source("one/a.c", "int two(int); int f(int n) { if (n > 1 && n < 9) return two(n); return n; }\n")
    bench.source("one/two/b.c", "int two(int n) { return n > 3 ? n : 2; }\nint unused(void) { return 1; }\n")
    bench.source("one/z.c", "int f(int);\nint main(int n, char **a) { (void)a; return f(n) + f(5) == 77; }\n")
    bench.run(*mcdc.GCC, "-O0", "one/a.c", "one/two/b.c", "one/z.c", "-o", "traced")
    bench.run(bench.ntrace, "run", "-o", "folders.ntrace", "--", "./traced")
    bench.run(bench.ntrace, "coverage", "--evidence", "folders", "--only", "one", "folders.ntrace")
    report = files_of(os.path.join(bench.folder, "folders"))["report.html"].decode()
    sums = {os.path.relpath(row[0], os.path.realpath(bench.folder)): part_of_row(row) for row in rows_of(report, "<h3>Folders</h3>")}
    assert sums == {"one": [(2, 2), (3, 4), (2, 2), (1, 1), (0, 1)], "one/two": [(1, 2), (1, 2), (1, 2), (0, 1)]}, sums
    files = re.search('<h2 id="files">(.*?)<h2 id="missing">', report, re.S)[1].split("<details open")[1:]
    assert [re.findall(r"<a href=\"#f\d+\">(.*?)</a>", part) for part in files] == [["a.c", "z.c"], ["b.c"]], files
    with open(os.path.join(mcdc.ROOT, "docs", "anomalies.md"), encoding="utf-8") as file:
        rows = [line[2:-2].split(" | ") for line in file.read().splitlines() if line.startswith("| AN-")]
    expected = [(row[0], row[2]) for row in rows if "0.9.0" in row[1].replace("before 0.9.0", "")]
    assert [(row[0], row[1]) for row in rows_of(report, "<h3>Known anomalies of ntrace 0.9.0</h3>")] == expected and len(expected) > 3, expected


def in_browser(bench):
    """The filter, the keyboard, folds, a phone and dark colours; nothing is fetched, and nothing goes wrong."""
    if not Browser.command():
        return cases.skip("chromium")
    folders(bench)
    path = os.path.join(bench.folder, "folders", "report.html")
    with Browser() as b:
        shown = "[...document.querySelectorAll('details[id^=d] tbody tr')].filter(function (row) { return row.offsetHeight; }).length"
        b.open(path)
        assert b.run(shown) == 3
        b.press("/", "/", 191)
        assert b.run("document.activeElement.id") == "filter"
        b.write("z.c")
        assert b.run(shown) == 1 and b.run("document.getElementById('found').textContent").endswith(("row", "rows"))
        b.press("Escape", code=27)
        assert b.run(shown) == 3
        b.run("document.getElementById('only').click()")
        assert b.run(shown) == 2, b.run(shown)
        assert not b.run("document.getElementById('f1').open")
        b.run("document.querySelector('a[href=\"#f1\"]').click()")
        cases.harness.until(lambda: b.run("document.getElementById('f1').open"), "the source that a link leads to is open")
        light = b.run("getComputedStyle(document.body).backgroundColor")
        assert not b.problems and [url for url in b.requests if not url.startswith(("file:", "data:"))] == [], (b.problems, b.requests)
        b.open(path, width=390, height=844, dark=True)
        assert b.run("document.documentElement.scrollWidth") <= 390 and b.run("getComputedStyle(document.body).backgroundColor") != light


def page_with_losses(bench):
    """The page for people says what gaps make unknown, and which sources were not parsed."""
    bench.source("hard.c")
    bench.source("gone.c", "int gone(int c) { return c > 1 && c < 3; }\n")
    bench.run(*mcdc.GCC, "-O0", "hard.c", "gone.c", "-o", "traced")
    bench.run(bench.ntrace, "run", "--sync-mode", "messages", "--sync-max", "0", "-o", "gap.ntrace", "--", "./traced", "1", "1")
    with open(os.path.join(bench.folder, "gap.ntrace", "trace.nex"), "rb") as file:
        stream = file.read()
    with open(os.path.join(bench.folder, "holed.nex"), "wb") as file:
        file.write(cases.hole(stream, len(stream) // 5, len(stream) * 4 // 5))
    os.remove(os.path.join(bench.folder, "gone.c"))
    options = cases.stream_options(os.path.join(bench.folder, "gap.ntrace"))
    bench.run(bench.ntrace, "coverage", "--evidence", "holed", "-e", "traced", *options, "holed.nex", status=1)
    files = files_of(os.path.join(bench.folder, "holed"))
    report, lines, decisions, evidence_ = files["report.html"].decode(), *(json.loads(files[name + ".json"]) for name in ("lines", "decisions", "evidence"))
    hidden = sum(not line["known"] for file in lines["files"] for line in file["lines"])
    assert [row[4].split()[0] for row in rows_of(report, "<h1>") if row[0] == "lines"] == [str(hidden)] and hidden, hidden
    assert evidence_["losses"] and all(f"<li>{html.escape(loss)}</li>" in report for loss in evidence_["losses"])
    assert f"<li>lines that may have been executed in gaps: {hidden}, " in report
    assert f"count for nothing: {sum(decision['unknown'] for decision in decisions['decisions'])}</li>" in report
    assert sum(row[1].endswith("?") for row in rows_of(report, '<h2 id="sources">') if len(row) == 5) > 0
    assert decisions["unparsed"] and all(f"<li>{html.escape(line)}</li>" in report for line in decisions["unparsed"]), decisions["unparsed"]
    assert "gone.c (the source was not found)</summary>" in report


def schemas(bench):
    """All JSON documents are those that docs/schemas describes: no member is missing, and none is unknown."""
    if subprocess.run(["/usr/bin/python3", "-c", "import jsonschema"], stderr=subprocess.DEVNULL, check=False).returncode:
        cases.skip("python-jsonschema")
    bench.source("decisions.c")
    trace = bench.trace("decisions.c", "-Og", "0", "20")
    bench.run(bench.ntrace, "run", "--test", "named", "-o", "named.ntrace", "--", "./traced", "2", "9")
    bench.source("why.txt", JUSTIFIED)
    bench.run(bench.ntrace, "coverage", "--evidence", "whole", "--justify", "why.txt", "--only", "decisions.c", trace, "named.ntrace")
    check = ("import json, jsonschema, sys\nfor names in zip(sys.argv[1::2], sys.argv[2::2]):\n    schema, document = (json.load(open(name)) for name in names)\n"
             "    jsonschema.Draft202012Validator.check_schema(schema)\n    jsonschema.Draft202012Validator(schema).validate(document)")
    schema = os.path.join(mcdc.ROOT, "docs", "schemas", "{}.schema.json")
    pairs = [(schema.format(name), f"whole/{name}.json") for name in ("evidence", "tests", "lines", "decisions", "object")]
    bench.run("/usr/bin/python3", "-c", check, *(name for pair in pairs for name in pair))
    manifest = json.loads(files_of(os.path.join(bench.folder, "whole"))["evidence.json"])
    assert [trace["test"] for trace in manifest["traces"]] == ["", "named"] and manifest["only"] == ["decisions.c"]
    assert all(trace["parameters"]["implicit-return"] == "full" for trace in manifest["traces"]), manifest["traces"]
    assert [file["name"] for file in manifest["files"] if file["kind"] == "input"] == ["why.txt"]
    bench.source("wrong.json", json.dumps({**manifest, "gaps": "none"}))
    bench.run("/usr/bin/python3", "-c", check, schema.format("evidence"), "wrong.json", status=1)


LATIN = b"""int main(int c, char **v) {
    const unsigned char *s = (const unsigned char *)"\xe9<&>";
    if (c > 1 && s[0] == (unsigned char)"\xe9"[0]) return 0; /* caf\xe9, <b>, \xc3\xa9, \xe2\x82 */
    return v[0][0] == 1 || c > 5;
}
"""


def other_encodings(bench):
    """Sources that are not UTF-8: their bytes are the characters of ISO 8859-1 in every file, and a campaign finds their decisions again."""
    name = os.fsdecode(b"latin \xe9.c")
    with open(os.path.join(bench.folder, name), "wb") as file:
        file.write(LATIN)
    trace = bench.trace(name, "-O0", "x")
    bench.run(bench.ntrace, "coverage", "--evidence", "latin", trace)
    files = {name: content.decode() for name, content in files_of(os.path.join(bench.folder, "latin")).items() if not name.endswith((".txt", ".info"))}
    for name in (name for name in files if name.endswith(".json")):
        json.loads(files[name])
    first = json.loads(files["decisions.json"])["decisions"][0]
    assert first["text"] == 'c > 1 && s[0] == (unsigned char)"\u00e9"[0]', first
    assert first["file"].endswith("latin \u00e9.c")
    classes = ElementTree.fromstring(files["cobertura.xml"]).iter("class")
    assert any(one.get("filename").endswith("latin \u00e9.c") for one in classes), files["cobertura.xml"][:600]
    page = html.unescape(files["report.html"])
    assert "return 0; /* caf\u00e9, <b>, \u00e9, \u00e2\u201a */" in page and first["text"] in page
    text = bench.run(bench.ntrace, "coverage", "--level", "mcdc", "--diff", "latin", "-o", "answer.txt", trace)
    assert "gone: " not in text and re.search(r"(?m)^0 lost, 0 gained, of [1-9]\d* compared", text), text


def campaigns(bench):
    """--diff: what an earlier campaign covered and this one does not, and the other way round. --merge: a list of traces."""
    bench.source("decisions.c")
    bench.trace("decisions.c", "-O0", "0", "0")
    for name, first, last in (("few", "3", "4"), ("many", "0", "20")):
        bench.run(bench.ntrace, "run", "-o", name + ".ntrace", "--", "./traced", first, last)
        bench.run(bench.ntrace, "coverage", "--evidence", name, name + ".ntrace")
    covered = {name: sum(decision["state"] == "covered" for decision in bench.mcdc(name + ".ntrace")["decisions"]) for name in ("few", "many")}
    text = bench.run(bench.ntrace, "coverage", "--level", "mcdc", "--diff", "few", "many.ntrace")
    assert text.count("gained: ") > 50 and "lost: " not in text, text[-500:]
    assert len(re.findall(r"gained: .*: MC/DC: ", text)) == covered["many"] - covered["few"] > 30, text[-500:]
    text = bench.run(bench.ntrace, "coverage", "--level", "mcdc", "--diff", "many", "few.ntrace", status=1)
    assert len(re.findall(r"lost: .*: MC/DC: ", text)) == covered["many"] - covered["few"] and "gained: " not in text
    bench.source("list.txt", "# all captures\nfew.ntrace\n\nmany.ntrace\n")
    assert bench.mcdc("--merge", "list.txt") == bench.mcdc("few.ntrace", "many.ntrace")
    assert " 0 lost, 0 gained" in " " + bench.run(bench.ntrace, "coverage", "--diff", "many", "--merge", "list.txt").splitlines()[-1]
    with open(os.path.join(bench.folder, "decisions.c"), "a", encoding="utf-8") as file:
        file.write("/* a later edit */\n")
    text = bench.run(bench.ntrace, "coverage", "--diff", "many", "few.ntrace")
    assert "decisions.c: the source has changed; its lines are not compared" in text and "lost" not in text.splitlines()[-2], text
    for earlier, word in (("nowhere", "nowhere/evidence.json"), (".", "evidence.json")):
        done = subprocess.run([bench.ntrace, "coverage", "--diff", earlier, "few.ntrace"], cwd=bench.folder, stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, text=True, check=False)
        assert done.returncode == 2 and word in done.stderr, done


def pdf(bench):
    """The report as PDF, twice the same bytes; a sentence when no program can print."""
    bench.source("decisions.c")
    trace = bench.trace("decisions.c", "-O0", "0", "5")
    done = subprocess.run([bench.ntrace, "coverage", "--evidence", "none", "--pdf", trace], cwd=bench.folder, stderr=subprocess.PIPE,
                          text=True, check=False, env={"PATH": bench.folder})
    assert done.returncode == 2 and "--pdf: none of weasyprint, chromium" in done.stderr, done
    cases.need("chromium", "weasyprint", "chromium-browser", "google-chrome")
    bytes_ = []
    for folder in ("pdf1", "pdf2") if mcdc.EVERY else ("pdf1",):
        bench.run(bench.ntrace, "coverage", "--evidence", folder, "--pdf", trace)
        bytes_.append(files_of(os.path.join(bench.folder, folder))["report.pdf"])
    assert bytes_[0] == bytes_[-1] and bytes_[0].startswith(b"%PDF-") and len(bytes_[0]) > 20000
    assert b"/StructElem" not in bytes_[0], "the numbers of tags differ from run to run"


def names_of_tests(bench):
    """Which tests execute a line, and show a vector."""
    bench.source("decisions.c")
    bench.trace("decisions.c", "-O0", "0", "0")
    for name, number in (("low", "3"), ("high", "11")):
        bench.run(bench.ntrace, "run", "--test", name, "-o", name + ".ntrace", "--", "./traced", number, number)
    bench.run(bench.ntrace, "coverage", "--evidence", "both", "low.ntrace", "high.ntrace")
    tests = json.loads(files_of(os.path.join(bench.folder, "both"))["tests.json"])
    assert [test["name"] for test in tests["tests"]] == ["low", "high"]
    for index, test in enumerate(("low.ntrace", "high.ntrace")):
        alone = json.loads(bench.run(bench.ntrace, "coverage", "--to", "json", test))
        hit = {line["line"] for file in alone["files"] for line in file["lines"] if line["count"]}
        assert {line["line"] for line in tests["lines"] if index in line["tests"]} == hit and len(hit) > 100
        alone = {place: mcdc.vectors_of(decisions) for place, decisions in mcdc.by_place(bench.mcdc(test)).items()}
        shown = {}
        for decision in tests["decisions"]:
            values = {vector["values"] for vector in decision["vectors"] if index in vector["tests"]}
            shown.setdefault((decision["line"], decision["column"]), set()).update(values)
        branches = {(int(branch["address"], 16), outcome) for line in tests["lines"] for branch in line.get("branches", ())
                    for outcome in ("taken", "not_taken") if index in branch[outcome]}
        plain = json.loads(bench.run(bench.ntrace, "coverage", "--to", "json", test))
        assert branches == {(int(branch["address"], 16), outcome) for file in plain["files"] for line in file["lines"]
                            for branch in line.get("branches", ()) for outcome in ("taken", "not_taken") if branch[outcome]}
        for (line, column), values in shown.items():
            if (line, column) in alone and line not in (112, 113, 114, 115, 116, 117) + (146, 147):
                assert values == {"".join(vector) for vector in alone[line, column]}, (line, column, values)


JUSTIFIED = """# reasons
function: six
text: a && b && c && d && e && f
reason: six at once do not occur

function: switched
text:   case  1: return a  || c;
reason: there is no such kind

function: six
text: no such text
reason: -

function: two
text: a || b
reason: it is covered
"""


def justifications(bench):
    bench.source("decisions.c")
    bench.source("why.txt", JUSTIFIED)
    trace = bench.trace("decisions.c", "-O0", "0", "3")
    text = bench.run(bench.ntrace, "coverage", "--level", "mcdc", "--justify", "why.txt", trace)
    assert re.search(r"(?m)^justified: .*decisions.c:65: a && b && c && d && e && f\n    six at once do not occur$", text), text[-2000:]
    assert "why.txt:10: stale: there is no such text: six: no such text" in text, text[-900:]
    assert "why.txt:14: stale: it is covered: two: a || b" in text, text[-900:]
    assert re.search(r"(?m)^1 justified, \d+ unjustified$", text)
    trace = bench.trace("decisions.c", "-O0", "3", "3")
    text = bench.run(bench.ntrace, "coverage", "--justify", "why.txt", trace)
    assert re.search(r"(?m)^justified: .*decisions.c:97: case 1: return a \|\| c;\n    there is no such kind$", text), text[-2000:]
    assert "why.txt:6" not in text and "1 justified, " in text and "\nunjustified: " in text, text[-900:]
    share = float(re.findall(r"([\d.]+) %[^\n]*total", text)[0])
    bench.run(bench.ntrace, "coverage", "--fail-under", str(share + 0.3), trace, status=1)
    bench.run(bench.ntrace, "coverage", "--fail-under", str(share + 0.3), "--justify", "why.txt", trace)
    bench.run(bench.ntrace, "coverage", "--evidence", "reasons", "--justify", "why.txt", trace)
    bench.run(bench.ntrace, "coverage", "--evidence", "plain", trace)
    with_reasons, plain = (files_of(os.path.join(bench.folder, name)) for name in ("reasons", "plain"))
    text = html.unescape(re.search("<h3>Justifications</h3>\n<pre>(.*?)</pre>", with_reasons["report.html"].decode(), re.S)[1])
    assert text == with_reasons["justified.txt"].decode() and b"Justifications" not in plain["report.html"]
    sums = re.findall(r"(\d+) justified, (\d+) unjustified", text)
    assert re.findall(r"(\d+) are justified, (\d+) are not", with_reasons["report.html"].decode()) == sums and len(sums) == 2, sums
    assert re.search(r"(?m)^justified: .*decisions.c:65: a && b && c && d && e && f\n    six at once do not occur$", text)
    assert re.search(r"(?m)^unjustified: .*decisions.c:\d+: ", text) and "why.txt:10: stale: " in text
    for name in ("cobertura.xml", "lcov.info", "lines.json", "decisions.json"): # a reason never counts as executed
        assert with_reasons[name] == plain[name], name
    bench.source("hard.c")  # a function in one line
    bench.source("why.txt", "function: even\ntext: static int even(int x, int y) { return x > 1 && y < 2; }\nreason: not called\n")
    trace = bench.trace("hard.c", "-O0", "1", "2")
    text = bench.run(bench.ntrace, "coverage", "--justify", "why.txt", "--only", "hard.c", trace)
    assert "\n    not called\n" in text and "stale" not in text, text[-900:]
    for line, word in (("what: x\n", "expected function:"), ("function: a\n\n", "expected the three lines"), ("text: a\ntext: b\n", "twice")):
        bench.source("why.txt", line)
        done = subprocess.run([bench.ntrace, "coverage", "--justify", "why.txt", trace], cwd=bench.folder, stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, text=True)
        assert done.returncode == 2 and word in done.stderr and "why.txt:" in done.stderr, done


if __name__ == "__main__":
    cases.main([evidence, page, folders, *([in_browser] if "every" in sys.argv else []), page_with_losses, schemas, other_encodings, campaigns, pdf, names_of_tests, justifications], mcdc.Bench,
               mcdc.TOOLS)
