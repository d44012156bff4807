"""Events: what a decoder reports about the execution. One object an event, or numpy arrays without an object each."""
from __future__ import annotations

from functools import lru_cache

from ._core import ffi, lib, text

KINDS = [text(lib.ntr_event_kind_name(n)) for n in range(lib.NTR_EVENT_KINDS)]
ENDS = [text(lib.ntr_span_end_name(n)) for n in range(lib.NTR_SPAN_KINDS)]

SPAN, SYNC, CONTEXT, GAP = lib.NTR_EVENT_SPAN, lib.NTR_EVENT_SYNC, lib.NTR_EVENT_CONTEXT, lib.NTR_EVENT_GAP


class Event:
    """One event (include/ntrace/event.h). Members that its kind does not have are None."""
    __slots__ = ("_c",)

    def __init__(self, c):
        self._c = c

    kind = property(lambda self: KINDS[self._c.kind], doc='"span", "sync", "context", "gap", "stop", ...')
    src = property(lambda self: self._c.src, doc="SRC of the source")
    code = property(lambda self: self._c.code, doc="SYNC, EVCODE, ETYPE, FORMAT or TCODE, by kind")
    offset = property(lambda self: self._c.offset, doc="byte offset of the message in the stream")
    message = property(lambda self: self._c.message, doc="number of the message, from 1")

    @property
    def time(self) -> int | None:
        """The source's clock after the message, in ticks."""
        return self._c.time if self._c.flags & lib.NTR_EVENT_TIME else None

    @property
    def end(self) -> str | None:
        """How a span ends: "taken", "call", "return", "interrupt", ..."""
        return ENDS[self._c.end] if self._c.kind in (lib.NTR_EVENT_SPAN, lib.NTR_EVENT_NO_CODE) else None

    @property
    def address(self) -> int | None:
        """Address of the first instruction (span), of the synchronization (sync), of the next instruction (stop)."""
        known = self._c.kind != GAP and not self._c.flags & lib.NTR_EVENT_ADDRESS_UNKNOWN
        return self._c.address if known else None

    @property
    def target(self) -> int | None:
        """Where control went behind a span."""
        known = self._c.kind == SPAN and not self._c.flags & lib.NTR_EVENT_TARGET_UNKNOWN
        return self._c.target if known else None

    @property
    def instructions(self) -> int | None:
        """Retired instructions of a span."""
        return self._c.instructions if self._c.kind == SPAN else None

    @property
    def halfwords(self) -> int | None:
        """Length of a span in units of two bytes."""
        return self._c.halfwords if self._c.kind == SPAN else None

    @property
    def last(self) -> int | None:
        """Address of the last instruction of a span."""
        return self._c.last if self._c.kind == SPAN else None

    @property
    def data(self) -> int | None:
        """Data of acquisitions, accesses and in-circuit trace."""
        return self._c.data if self._c.kind in (lib.NTR_EVENT_DATA, lib.NTR_EVENT_ACCESS, lib.NTR_EVENT_ICT) else None

    @property
    def reason(self) -> str | None:
        """Why there is a gap or a note, in a phrase."""
        return text(lib.ntr_status_text(self._c.reason)) if self._c.reason else None

    @property
    def privilege(self) -> str | None:
        """Privilege mode: "U", "S", "M", "VU", "VS"; None when it is not known."""
        mode = {0: "U", 1: "S", 3: "M"}.get(self._c.context.prv)
        return f"V{mode}" if mode and self._c.context.v else mode

    @property
    def scontext(self) -> int | None:
        """Value of scontext (ASID or process number), when it is known."""
        return self._c.context.scontext if self._c.context.has_scontext else None

    def json(self) -> str:
        """The event as `ntrace decode --show event --format jsonl` writes it."""
        room = ffi.new("char[]", lib.NTR_EVENT_TEXT_MAX)
        return ffi.buffer(room, lib.ntr_event_json(self._c, room, len(room)))[:].decode().rstrip("\n")

    def __repr__(self) -> str:
        words = [f"Event {self.kind}"]
        if self._c.kind == SPAN:
            address = "?" if self.address is None else f"{self.address:#x}"
            words.append(f"{address} +{self.instructions} {self.end}")
        elif self.reason:
            words.append(self.reason)
        return f"<{' '.join(words)}>"


def _fields(c_type, prefix: str = "", base: int = 0):
    """Name, numpy format and offset of each member that arrays have. Members of gaps are not in arrays."""
    for name, field in c_type.fields:
        kind = field.type.kind
        if kind == "primitive":
            size, word = ffi.sizeof(field.type), field.type.cname
            code = "b1" if word == "_Bool" else f"{'u' if word.startswith('u') else 'i'}{size}"
            yield prefix + name, code, base + field.offset
        elif name == "context":
            yield from _fields(field.type, "", base + field.offset)
        elif name == "insn":
            yield from _fields(field.type, "", base + field.offset)
        elif kind in ("union", "struct") and not name:
            yield from _fields(field.type, prefix, base + field.offset)


@lru_cache(maxsize=None)
def dtype_of(c_name: str):
    """The numpy dtype with the layout of a C struct: arrays are filled by the library, not converted."""
    import numpy
    c_type = ffi.typeof(c_name)
    fields = {}
    for name, code, offset in _fields(c_type):
        fields.setdefault(name, (code, offset))
    fields.pop("reserved", None)
    return numpy.dtype({"names": list(fields), "formats": [f[0] for f in fields.values()],
                        "offsets": [f[1] for f in fields.values()], "itemsize": ffi.sizeof(c_type)})


def whole(array):
    """The same memory as an array of opaque elements, to select and copy them.

    numpy copies an element member by member, ten times slower, if its dtype leaves bytes out, as those of unions and reserved ones.
    """
    return array.view(f"V{array.itemsize}")
