"""The answers of a trace: profile, coverage, timeline, and every file format of the exporters."""
from __future__ import annotations

import builtins
import io
import os
from typing import Any, Callable, Iterator

from . import _core, pages
from ._core import check, config, ffi, lib, made, path_bytes, text
from .events import dtype_of, whole

CHUNK = 1 << 14

PROFILES = {"function": lib.NTR_PROFILE_FUNCTION, "line": lib.NTR_PROFILE_LINE, "instruction": lib.NTR_PROFILE_INSTRUCTION,
            "hart": lib.NTR_PROFILE_HART, "context": lib.NTR_PROFILE_CONTEXT, "image": lib.NTR_PROFILE_IMAGE}
BY_TREE = ("function", "image")

SLICES = {lib.NTR_SLICE_FUNCTION: "function", lib.NTR_SLICE_TRAP: "trap", lib.NTR_SLICE_CONTEXT: "context", lib.NTR_SLICE_GAP: "gap"}


# The columns of tables, and their types as pandas names them. Types with a capital letter can hold <NA>.
PROFILE = {"name": "string", "image": "string", "file": "string", "line": "UInt32", "address": "UInt64", "src": "UInt16", "scontext": "UInt64",
           "self": "UInt64", "total": "UInt64", "calls": "UInt64", "self_ticks": "UInt64", "total_ticks": "UInt64"}
LINES = {"file": "string", "line": "UInt32", "count": "UInt64", "known": "boolean", "branches": "UInt64"}
BRANCHES = {"file": "string", "line": "UInt32", "address": "UInt64", "taken": "UInt64", "not_taken": "UInt64"}
FUNCTIONS = {"name": "string", "file": "string", "line": "UInt32", "count": "UInt64", "known": "boolean"}
TIMELINE = {"src": "UInt16", "kind": "string", "name": "string", "begin": "UInt64", "end": "UInt64", "value": "UInt64", "scontext": "UInt64"}


class Table(list):
    """The rows of a table as a list of dicts, where pandas is not used. Notebooks show it as a table."""

    def __init__(self, rows: list[dict], columns: dict[str, str]):
        super().__init__(rows)
        self.columns = list(columns)

    def _repr_html_(self) -> str:
        return pages.table(self.columns, self)


def table(rows: list[dict], columns: dict[str, str], frame: bool | None):
    """A pandas data frame if pandas is installed (frame=None) or wanted (True), else the list of dicts."""
    if frame is False:
        return Table(rows, columns)
    try:
        import pandas
    except ImportError:
        if frame:
            raise
        return Table(rows, columns)
    return pandas.DataFrame({name: column(pandas, [row[name] for row in rows], kind) for name, kind in columns.items()})


def column(pandas, values: list, kind: str):
    """Addresses have 64 bits: pandas itself would take them through floating point where one is missing."""
    if not kind.startswith("UInt"):
        return pandas.array(values, dtype=kind)
    import numpy
    numbers = numpy.array([0 if value is None else value for value in values], dtype=kind.lower())
    return pandas.arrays.IntegerArray(numbers, numpy.array([value is None for value in values], dtype=bool))


class Flame(str):
    """A flame graph as SVG, the text of `ntrace flame`. Notebooks show it as a picture."""

    def _repr_html_(self) -> str:
        return pages.picture(self)


class Coverage:
    """Executed lines, branches and functions, each a table; `gaps` hide executions when they are not 0."""

    def __init__(self, lines, branches, functions, gaps):
        self.lines, self.branches, self.functions, self.gaps = lines, branches, functions, gaps

    def __repr__(self) -> str:
        return f"<ntrace.Coverage {len(self.lines)} lines, {len(self.functions)} functions, {self.gaps} gaps>"

    def _repr_html_(self) -> str:
        return pages.coverage(self.lines, self.branches, self.functions, self.gaps)


class _Output(_core.Carrier):
    """The file that an exporter writes."""

    def __init__(self, file):
        self.file = file
        self.handle = ffi.new_handle(self)

    def take(self, data: bytes) -> None:
        self.file.write(data)


