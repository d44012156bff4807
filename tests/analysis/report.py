#!/usr/bin/env python3
"""The report and the flame graph in a browser, from file://.

usage: report.py NTRACE

What the pages show is compared with what `ntrace profile` and `ntrace coverage` print; keys are pressed and text is
written as a person would. Nothing may be asked of a network, and the browser may have nothing to complain about.
"""
import contextlib
import functools
import json
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
from browser import Browser
from cases import hole, stream_options
from exports import FIB, MIX, Bench
from harness import NTRACE, need, scratch

KEYS = {"Enter": 13, "Escape": 27, "Home": 36, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "ArrowDown": 40, "+": 187, "-": 189}
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs")
REPORT = "report.html"
TOO_BIG = 5 * 1000 * 1000


def press(page, key):
    page.press(key, text="\r" if key == "Enter" else None, code=KEYS[key])


def show(b, page, name=REPORT, **more):
    """Open a file of the bench; problems of the browser are failures."""
    path = os.path.join(b.folder, name)
    page.open(path, **more)
    assert not page.problems, page.problems
    assert all(url.startswith("file://") or url.startswith("data:") for url in page.requests), page.requests
    assert len([url for url in page.requests if url.startswith("file://")]) == 1, page.requests


def data(page, member):
    return page.run(f"ntraceReport.data.{member}")


def loads(b, page):
    for dark in (False, True):
        show(b, page, dark=dark)
    assert page.run("document.querySelector('h1').textContent") == "work.ntrace"
    assert f"{b.instructions:,}" in page.run("document.getElementById('cards').textContent")
    assert os.path.getsize(os.path.join(b.folder, REPORT)) < TOO_BIG


def functions_equal_profile(b, page):
    show(b, page)
    rows = [json.loads(row) for row in b.run(b.ntrace, "profile", "--format", "jsonl", "work.ntrace").splitlines()]
    shown = data(page, "functions")
    assert shown["instructions"] == data(page, "summary.instructions") == b.instructions
    assert shown["count"] == len(rows) == len(shown["rows"])
    for row, found in zip(rows, shown["rows"]):
        expected = [row.get("function", "[unknown]"), row.get("file"), row.get("line", 0), row["self"], row["total"], row["calls"]]
        assert found[:6] == expected, (found, expected)
    cells = page.run("Array.from(document.querySelectorAll('#functions-table tbody tr'), "
                     "r => Array.from(r.cells, c => c.textContent))")
    fib = next(row for row in cells if row[0] == "fib")
    assert fib[1].startswith(f"{b.profile['fib']['self']:,} ") and fib[3] == f"{FIB:,}", fib


def functions_sort_and_search(b, page):
    show(b, page)
    page.run("document.querySelector('#functions-table th[data-key=\"5\"] button').click()")
    calls = page.run("Array.from(document.querySelectorAll('#functions-table tbody tr'), r => r.cells[3].textContent)")
    calls = [int(text.replace(",", "")) for text in calls]
    assert calls == sorted(calls, reverse=True) and calls[0] == FIB
    assert page.run("document.querySelector('#functions-table th[data-key=\"5\"]').getAttribute('aria-sort')") == "descending"
    page.run("document.getElementById('functions-search').focus()")
    page.write("mix")
    assert page.run("Array.from(document.querySelectorAll('#functions-table tbody tr'), r => r.cells[0].textContent)") == ["mix"]
    assert page.run("document.getElementById('functions-status').textContent").startswith("1 function,")


def click_function(page, name, within="#functions-table td.name"):
    page.run(f"Array.from(document.querySelectorAll('{within} button')).find(b => b.textContent === '{name}').click()")


