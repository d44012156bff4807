"""Traces: every number is that of the command `ntrace`."""
import gc
import os
import subprocess
import sys
import threading

import conftest
import ntrace
import pytest
from ntrace import answers


def test_count(trace, recorded):
    rows = dict(line.split() for line in recorded.command("decode", "--show", "count").splitlines())
    assert {name: int(value) for name, value in rows.items()} == {name: getattr(trace.count(recorded.src), name) for name in rows}


def test_pcs(trace, recorded):
    numpy = pytest.importorskip("numpy", reason="numpy")
    expected = recorded.command("decode", "--show", "pc").split()
    found = numpy.concatenate(list(trace.pcs(recorded.src)))
    assert len(found) == len(expected)
    assert [hex(pc) for pc in found.tolist()] == expected


def test_events(gawk):
    trace = ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params)
    events = list(trace.events())
    assert [event.json() for event in events] == gawk.command("decode", "--show", "event", "--format", "jsonl").splitlines()
    spans = [event for event in events if event.kind == "span"]
    assert sum(event.instructions for event in spans) == trace.count().instructions
    assert events[0].kind == "sync" and events[0].target is None and "sync" in repr(events[0])


def test_event_arrays(trace):
    pytest.importorskip("numpy", reason="numpy")
    spans = instructions = 0
    for events in trace.event_arrays(size=5000):
        here = events[events["kind"] == ntrace.events.SPAN]
        spans, instructions = spans + len(here), instructions + int(here["instructions"].sum())
    assert (spans, instructions) == (trace.count().spans, trace.count().instructions)
    assert sum(len(part) for part in trace.span_arrays()) == spans


def test_arrays_are_views_only_when_asked(gawk):
    numpy = pytest.importorskip("numpy", reason="numpy")
    trace = ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params)
    kept = list(trace.event_arrays(size=1000))
    again = [part.copy() for part in trace.event_arrays(size=1000, copy=False)]
    assert (numpy.concatenate(kept) == numpy.concatenate(again)).all()


def test_arrays_are_the_memory_of_the_library(gawk):
    numpy = pytest.importorskip("numpy", reason="numpy")
    trace = ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params)
    *full, rest = trace.event_arrays(size=1000)
    blocks = [part for part in full if len(part) == 1000]
    assert len(blocks) > 100 and all(part.base.nbytes == part.nbytes for part in blocks)  # no copies
    assert not any(numpy.shares_memory(a, b) for a, b in zip(blocks, blocks[1:]))
    *_, short = trace.event_arrays(size=1 << 20)
    assert short.base.nbytes == short.nbytes  # few events do not keep a large block
    assert (short[-len(rest):] == rest).all()
    mixed = next(trace.span_arrays(size=1000))
    assert (mixed["kind"] == ntrace.events.SPAN).all() and len(mixed) < 1000
    first = next(trace.event_arrays(size=1000))
    assert (first[first["kind"] == ntrace.events.SPAN] == mixed).all()


@pytest.mark.parametrize("by", ["function", "instruction", "image"])
def test_profile(trace, recorded, by):
    rows = trace.profile(by, recorded.src, frame=False)
    assert sum(row["self"] for row in rows) == trace.count(recorded.src).instructions
    expected = recorded.rows("profile", "--by", by, "--top", "1000000")
    assert sorted(row["self"] for row in rows) == sorted(row["self"] for row in expected)


@pytest.mark.parametrize("by", ["function", "line", "instruction", "image"])
def test_profile_by_threads(trace, recorded, by):
    """Several threads give the answer of one, which test_profile compares with the command's."""
    def key(row):
        return str(sorted(row.items(), key=str))
    one = trace.profile(by, recorded.src, frame=False)
    assert len(one) > (0 if by == "image" else 3)
    for threads in 2, 3, 0:
        assert sorted(trace.profile(by, recorded.src, frame=False, threads=threads), key=key) == sorted(one, key=key)


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_of_an_analysis(gawk, threads):
    trace, told = ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params), []
    trace.profile(threads=threads, progress=told.append)
    assert told == sorted(set(told)) and told[-1] == trace.count().bytes
    with pytest.raises(ZeroDivisionError):
        trace.coverage(threads=threads, progress=lambda size: 1 // 0)



def test_profile_refuses_unknown(gawk):
    with pytest.raises(ValueError, match="expected one of function, line"):
        ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params).profile("colour")