class _Analysis:
    """The consumers of one pass over the events."""

    def __init__(self, trace, tally: bool = False, tree: bool = False):
        self.trace, self.program = trace, trace._program
        self.debug = made("ntr_debug_info", self.program, ffi.NULL)
        self.functions = made("ntr_functions", self.debug, ffi.NULL)
        self.tally = made("ntr_tally", self.program, ffi.NULL) if tally else ffi.NULL
        self.tree = made("ntr_calltree", self.functions, ffi.NULL) if tree else ffi.NULL
        index, found = 0, ffi.new("bool *")
        while check(lib.ntr_debug_symbols_add(self.program, index, ffi.NULL, ffi.NULL, found)) == _core.OK:
            index += 1

    def read(self, src: int | None = None, repeats: bool = True) -> Iterator[tuple]:
        """Decodes; yields (events, count) behind the tally and the tree. repeats: spans of loops are counted, not listed."""
        room = ffi.new("ntr_event[]", CHUNK)
        for count in self.trace._chunks(lambda: room, CHUNK, src, repeats=repeats, functions=self.functions):
            if self.tally:
                check(lib.ntr_tally_feed(self.tally, room, count))
            if self.tree:
                check(lib.ntr_calltree_feed(self.tree, room, count))
            yield room, count
        if self.tree:
            lib.ntr_calltree_finish(self.tree)

    def run(self, src: int | None = None, threads: int = 1, progress: Callable[[int], Any] | None = None) -> "_Analysis":
        """Fills the tally and the tree, by the library's analyzer; threads=0: as many as there are processors."""
        stream, data = self.trace._stream(), config("ntr_analysis")
        data.program, data.debug, data.functions = self.program, self.debug, self.functions
        data.tally, data.tree = self.tally, self.tree
        decoder, options = self.trace._decoder_config(stream, src), config("ntr_analyzer_config")
        options.decoder, options.analysis = decoder, data
        options.alone = self.trace._params.src_bits == 0
        with stream.told(options, progress):
            analyzer = made("ntr_analyzer", options, what=self.trace.path)
            status = stream.watched(lambda: lib.ntr_analyzer_run(analyzer, threads)) if threads != 1 else lib.ntr_analyzer_run(analyzer, 1)
        stream.raise_failure()
        check(status, lib.ntr_stream_reader_error(stream.reader), stream.name)
        if self.tree:
            lib.ntr_calltree_finish(self.tree)
        return self

    def warn(self) -> None:
        """Says what the answer lacks."""
        lib.ntr_program_check_files(self.program)
        self.trace._warn(lib.ntr_program_damage, self.program)
        self.trace._warn(lib.ntr_debug_info_damage, self.debug)

    def coverage(self):
        coverage = made("ntr_coverage", ffi.NULL)
        check(lib.ntr_coverage_add(coverage, self.program, self.debug, self.tally))
        return coverage

    def function(self, number: int) -> str | None:
        found = lib.ntr_functions_get(self.functions, number)
        return text(found.name) if found else None


def _rows(function, coverage, row) -> list[dict]:
    count = ffi.new("size_t *")
    items = function(coverage, count)
    return [row(items[n]) for n in range(count[0])]