def function_shows_calls(b, page):
    """A click on a function shows callers and callees; a click on one of these goes there. Counts are those of the source text."""
    show(b, page)
    click_function(page, "mix")
    lists = "Array.from(document.querySelectorAll('tr.details .calls > div'), d => d.innerText)"
    callers, callees = page.run(lists)
    assert "main" in callers and f"{MIX} calls, 100.00 %" in callers and "none" in callees, (callers, callees)
    assert page.run("document.querySelector('tr.open button').getAttribute('aria-expanded')") == "true"
    click_function(page, "main", "tr.details .calls")
    assert page.run("document.querySelector('tr.open td.name').textContent") == "main"
    assert page.run("document.activeElement.textContent") == "main"
    callees = page.run(lists)[1]
    assert f"{MIX} calls" in callees and "fib" in callees and "1 call," in callees, callees
    click_function(page, "fib", "tr.details .calls")
    callers = page.run(lists)[0]
    assert f"{FIB - 1:,} calls" in callers and "main" in callers, callers
    page.run("Array.from(document.querySelectorAll('tr.details button')).find(b => b.textContent === 'Flame graph').click()")
    assert page.run("document.getElementById('flame-search').value") == "fib"
    assert page.run("document.querySelectorAll('.frame.match').length") > 0
    click_function(page, "fib")
    assert page.run("document.querySelector('tr.details')") is None


def stripped_code_has_its_image(b, page):
    b.run("riscv64-linux-gnu-strip", "-o", "bare-work", "work")
    b.run(b.ntrace, "run", "-o", "bare.ntrace", "--", "./bare-work")
    b.run(b.ntrace, "report", "-o", "bare.html", "bare.ntrace")
    show(b, page, "bare.html")
    places = page.run("Array.from(document.querySelectorAll('#functions-table td.place'), td => td.textContent)")
    assert places and all(places) and "bare-work" in places, places


def fits_a_phone(b, page):
    """360 pixels wide: long names of functions, files and the trace do not make the page wider, and labels do not overlap."""
    long = "a_name_" * 30
    with open(os.path.join(b.folder, "long.c"), "w", encoding="utf-8") as file:
        file.write(f"__attribute__((noinline)) int {long}(volatile int n) {{ return n ? n * 2 : 1; }}\n"
                   f"int main(void) {{ int s = 0; for (int i = 0; i < 3000; i++) s += {long}(i); return s == 0; }}\n")
    b.run("riscv64-linux-gnu-gcc", "-O1", "-g", "-static", "long.c", "-o", "l")
    name = "a-long-name-of-a-trace-" * 5 + ".ntrace"
    b.run(b.ntrace, "run", "-o", name, "--", "./l")
    b.run(b.ntrace, "report", "-o", "long.html", name)
    for width in 360, 1280:
        show(b, page, "long.html", width=width)
        click_function(page, long)
        assert page.run("document.documentElement.scrollWidth <= window.innerWidth")
        wide = page.run("Array.from(document.querySelectorAll('body *')).filter(e => e.getBoundingClientRect().right > innerWidth + 1 && "
                        "!e.closest('.scroll, .flame-box, .time-box, .skip')).map(e => e.tagName + '#' + e.id)")
        assert not wide, wide
        cut = page.run("Array.from(document.querySelectorAll('.function *')).filter(e => e.getBoundingClientRect().right > innerWidth).length")
        assert cut == 0, cut
        seen = page.run("document.querySelector('#functions-table tbody td:nth-child(2)').getBoundingClientRect().right <= innerWidth")
        assert seen  # the number is beside the name
        for factor in 1, 3, 70:
            page.run(f"ntraceReport.look(0, ntraceReport.data.timeline.length / {factor})")
            marks = page.run("(() => { const c = document.getElementById('time-canvas'), g = c.getContext('2d'); return "
                             "[c.clientWidth, ntraceReport.view.marks.map(m => [m.x + 3, m.x + 3 + g.measureText(m.text).width, m.text])]; })()")
            labels = [mark for mark in marks[1] if mark[2]]
            assert len(labels) >= 2 and labels[-1][1] <= marks[0], (width, marks)
            assert all(one[1] < two[0] for one, two in zip(labels, labels[1:])), (width, marks)


def frame_of(page, name):
    return page.run(f"ntraceFlame.frames.findIndex(g => g.dataset.name === '{name}')")