def test_exports(gawk, tmp_path):
    trace = ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params)
    for family, name in ("flame", "folded"), ("coverage", "lcov"):
        trace.export(family, name, tmp_path / name)
        assert (tmp_path / name).read_text() == gawk.command(family, "--to", name)
    with pytest.raises(ValueError, match="folded"):
        trace.export("flame", "nothing", tmp_path / "x")
    with pytest.raises(OSError):
        trace.export("flame", "folded", tmp_path / "missing" / "x")
    assert "perfetto" in ntrace.formats("timeline")


def test_timeline(gawk):
    rows = ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params).timeline(frame=False)
    assert rows and all(row["begin"] <= row["end"] for row in rows)
    assert {row["kind"] for row in rows} <= {"function", "trap", "context", "gap"}


def test_tables_are_data_frames(gawk):
    pandas = pytest.importorskip("pandas", reason="pandas")
    trace = ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params)
    assert isinstance(trace.profile(), pandas.DataFrame)
    assert isinstance(trace.coverage().lines, pandas.DataFrame)


def test_columns_have_their_types(gawk):
    pandas = pytest.importorskip("pandas", reason="pandas")
    trace = ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params)
    lines = trace.coverage().lines
    for frame, columns in (trace.profile(), answers.PROFILE), (lines, answers.LINES), (lines.iloc[:0], answers.LINES), (trace.timeline(), answers.TIMELINE):
        assert {name: str(kind) for name, kind in frame.dtypes.items()} == columns
    rows = trace.profile(frame=False)
    assert [None if pandas.isna(value) else int(value) for value in trace.profile()["address"]] == [row["address"] for row in rows]
    largest = answers.column(pandas, [2**64 - 1, None], "UInt64")
    assert int(largest[0]) == 2**64 - 1 and pandas.isna(largest[1])


def test_documented_types():
    text = open(os.path.join(conftest.ROOT, "python", "README.md"), encoding="utf-8").read()
    for columns in answers.PROFILE, answers.LINES, answers.BRANCHES, answers.FUNCTIONS, answers.TIMELINE:
        for name, kind in columns.items():
            assert f"`{name}` {kind}" in text, f"python/README.md: {name} {kind}"


def test_pages(gawk):
    trace = ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params)
    rows = trace.profile(frame=False)
    assert f"<td>{rows[0]['self']:,}</td>" in rows._repr_html_()
    hostile = answers.Table([{"name": "<script>x</script>", "n": None}], {"name": "string", "n": "UInt64"})._repr_html_()
    assert "&lt;script&gt;" in hostile and "<script" not in hostile and "<td></td>" in hostile
    picture = trace.flame()
    assert picture == gawk.command("flame") and picture._repr_html_().startswith("<img ")
    assert gawk.params["src_bits"] in trace._repr_html_()


def test_coverage_page():
    """Counted by hand: three lines of a file, one executed, one not known; a branch with one outcome; one of two functions."""
    lines = [{"file": "compress.c", "line": n, "count": count, "known": known, "branches": 0} for n, count, known in ((1, 7, True), (2, 0, True), (3, 0, False))]
    branches = [{"file": "compress.c", "line": 2, "address": 16, "taken": 3, "not_taken": 0}]
    functions = [{"name": name, "file": "compress.c", "line": 1, "count": count, "known": True} for name, count in (("f", 1), ("g", 0))]
    page = answers.Coverage(lines, branches, functions, 2)._repr_html_()
    assert "<tr><td>compress.c</td><td>1/2 (50.0 %)</td><td>1/2 (50.0 %)</td><td>1/2 (50.0 %)</td><td>1</td></tr>" in page
    assert "2 gaps hide executions" in page
    assert "no debug information" in answers.Coverage([], [], [], 0)._repr_html_()


