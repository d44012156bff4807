"""A trace: a capture bundle or a raw stream, with the program that ran."""
from __future__ import annotations

import builtins
import os
import warnings
from typing import Any, Iterable, Iterator, NamedTuple

from . import _core, pages
from ._core import END, NEED_MORE, check, config, ffi, lib, made, path_bytes, text
from .answers import Answers
from .events import Event, dtype_of, whole

class Counts(NamedTuple):
    """Totals of a trace, as `ntrace decode --show count` prints them."""
    instructions: int
    halfwords: int
    spans: int
    branches: int
    taken: int
    calls: int
    returns: int
    exceptions: int
    interrupts: int
    gaps: int
    messages: int
    bytes: int
    doubtful: int



ARRAY_EVENTS = 1 << 14  # they stay in the L2 cache
SAMPLE = 1 << 22  # bytes of a raw stream that inference looks at


def open(path, elf: Iterable = (), raw: Iterable = (), auto: bool | None = None, **params) -> "Trace":
    """Opens a capture bundle or a raw N-Trace stream (.zst or not).

    elf: paths of ELF files, or tuples (path, load address); raw: tuples (path, address). params: stream parameters of a raw
    stream by their command line name (src_bits=4, implicit_return="full", dialect="tt-dfd"); those of a bundle are in it, and
    what is given here overrules them. A raw stream without any parameter is inspected first (auto=True does so always).
    """
    return Trace(path, elf, raw, auto, params)