def flame_zooms(b, page):
    """By keys alone: Enter on a frame zooms to it, Escape resets."""
    whole = page.run("+ntraceFlame.frames[0].querySelector('rect').getAttribute('width')")
    mix = frame_of(page, "mix")
    wide = f"+ntraceFlame.frames[{mix}].querySelector('rect').getAttribute('width')"
    part = page.run(wide) / whole
    assert abs(part - b.profile["mix"]["total"] / b.instructions) < 0.01, part
    page.run(f"ntraceFlame.focus(ntraceFlame.frames[{mix}])")
    press(page, "Enter")
    assert abs(page.run(wide) - whole) < 1
    assert page.run(f"ntraceFlame.frames[{frame_of(page, 'fib')}].style.display") == "none"
    press(page, "Escape")
    assert abs(page.run(wide) / whole - part) < 0.001
    press(page, "ArrowDown")
    assert page.run("document.activeElement.dataset.name") == "main"


def flame_in_report(b, page):
    show(b, page)
    page.run("document.getElementById('flame-search').focus()")
    page.write("mix")
    said = page.run("document.getElementById('flame-status').textContent")
    assert said.startswith(f"{100 * b.profile['mix']['total'] / b.instructions:.2f} %"), said
    assert page.run("document.querySelectorAll('.frame.match').length") == 1
    flame_zooms(b, page)


def flame_shows_its_root(b, page):
    """Deep stacks need scrolling: at first the root is visible."""
    with open(os.path.join(b.folder, "deep.c"), "w", encoding="utf-8") as file:
        file.write("__attribute__((noinline)) static int deep(volatile int n) { return n ? deep(n - 1) + n : 0; }\n"
                   "int main(void) { int sum = 0; for (int i = 0; i < 200; i++) sum += deep(90); return sum == 0; }\n")
    b.run("riscv64-linux-gnu-gcc", "-O1", "-static", "deep.c", "-o", "deep")
    b.run(b.ntrace, "run", "-o", "deep.ntrace", "--", "./deep")
    b.run(b.ntrace, "report", "-o", "deep.html", "deep.ntrace")
    show(b, page, "deep.html")
    scrolls, root_seen = page.run(
        "(() => { const box = document.querySelector('.flame-box'), b = box.getBoundingClientRect(),"
        "r = ntraceFlame.frames[0].querySelector('rect').getBoundingClientRect();"
        "return [box.scrollHeight > box.clientHeight, r.top >= b.top && r.bottom <= b.bottom + 1]; })()")
    assert scrolls and root_seen


def flame_svg(b, page):
    b.write("flame", "svg")
    os.rename(os.path.join(b.folder, "flame.svg"), os.path.join(b.folder, "graph.svg"))
    for dark in (False, True):
        show(b, page, "graph.svg", dark=dark)
    part = page.run("ntraceFlame.search('mix')")
    assert abs(part - b.profile["mix"]["total"] / b.instructions) < 1e-6
    assert f"{100 * part:.2f} %" in page.run("document.querySelector('.status').textContent")
    show(b, page, "graph.svg", width=390)  # a phone: the text has its size, nothing is beyond the edge
    assert page.run("document.documentElement.getScreenCTM().a") > 0.95
    assert page.run("Math.max(...Array.from(document.querySelectorAll('text, rect'), e => e.getBoundingClientRect().right))") <= 391
    show(b, page, "graph.svg")
    assert page.run("ntraceFlame.search('fib')") < 1  # recursive: each stack counts once
    assert abs(page.run("ntraceFlame.search('fib')") - b.profile["fib"]["total"] / b.instructions) < 1e-6
    flame_zooms(b, page)