def test_notebook(gawk, tmp_path):
    """The notebook of the examples runs, and each cell shows what it should."""
    nbclient = pytest.importorskip("nbclient", reason="python-notebook")
    pytest.importorskip("ipykernel", reason="python-notebook")
    import nbformat
    book = nbformat.read(os.path.join(conftest.ROOT, "python", "examples", "notebook.ipynb"), as_version=4)
    options = "".join(f", {name}={value!r}" for name, value in gawk.params.items())
    first = next(cell for cell in book.cells if "ntrace.open(" in cell.source)
    first.source = f"import ntrace\ntrace = ntrace.open({gawk.stream!r}, elf={gawk.elf!r}{options})\ntrace"
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [cell.outputs[-1]["data"].get("text/html", "") for cell in book.cells if cell.cell_type == "code"]
    assert len(shown) == 4 and all(shown)
    assert "data:image/svg+xml;base64," in shown[3] and "<table" in shown[1] and "no debug information" in shown[2]


def test_module_runs_the_command(gawk):
    environment = dict(os.environ, PATH=os.path.dirname(os.environ["NTRACE"]) + ":" + os.environ["PATH"])
    said = subprocess.run([sys.executable, "-m", "ntrace", "--version"], stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout
    assert said == f"ntrace {ntrace.__version__}\n"
    done = subprocess.run([sys.executable, "-m", "ntrace"], stderr=subprocess.PIPE, text=True, env=dict(os.environ, PATH="/nowhere"), check=False)
    assert done.returncode == 1 and "neither in this package nor in PATH" in done.stderr


def test_arrow(gawk, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow")
    trace = ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params)
    trace.to_parquet(tmp_path / "x.parquet")
    assert trace.to_arrow().num_rows == pyarrow.parquet.read_table(tmp_path / "x.parquet").num_rows


def test_coverage_has_the_gaps(gawk, tmp_path):
    damaged = tmp_path / "damaged.nex"
    stream = bytearray(subprocess.run(["zstd", "-dqc", gawk.stream], stdout=subprocess.PIPE, check=True).stdout)
    stream[len(stream) // 2:len(stream) // 2 + 40] = b"\x02" * 40
    damaged.write_bytes(stream)
    trace = ntrace.open(damaged, elf=gawk.elf, **gawk.params)
    assert trace.count().gaps > 0
    assert trace.coverage().gaps == trace.count().gaps == len([event for event in trace.events() if event.kind == "gap"])
    with pytest.raises(ntrace.Error, match="byte"):
        list(trace.events(strict=True))


def test_inference(gawk):
    trace = ntrace.open(gawk.stream, elf=gawk.elf)
    assert trace.inferred["src_bits"][0] == gawk.params["src_bits"]
    assert trace.count().gaps == 0


def test_errors(tmp_path, gawk):
    with pytest.raises(FileNotFoundError):
        ntrace.open(tmp_path / "nothing.nex")
    with pytest.raises(ntrace.Error, match="not ELF|ELF") as error:
        ntrace.open(gawk.stream, elf=__file__)
    assert error.value.status == "NTR_E_FORMAT"
    with pytest.raises(ntrace.Error, match="src-bits=99"):
        ntrace.open(gawk.stream, elf=gawk.elf, src_bits=99)
    with pytest.raises(ntrace.Error, match="no-such"):
        ntrace.open(gawk.stream, elf=gawk.elf, no_such=1)
    cut = tmp_path / "cut.nex.zst"
    with open(gawk.stream, "rb") as file:
        cut.write_bytes(file.read()[:2000])
    with pytest.raises(ntrace.Error) as error:
        ntrace.open(cut, elf=gawk.elf, **gawk.params).count()
    assert error.value.status == "NTR_E_DECOMPRESS"


def test_bundle(gawk, tmp_path):
    bundle = tmp_path / "x.ntrace"
    (bundle / "images").mkdir(parents=True)
    with open(gawk.elf, "rb") as file:
        (bundle / "images" / "gawk").write_bytes(file.read())
    stream = subprocess.run(["zstd", "-dqc", gawk.stream], stdout=subprocess.PIPE, check=True).stdout
    (bundle / "trace.nex").write_bytes(stream)
    params = ('"src_bits":8,"implicit_return":"full","return_stack":32,"sequential_jump":true,"extend_addr":true,"xlen":64')
    (bundle / "capture.json").write_text(
        '{"format":"ntrace-bundle","version":1,"stream":"trace.nex","params":{%s},"command":["gawk","x"],'
        '"sources":[{"src":0,"hart":0}],"images":[{"file":"images/gawk","kind":"elf"}],'
        '"losses":[{"position":0,"what":"nothing much"}]}' % params)
    trace = ntrace.open(bundle)
    assert trace.count().instructions == ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params).count().instructions
    assert trace.command == ["gawk", "x"] and trace.losses == ["nothing much"] and trace.params["src_bits"] == "8"
    assert len(trace.images) == 1


def test_no_leak(gawk):
    def size():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def use():
        trace = ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params)
        next(iter(trace.events()))
        with pytest.raises(ntrace.Error):
            ntrace.open(gawk.stream, elf=__file__)

    for _ in range(50):
        use()
    gc.collect()
    before = size()
    for _ in range(1000):
        use()
    gc.collect()
    assert size() - before < 8 << 20