class Answers:
    """What a Trace can answer. Tables are pandas data frames where pandas is installed, else lists of dicts; frame=False
    always gives lists."""

    def profile(self, by: str = "function", src: int | None = None, frame: bool | None = None, threads: int = 1,
                progress: Callable[[int], Any] | None = None) -> Any:
        """Instructions by function, line, instruction, hart, context or image, as `ntrace profile --by`. threads=0: as many as
        there are processors; the answer is the same. progress: called with the number of bytes of the stream that were read,
        each time they are more, by any thread; an exception in it ends the work."""
        if by not in PROFILES:
            raise ValueError(f"profile by {by!r}: expected one of {', '.join(PROFILES)}")
        analysis = _Analysis(self, tally=by not in BY_TREE, tree=by in BY_TREE).run(src, threads, progress)
        profile = ffi.new("ntr_profile *")
        check(lib.ntr_profile_make(profile, PROFILES[by], self._program, analysis.debug, analysis.functions, analysis.tree,
                                   analysis.tally, ffi.NULL))
        try:
            rows = [{"name": text(r.name), "image": text(r.image), "file": text(r.file), "line": r.line or None,
                     "address": r.address, "src": r.src,
                     "scontext": r.context.scontext if r.context.has_scontext else None, "self": r.self, "total": r.total,
                     "calls": r.calls, "self_ticks": r.self_ticks, "total_ticks": r.total_ticks}
                    for r in (profile.rows[n] for n in range(profile.count))]
        finally:
            lib.ntr_profile_release(profile)
        analysis.warn()
        return table(rows, PROFILE, frame)

    def coverage(self, src: int | None = None, frame: bool | None = None, threads: int = 1,
                 progress: Callable[[int], Any] | None = None) -> Coverage:
        """Execution counts of lines, branches and functions, as `ntrace coverage`. threads, progress: as for profile."""
        analysis = _Analysis(self, tally=True).run(src, threads, progress)
        coverage = analysis.coverage()
        lines = _rows(lib.ntr_coverage_lines, coverage, lambda r: {
            "file": text(r.file), "line": r.line, "count": r.count, "known": r.known, "branches": r.branches})
        branches = _rows(lib.ntr_coverage_branches, coverage, lambda r: {
            "file": text(r.file), "line": r.line, "address": r.address, "taken": r.taken, "not_taken": r.not_taken})
        functions = _rows(lib.ntr_coverage_functions, coverage, lambda r: {
            "name": text(r.name), "file": text(r.file), "line": r.line, "count": r.count, "known": r.known})
        analysis.warn()
        return Coverage(table(lines, LINES, frame), table(branches, BRANCHES, frame), table(functions, FUNCTIONS, frame),
                        lib.ntr_coverage_gaps(coverage))

    def timeline(self, most: int = 0, src: int | None = None, frame: bool | None = None) -> Any:
        """What each hart executed from when to when: functions, traps, contexts, gaps. Times are timestamp ticks, or
        instructions of the hart in a trace without timestamps. most: the largest number of rows (0: 200,000)."""
        analysis = _Analysis(self)
        line = made("ntr_timeline", analysis.functions, most, ffi.NULL)
        for events, count in analysis.read(src):
            check(lib.ntr_timeline_feed(line, events, count))
        check(lib.ntr_timeline_finish(line))
        count = ffi.new("size_t *")
        slices = lib.ntr_timeline_slices(line, count)
        names: dict[int, str | None] = {}

        def row(s):
            named = s.kind in (lib.NTR_SLICE_FUNCTION, lib.NTR_SLICE_TRAP)
            if named and s.value not in names:
                names[s.value] = analysis.function(s.value)
            return {"src": s.src, "kind": SLICES.get(s.kind), "name": names[s.value] if named else None,
                    "begin": s.begin, "end": s.end, "value": s.value, "scontext": s.context}

        rows = [row(slices[n]) for n in range(count[0])]
        analysis.warn()
        return table(rows, TIMELINE, frame)

    def flame(self) -> Flame:
        """The flame graph of the call stacks, as `ntrace flame`: an SVG text, which notebooks show."""
        file = io.BytesIO()
        self._export("flame", "svg", file, "flame.svg")
        return Flame(file.getvalue().decode())

    def export(self, family: str, name: str, path: Any) -> None:
        """Writes a file as the command of that name does: export("flame", "svg", "flame.svg"), export("coverage", "lcov",
        ...), export("timeline", "perfetto", ...), export("export", "callgrind", ...)."""
        exporter = self._exporter(family, name)
        names_path = bool(lib.ntr_exporter_needs(exporter) & lib.NTR_NEEDS_FILE)
        with builtins.open(os.devnull if names_path else path, "wb") as file:
            self._export(family, name, file, path)

    @staticmethod
    def _exporter(family: str, name: str):
        exporter = lib.ntr_exporter_find(family.encode(), name.encode())
        if not exporter:
            raise ValueError(f"no format {name!r} of {family!r}: {', '.join(formats(family)) or 'no such family'}")
        return exporter

    def _export(self, family: str, name: str, file, path) -> None:
        exporter = self._exporter(family, name)
        needs = lib.ntr_exporter_needs(exporter)
        covers = bool(needs & lib.NTR_NEEDS_COVERAGE)
        analysis = _Analysis(self, tally=covers or bool(needs & lib.NTR_NEEDS_TALLY), tree=bool(needs & lib.NTR_NEEDS_TREE))
        title = ffi.new("char[]", os.path.basename(self.path.rstrip("/")).encode())
        keep = [title]
        data = config("ntr_analysis")
        data.program, data.debug, data.functions = analysis.program, analysis.debug, analysis.functions
        data.tally, data.tree, data.title = analysis.tally, analysis.tree, title
        data.ticks_per_second = self.ticks_per_second or 0
        streams, calls = bool(needs & lib.NTR_NEEDS_EVENTS), bool(needs & lib.NTR_NEEDS_CALLS)
        if not streams:
            analysis.run()
        if covers:
            keep.append(analysis.coverage())
            data.coverage = keep[-1]
        self._write(exporter, data, analysis, file, path, analysis.read(repeats=calls) if streams else ())
        analysis.warn()

    def _write(self, exporter, data, analysis, file, path, parts) -> None:
        carrier, output = _Output(file), config("ntr_output")
        name = ffi.new("char[]", path_bytes(path))
        output.write, output.user, output.path = lib.ntrace_take_output, carrier.handle, name
        export = made("ntr_export", exporter, data, output, what=os.fspath(path))
        carrier.raise_failure()
        for events, count in parts:
            result = lib.ntr_export_feed(export, events, count)
            carrier.raise_failure()
            check(result, lib.ntr_export_error(export))
        result = lib.ntr_export_finish(export)
        carrier.raise_failure()
        check(result, lib.ntr_export_error(export))

    def to_arrow(self, src: int | None = None) -> Any:
        """The events as a pyarrow table, without the members of gaps."""
        import numpy
        import pyarrow
        parts = [whole(part) for part in self.event_arrays(src)]
        events = numpy.concatenate(parts).view(dtype_of("ntr_event")) if parts else numpy.empty(0)
        return pyarrow.table({name: events[name] for name in events.dtype.names or ()})

    def to_parquet(self, path: Any, src: int | None = None) -> None:
        """Writes the events as a Parquet file, in bounded memory."""
        import pyarrow
        from pyarrow import parquet
        writer = None
        for events in self.event_arrays(src, copy=False):
            part = pyarrow.table({name: events[name].copy() for name in events.dtype.names})
            writer = writer or parquet.ParquetWriter(os.fspath(path), part.schema)
            writer.write_table(part)
        if writer:
            writer.close()


def formats(family: str | None = None) -> dict[str, str]:
    """Formats of Trace.export by name, each with a line of description."""
    found, index = {}, 0
    while True:
        exporter = lib.ntr_exporter_at(index)
        if not exporter:
            return found
        if family in (None, text(lib.ntr_exporter_family(exporter))):
            found[text(lib.ntr_exporter_name(exporter))] = text(lib.ntr_exporter_summary(exporter))
        index += 1