def source_equals_coverage(b, page):
    show(b, page)
    counts, file = {}, None
    for line in b.run(b.ntrace, "coverage", "--to", "lcov", "work.ntrace").splitlines():
        if line.startswith("SF:"):
            file = line[3:]
        elif line.startswith("DA:") and file.endswith("/work.c"):
            number, times = line[3:].split(",")[:2]
            counts[int(number)] = int(times)
    shown = next(f for f in data(page, "source.files") if f[0].endswith("/work.c"))
    assert {row[0]: row[2] for row in shown[5] if len(row) > 2} == counts
    with open(shown[0], encoding="utf-8") as text:
        lines = text.read().split("\n")
    assert all(row[1] == lines[row[0] - 1] for row in shown[5])
    assert page.run("document.getElementById('source-rule').textContent") == "Lines are counted by the rule of gcov."
    by_line = {}
    for row in map(json.loads, b.run(b.ntrace, "profile", "--by", "line", "--format", "jsonl", "work.ntrace").splitlines()):
        if row.get("file") == shown[0]:
            by_line[row["line"]] = by_line.get(row["line"], 0) + row["self"]
    assert {row[0]: row[3] for row in shown[5] if len(row) > 3 and row[3]} == by_line
    assert shown[1] == sum(by_line.values())
    loop = next(row for row in shown[5] if row[1] and "mix(60 + i)" in row[1])
    assert [sorted(branch[:2]) for branch in loop[4]] == [[1, MIX - 1]], loop
    assert "taken 49, not 1" in page.run("document.getElementById('source-table').textContent")
    page.run(f"ntraceReport.openSource({json.dumps(shown[0])}, {loop[0]}, true)")
    assert page.run("document.querySelector('#source-table tr.here td.n').textContent") == str(loop[0])


def timeline_zooms(b, page):
    show(b, page)
    timeline = data(page, "timeline")
    slices = [s for track in timeline["tracks"] for s in track["slices"]]
    names = [timeline["names"][s[2] - 1] for s in slices if isinstance(s[2], int)]
    assert timeline["length"] == b.instructions and not timeline["timed"]
    assert timeline["shortest"] or (names.count("fib") == FIB and names.count("mix") == MIX)
    assert sum(s[1] for s in slices if timeline["names"][s[2] - 1] == "main") == b.profile["main"]["total"]
    page.run("document.getElementById('time-canvas').focus()")
    press(page, "+")
    assert page.run("ntraceReport.view.span") == b.instructions / 2
    press(page, "ArrowLeft")
    assert page.run("ntraceReport.view.from") < b.instructions / 4
    press(page, "Home")
    assert page.run("ntraceReport.view.span") == b.instructions
    drawn = page.run("(() => { const c = document.getElementById('time-canvas');"
                     "return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v); })()")
    assert drawn


