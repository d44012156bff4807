"""Messages as dicts and bytes, and the trace encoder."""
from __future__ import annotations

import json
from typing import Iterable, Iterator

from . import _core
from ._core import Carrier, Error, check, config, ffi, lib, made, path_bytes, text


def _params(values: dict):
    params = ffi.new("ntr_params *")
    lib.ntr_params_init(params, ffi.NULL)
    _core.set_parameters(params, values)
    return params


def messages(data: bytes, **params) -> Iterator[dict]:
    """The messages of a stream, as `ntrace dump --format jsonl` shows them: number, offset, name, tcode, fields, defect."""
    parameters = _params(params)
    reader, message = ffi.new("ntr_reader *"), ffi.new("ntr_message *")
    room = ffi.new("char[]", lib.NTR_MESSAGE_TEXT_MAX)
    check(lib.ntr_reader_init(reader, parameters))
    content = ffi.from_buffer(data)
    check(lib.ntr_reader_feed(reader, content, len(data), True))
    while lib.ntr_reader_next(reader, message) == _core.OK:
        check(lib.ntr_message_format_json(parameters, message, room, len(room)))
        yield json.loads(text(room))


def assemble(line: str | dict, **params) -> bytes:
    """The bytes of one message, from a line of `ntrace dump` or a dict as `messages` yields it."""
    parameters, room, column = _params(params), ffi.new("uint8_t[]", 4096), ffi.new("size_t *")
    if isinstance(line, dict):
        words, function = json.dumps(line), lib.ntr_message_assemble_json
    else:
        words, function = line, lib.ntr_message_assemble
    size = function(parameters, words.encode(), room, len(room), column)
    if size < 0:
        raise Error(f"column {column[0] + 1} of {words!r}: {text(lib.ntr_status_text(size))}", size)
    return ffi.buffer(room, size)[:]


class Encoder(Carrier):
    """Encodes an execution, given as program counters, with the options of `ntrace encode`.

    encoder = ntrace.Encoder("program.elf", mode="htm", implicit_return="full")
    encoder.push([0x80000000, 0x80000004])
    stream = encoder.finish()
    """

    def __init__(self, elf, base: int = 0, **options):
        self._stream, self._handle = bytearray(), ffi.new_handle(self)
        self._program = made("ntr_program", ffi.NULL)
        image = config("ntr_image_options")
        image.bias = base
        check(lib.ntr_program_add_elf(self._program, path_bytes(elf), image), lib.ntr_program_error(self._program))
        settings = ffi.new("ntr_encoder_config *")
        lib.ntr_encoder_config_defaults(settings, ffi.sizeof("ntr_encoder_config"))
        settings.params.xlen = lib.ntr_program_xlen(self._program)
        for name, value in options.items():
            self._set(settings, name.replace("_", "-"), value)
        settings.sink, settings.sink_user = lib.ntrace_take_message, self._handle
        why = ffi.new("const char **")
        check(lib.ntr_encoder_config_check(settings, why), why[0])
        self._evcode = settings.stop_evcode
        self._encoder = made("ntr_encoder", settings)
        source = config("ntr_classifier_config")
        source.program, source.encoder = self._program, self._encoder
        self._classifier = made("ntr_classifier", source)

    @staticmethod
    def _set(settings, name: str, value) -> None:
        words = {True: "on", False: "off"}[value] if isinstance(value, bool) else None if value is None else str(value)
        status = lib.ntr_encoder_option_set(settings, name.encode(), ffi.NULL if words is None else words.encode())
        check(status, None, f"--{name}" if words is None else f"--{name} {words}")

    def take(self, data: bytes) -> None:
        self._stream += data

    def _check(self, status: int) -> None:
        self.raise_failure()
        check(status, lib.ntr_classifier_error(self._classifier))

    def push(self, pcs: Iterable[int]) -> None:
        """Program counters of retired instructions, in order. A numpy array of uint64 is read in place."""
        if hasattr(pcs, "dtype") and pcs.dtype.str == "<u8" and pcs.flags.c_contiguous:
            addresses, count = ffi.from_buffer("uint64_t[]", pcs), len(pcs)
        else:
            values = [int(pc) for pc in pcs]
            addresses, count = ffi.new("uint64_t[]", values), len(values)
        self._check(lib.ntr_classifier_push_many(self._classifier, addresses, count))

    def finish(self) -> bytes:
        """Ends the trace and returns the stream."""
        after = ffi.new("uint64_t *")
        self._check(lib.ntr_classifier_finish(self._classifier, after))
        self._check(lib.ntr_encoder_stop(self._encoder, after[0], self._evcode))
        self._check(lib.ntr_encoder_flush(self._encoder))
        return bytes(self._stream)


def encode(elf, pcs: Iterable[int], **options) -> bytes:
    """The stream of an execution: Encoder(elf, **options), push, finish."""
    encoder = Encoder(elf, **options)
    encoder.push(pcs)
    return encoder.finish()