class Trace(Answers):
    """An open trace. Use ntrace.open. Each call decodes anew from the start; a Trace is used by one thread at a time."""

    def __init__(self, path, elf, raw, auto, params):
        self.path = os.fspath(path)
        self.inferred: dict[str, tuple[str, str]] = {}
        self._bundle = None
        self._said: set[str] = set()
        self._program = made("ntr_program", ffi.NULL)
        self._params = ffi.new("ntr_params *")
        lib.ntr_params_init(self._params, ffi.NULL)
        if lib.ntr_bundle_seen(path_bytes(path)):
            self._open_bundle(path)
        elif not os.path.exists(self.path):
            raise FileNotFoundError(self.path)
        self._add_images(elf, raw)
        _core.set_parameters(self._params, params)
        xlen = lib.ntr_program_xlen(self._program)
        if xlen and not self._bundle and "xlen" not in params:
            _core.set_parameters(self._params, {"xlen": xlen})
        if auto or (auto is None and not params and not self._bundle):
            self._infer(params)
        check(lib.ntr_params_check(self._params), None, self.path)
        self._warn(lib.ntr_program_damage, self._program)

    # ---- opening

    def _warn(self, damage, of) -> None:
        """Warns once of each line of `damage`, which is ntr_program_damage or ntr_debug_info_damage."""
        number = 0
        while line := text(damage(of, number)):
            if line not in self._said:
                self._said.add(line)
                warnings.warn(line, _core.DamageWarning, stacklevel=3)
            number += 1

    def _open_bundle(self, path):
        self._bundle = made("ntr_bundle", ffi.NULL)
        check(lib.ntr_bundle_open(self._bundle, path_bytes(path)), lib.ntr_bundle_error(self._bundle))
        self._capture = lib.ntr_bundle_capture(self._bundle)
        self._params[0] = self._capture.params
        check(lib.ntr_bundle_load(self._bundle, self._program), lib.ntr_bundle_error(self._bundle))

    def _add_images(self, elf, raw):
        for item in [elf] if isinstance(elf, (str, bytes, os.PathLike)) else elf:
            path, bias = item if isinstance(item, tuple) else (item, 0)
            options = config("ntr_image_options")
            options.bias = bias
            status = lib.ntr_program_add_elf(self._program, path_bytes(path), options)
            check(status, lib.ntr_program_error(self._program))
        for path, address in raw:
            options = config("ntr_image_options")
            options.bias = address
            with builtins.open(path, "rb") as file:
                content = file.read()
            data = ffi.from_buffer(content)
            status = lib.ntr_program_add_raw(self._program, {"data": data, "size": len(content)}, options)
            check(status, lib.ntr_program_error(self._program))

    def _infer(self, params):
        names = _core.parameter_names()
        options = config("ntr_infer_config")
        options.params, options.program = self._params[0], self._program
        for name in params:
            options.given |= 1 << names.index(name.replace("_", "-"))
        sample, span, last = bytearray(), ffi.new("ntr_bytes *"), ffi.new("bool *")
        stream = self._stream()
        while not last[0] and len(sample) < SAMPLE:
            stream.next(span, last)
            sample += ffi.buffer(span.data, span.size) if span.size else b""
        found = ffi.new("ntr_inference *")
        content = ffi.from_buffer(bytes(sample)) if sample else ffi.NULL
        check(lib.ntr_infer(options, {"data": content, "size": len(sample)}, found), None, self.path)
        self._params[0] = found.params
        for number, name in enumerate(names):
            choice = found.choices[number]
            if choice.confidence != lib.NTR_CONFIDENCE_GIVEN:
                self.inferred[name.replace("-", "_")] = (text(choice.value), text(lib.ntr_confidence_name(choice.confidence)))

    def _stream(self) -> _core.Stream:
        path = text(lib.ntr_bundle_stream_path(self._bundle)) if self._bundle else self.path
        return _core.Stream(builtins.open(path, "rb", buffering=0), path)

    # ---- what is known of the trace

    @property
    def params(self) -> dict[str, str]:
        """The stream parameters in use."""
        return _core.get_parameters(self._params)

    @property
    def images(self) -> list[dict]:
        """The images of the program: name, path, bias, low and high address."""
        found, info = [], ffi.new("ntr_image_info *")
        while lib.ntr_program_image(self._program, len(found), info) == _core.OK:
            found.append({"name": text(info.name), "path": text(info.path), "bias": info.bias, "low": info.low, "high": info.high})
        return found

    @property
    def command(self) -> list[str]:
        """The traced command, from the bundle."""
        c = self._capture if self._bundle else None
        return [text(c.command[n]) for n in range(c.command_count)] if c else []

    @property
    def losses(self) -> list[str]:
        """What is missing from the trace, as the bundle says."""
        c = self._capture if self._bundle else None
        return [text(c.losses[n].what) for n in range(c.loss_count)] if c else []

    @property
    def ticks_per_second(self) -> int | None:
        """Frequency of the timestamps; None when it is not known."""
        return self._capture.ticks_per_second or None if self._bundle else None

    def symbol(self, address: int, offset: int | None) -> str | None:
        """Name of the function or object at an address when the event at this stream offset happened, "name+0x10".
        None: of the image that was added last, whenever it was there."""
        found, place = ffi.new("ntr_symbol *"), ffi.new("ntr_place *")
        place.address, place.position = address, _core.POSITION_ANY if offset is None else offset
        if lib.ntr_program_symbol(self._program, place[0], found) != _core.OK:
            return None
        offset = address - found.address
        return text(found.name) + (f"+{offset:#x}" if offset else "")

    # ---- decoding

    def _decoder_config(self, stream: _core.Stream, src: int | None = None, strict: bool = False):
        options = config("ntr_decoder_config")
        stream.interrupts(options)
        options.params, options.program, options.strict = self._params[0], self._program, strict
        if src is not None:
            options.one_source, options.source = True, src
        return options

    def _decoder(self, stream: _core.Stream, src: int | None = None, strict: bool = False):
        return made("ntr_decoder", self._decoder_config(stream, src, strict), what=self.path)

    def _chunks(self, room, capacity: int, src: int | None = None, strict: bool = False, repeats: bool = False,
                functions=None) -> Iterator[int]:
        """Decodes into the memory that `room` returns, asked before each turn; yields the number of events in it. repeats:
        who takes the events knows that a span of a loop can stand for many. functions: spans end where these change."""
        stream = self._stream()
        decoder = self._decoder(stream, src, strict)
        lib.ntr_decoder_set_repeats(decoder, repeats)
        if functions is not None:
            lib.ntr_decoder_set_division(decoder, ffi.addressof(lib, "ntr_functions_same"), functions)
        span, last, count = ffi.new("ntr_bytes *"), ffi.new("bool *"), ffi.new("size_t *")
        status = NEED_MORE
        while status != END:
            if status == NEED_MORE:
                stream.next(span, last)
                check(lib.ntr_decoder_feed(decoder, span.data, span.size, last[0]), None, self.path)
            status = lib.ntr_decoder_read(decoder, room(), capacity, count)
            stream.raise_failure()
            if count[0]:
                yield count[0]
            check(status, lib.ntr_decoder_error(decoder), self.path)

    def count(self, src: int | None = None) -> Counts:
        """Totals, by the counting decode, the fastest way through a trace."""
        stream = self._stream()
        decoder = self._decoder(stream, src)
        span, last, counts = ffi.new("ntr_bytes *"), ffi.new("bool *"), ffi.new("ntr_counts *")
        status = NEED_MORE
        while status == NEED_MORE:
            stream.next(span, last)
            check(lib.ntr_decoder_feed(decoder, span.data, span.size, last[0]), None, self.path)
            status = lib.ntr_decoder_count(decoder, counts)
            stream.raise_failure()
        check(status, lib.ntr_decoder_error(decoder), self.path)
        return Counts(*(getattr(counts, name) for name in Counts._fields))

    def events(self, src: int | None = None, strict: bool = False) -> Iterator[Event]:
        """The events, one object each: convenient, at about a million a second. event_arrays is the fast way."""
        capacity = 4096
        room = ffi.new("ntr_event[]", capacity)
        for count in self._chunks(lambda: room, capacity, src, strict):
            for n in range(count):
                yield Event(ffi.new("ntr_event *", room[n]))

    def event_arrays(self, src: int | None = None, size: int = ARRAY_EVENTS, copy: bool = True) -> Iterator[Any]:
        """The events as numpy structured arrays of up to `size` events, with the members of ntr_event.

        The library decodes into the memory of the array, which is the caller's; no event is copied. copy=False: all arrays
        share one memory, so an array is valid until the next one, and no memory is allocated.
        """
        import numpy
        dtype, block = dtype_of("ntr_event"), None

        def room():
            nonlocal block
            if block is None:
                block = numpy.empty(size, dtype)
            return ffi.from_buffer("ntr_event[]", block, require_writable=True)

        for count in self._chunks(room, size, src):
            events = block[:count]
            if copy and 2 * count < size:  # few events do not keep a whole block
                events = whole(events).copy().view(dtype)
            elif copy:
                block = None
            yield events

    def span_arrays(self, src: int | None = None, size: int = ARRAY_EVENTS) -> Iterator[Any]:
        """Like event_arrays, but only the spans, the executed code."""
        for events in self.event_arrays(src, size):
            yield events[:lib.ntrace_keep_spans(ffi.from_buffer("ntr_event[]", events), len(events))]

    def instruction_arrays(self, src: int | None = None, size: int = ARRAY_EVENTS) -> Iterator[tuple[Any, Any]]:
        """The retired instructions in order, as pairs of arrays: instructions (address, bits, size, flow, ...), and SRC."""
        import numpy
        capacity = size // 4
        room, at, filled = ffi.new("ntr_event[]", capacity), ffi.new("size_t *"), ffi.new("size_t *")
        expander = made("ntr_instructions", self._program, ffi.NULL)
        for count in self._chunks(lambda: room, capacity, src):
            at[0], status = 0, _core.OK
            while status == _core.OK:
                out, sources = numpy.empty(size, dtype_of("ntr_instruction")), numpy.empty(size, "u2")
                status = check(lib.ntrace_expand(expander, room, count, at, ffi.from_buffer("ntr_instruction[]", out),
                                                 ffi.from_buffer("uint16_t[]", sources), size, filled))
                if filled[0]:
                    yield out[:filled[0]], sources[:filled[0]]

    def pcs(self, src: int | None = None) -> Iterator[Any]:
        """The program counters of all retired instructions, as numpy arrays of 64-bit numbers."""
        for instructions, _ in self.instruction_arrays(src):
            yield instructions["address"].copy()

    def __repr__(self) -> str:
        return f"<ntrace.Trace {self.path!r}>"

    def _repr_html_(self) -> str:
        facts = {"trace": self.path, "command": " ".join(self.command), **self.params}
        return pages.table(["", "value"], [{"": name, "value": value} for name, value in facts.items() if value])