def test_threads_run_at_the_same_time(gawk):
    results = []

    def work():
        results.append(ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params).count().instructions)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1 and len(results) == 8


@pytest.mark.parametrize("module", ["numpy", "pandas"])
def test_works_without(module, gawk):
    script = f"""
import sys
sys.modules[{module!r}] = None
import ntrace
trace = ntrace.open({gawk.stream!r}, elf={gawk.elf!r}, **{gawk.params!r})
assert isinstance(trace.profile(), list) and trace.count().instructions and next(trace.events()).kind == "sync"
assert trace.coverage().gaps == 0
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_corpus():
    numpy = pytest.importorskip("numpy", reason="numpy")
    place = os.path.join(conftest.CORPUS, "median")
    if not os.path.exists(place):
        pytest.skip("corpus")
    trace = ntrace.open(os.path.join(place, "htm.nex.zst"), elf=os.path.join(place, "program.elf"))
    truth = subprocess.run(["zstd", "-dqc", os.path.join(place, "pc.txt.zst")], stdout=subprocess.PIPE, check=True, text=True).stdout.split()
    found = [hex(pc) for pc in numpy.concatenate(list(trace.pcs())).tolist()]
    assert found == [hex(int(pc, 16)) for pc in truth][:len(found)] and len(truth) - len(found) in (0, 1)


def test_walkthrough(gawk):
    example = os.path.join(conftest.ROOT, "python", "examples", "walkthrough.py")
    options = [f"{name}={value}" for name, value in gawk.params.items()]
    done = subprocess.run([sys.executable, example, gawk.stream, gawk.elf, *options], stdout=subprocess.PIPE, text=True, check=True)
    assert f"{ntrace.open(gawk.stream, elf=gawk.elf, **gawk.params).count().instructions:,} instructions" in done.stdout


def test_walkthrough_without_arguments():
    example = os.path.join(conftest.ROOT, "python", "examples", "walkthrough.py")
    done = subprocess.run([sys.executable, example], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("A walk through a trace: python3 walkthrough.py TRACE [ELF] [PARAMETER=VALUE]...\n")
    assert "ntrace run -o demo.ntrace -- ./program" in done.stderr and "Traceback" not in done.stderr


def spinning(folder, messages, code=b"\x6f\x00\x00\x00"):
    """A stream of a program that jumps to itself, 2,097,151 times in each message; and what ntrace.open needs for it."""
    stream, image = folder / "spin.nex", folder / f"spin{messages}.bin"
    image.write_bytes(code)
    text = "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x800\n" + "ResourceFull RCODE=0 RDATA0=0x3ffffe\n" * messages
    subprocess.run([os.environ["NTRACE"], "assemble", "-", "-o", stream], input=text, text=True, check=True)
    return stream, {"raw": [(str(image), 0x1000)], "src_bits": 0}


def test_loops_cost_their_messages(tmp_path):
    """4e11 instructions, which no walk over each could count here."""
    messages = 200000
    stream, options = spinning(tmp_path, messages)
    trace, expected = ntrace.open(stream, **options), 2097151 * messages - 1  # the jump of the last one would be in the next message
    assert trace.count().instructions == expected
    for by in ("function", "instruction"):
        assert sum(row["self"] for row in trace.profile(by=by, frame=False)) == expected
    assert trace.coverage().gaps == 0
    slices = [row for row in trace.timeline(frame=False) if row["kind"] == "function"]
    assert (slices[0]["begin"], slices[-1]["end"]) == (0, expected)
    trace.export("timeline", "json", tmp_path / "timeline.json")
    trace.export("flame", "folded", tmp_path / "folded")
    assert sum(int(line.split()[-1]) for line in (tmp_path / "folded").read_text().splitlines()) == expected


INTERRUPTED = """
import os, signal, sys, threading, time
import ntrace
trace = ntrace.open(sys.argv[1], raw=[(sys.argv[2], 0x1000)], src_bits=0)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    exec(compile(sys.argv[3], 'work', 'exec'))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("work", ["trace.profile()", "trace.profile(threads=2)", "trace.timeline()", "for event in trace.events(): pass",
                                  "trace.export('flame', 'folded', os.devnull)"])