def damaged(b):
    """The stream with a gap, beside the program."""
    with open(os.path.join(b.folder, "work.ntrace", "trace.nex"), "rb") as file:
        stream = file.read()
    third = len(stream) // 3
    with open(os.path.join(b.folder, "hole.nex"), "wb") as file:
        file.write(hole(stream, third, third + 2000))
    options = stream_options(os.path.join(b.folder, "work.ntrace"))
    done = subprocess.run([b.ntrace, "report", "-o", "hole.html", *options, "-e", "work", "hole.nex"], cwd=b.folder, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "gap" in done.stderr, done


def gaps_come_first(b, page):
    damaged(b)
    show(b, page, "hole.html")
    gaps = data(page, "gaps")
    assert gaps["count"] >= 1 and gaps["bytes"] > 0 and len(gaps["rows"]) == gaps["count"]
    assert page.run("document.getElementById('gaps-badge').textContent") == str(gaps["count"])
    assert f"{gaps['count']} gap" in page.run("document.getElementById('gaps-body').textContent")
    assert data(page, "summary.lines")[2] > 0  # code that was not seen is unknown, not "not executed"
    assert page.run("document.querySelectorAll('#source-table tr.unknown').length") > 0
    assert page.run("document.querySelectorAll('#source-table tr.zero').length") == 0


def names_stay_names(b, page):
    """A name that looks like HTML is shown as text."""
    evil = "</script><img src=x onerror=document.title='gone'>{{data}}"
    evil_file = evil.replace("/", "-") + ".ntrace"
    os.symlink("work.ntrace", os.path.join(b.folder, evil_file))
    with open(os.path.join(b.folder, "evil.s"), "w", encoding="utf-8") as file:
        file.write('.globl _start\n_start: jal "</script><!--<script>"\nli a7, 93\nli a0, 0\necall\n'
                   '.type "</script><!--<script>", @function\n"</script><!--<script>": ret\n'
                   '.size "</script><!--<script>", . - "</script><!--<script>"\n')
    b.run("riscv64-linux-gnu-gcc", "-nostdlib", "-static", "evil.s", "-o", "evil")
    b.run(b.ntrace, "run", "-o", "evil.ntrace", "--", "./evil")
    b.run(b.ntrace, "report", "-o", "evil.html", "evil.ntrace")
    show(b, page, "evil.html")
    assert "</script><!--<script>" in [row[0] for row in data(page, "functions.rows")]
    b.run(b.ntrace, "report", "-o", "evil2.html", evil_file)
    show(b, page, "evil2.html")
    assert page.run("document.querySelector('h1').textContent") == evil_file
    assert page.run("document.images.length") == 0


def traps_equal_summary(b, page):
    """Handlers of signals have the values of `ntrace timeline --to json`."""
    b.run("riscv64-linux-gnu-gcc", "-O1", "-g", "-static", os.path.join(PROGRAMS, "signals.c"), "-o", "signals")
    b.run(b.ntrace, "run", "--timestamps", "-o", "signals.ntrace", "--", "./signals")
    b.run(b.ntrace, "report", "-o", "signals.html", "signals.ntrace")
    show(b, page, "signals.html")
    shown = data(page, "traps.rows")
    expected_rows = json.loads(b.run(b.ntrace, "timeline", "--to", "json", "signals.ntrace"))["handlers"]
    assert len(shown) == len(expected_rows) > 0
    for row, other in zip(shown, expected_rows):
        assert (row["name"], row["kind"], row["count"]) == (other["handler"], other["kind"], other["count"]), (row, other)
        for what in ("instructions", "ticks", "before", "after"):
            spread = other[what]
            assert row[what][2:6] == [spread["min"], spread["median"], spread["p99"], spread["max"]], (what, row, other)
            assert sum(row[what][6]) == row[what][0]
    assert page.run("document.querySelectorAll('#traps-body svg.spread').length") == 4 * len(shown)


def everyone_can_use_it(b, page):
    """Each control has a name, tables have heads, and landmarks name the parts; the tab key reaches every section."""
    show(b, page)
    page.ask("Accessibility.enable")
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    roles = {}
    for node in nodes:
        if node.get("ignored"):
            continue
        role = node.get("role", {}).get("value")
        roles.setdefault(role, []).append(node.get("name", {}).get("value", ""))
    for role in ("button", "link", "searchbox", "combobox", "table", "region", "image"):
        assert role == "table" or all(roles.get(role, [""])), (role, roles.get(role))
    for role in ("main", "navigation", "banner", "contentinfo", "heading", "columnheader", "status"):
        assert roles.get(role), role
    assert page.run("document.querySelectorAll('[tabindex=\"0\"].frame').length") == 1
    assert page.run("Array.from(document.querySelectorAll('nav a')).every(a => document.querySelector(a.getAttribute('href') + ' h2'))")


def prints_list(b, _page):
    assert b.run(b.ntrace, "report", "--to", "list").split()[0] == "html"


FUNCTIONS = [loads, functions_equal_profile, functions_sort_and_search, function_shows_calls,
         stripped_code_has_its_image, fits_a_phone, flame_in_report, flame_shows_its_root, flame_svg, source_equals_coverage,
         timeline_zooms, gaps_come_first, names_stay_names, traps_equal_summary,
         everyone_can_use_it, prints_list]


@functools.cache
def bench_and_page():
    if not Browser.command():
        need("chromium")
    bench, page = Bench(NTRACE, scratch()), OPEN.enter_context(Browser())
    bench.run(NTRACE, "report", "-o", REPORT, "work.ntrace")
    return bench, page


if __name__ == "__main__":
    with contextlib.ExitStack() as OPEN:
        for each in FUNCTIONS:
            harness.case(each.__name__)(functools.wraps(each)(lambda each=each: each(*bench_and_page())))
        harness.main("riscv64-linux-gnu-gcc", "qemu-riscv64")