def test_interrupt(tmp_path, work):
    """Ctrl-C raises KeyboardInterrupt, also inside of the library: the function calls itself, so that no loop can be multiplied."""
    stream, options = spinning(tmp_path, 4000, b"\xef\x00\x00\x00")
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, str(stream), options["raw"][0][0], work], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr


def test_hostile_files(gawk, tmp_path):
    """Damage is a warning, never an answer without a word; a bundle opens no file outside of its folder, and no FIFO."""
    with open(gawk.elf, "rb") as file:
        elf = bytearray(file.read())
    elf[40:48] = (1 << 40).to_bytes(8, "little")  # section headers are not in the file
    hurt = tmp_path / "hurt.elf"
    hurt.write_bytes(elf)
    with pytest.warns(ntrace.DamageWarning, match="hurt.elf: .*names are missing"):
        trace = ntrace.open(gawk.stream, elf=hurt, **gawk.params)
    assert trace.count().instructions > 1000
    hurt.write_bytes(elf[:100])
    with pytest.raises(ntrace.Error):
        ntrace.open(gawk.stream, elf=hurt, **gawk.params)
    for name, capture, words in (
        ("brackets", "[" * 100000, "nest|depth|capture.json"), ("outside", '{"format":"ntrace-bundle","version":1,"stream":"../stream","params":{}}', "stream"),
        ("link", '{"format":"ntrace-bundle","version":1,"stream":"link","params":{}}', "link"),
        ("fifo", '{"format":"ntrace-bundle","version":1,"stream":"fifo","params":{}}', "fifo"),
        ("image", '{"format":"ntrace-bundle","version":1,"stream":"s","params":{},"images":[{"kind":"elf","file":"fifo"}]}', "fifo")):
        bundle = tmp_path / (name + ".ntrace")
        bundle.mkdir()
        (tmp_path / "stream").write_bytes(b"\x24\x0d\x00\x0b")
        (bundle / "s").write_bytes(b"\x24\x0d\x00\x0b")
        (bundle / "link").symlink_to("../stream")
        os.mkfifo(bundle / "fifo")
        (bundle / "capture.json").write_text(capture)
        with pytest.raises(ntrace.Error, match=words):
            ntrace.open(bundle).count()
