"""What the other modules share: the C libraries, errors, text and files."""
from __future__ import annotations

import contextlib
import threading

from . import _native

lib, ffi = _native.lib, _native.ffi

OK, END, NEED_MORE = lib.NTR_OK, lib.NTR_END, lib.NTR_NEED_MORE
POSITION_ANY = 2**64 - 1  # NTR_POSITION_ANY


class Error(Exception):
    """A failure that the library reports: its sentence, and the name of the status in `status` ("NTR_E_FORMAT")."""

    def __init__(self, sentence: str, status: int):
        super().__init__(sentence)
        self.status: str = text(lib.ntr_status_name(status)) or str(status)


class DamageWarning(UserWarning):
    """A part of an input cannot be read; the answer is without it. The command `ntrace` has exit status 1 then."""


def text(pointer) -> str | None:
    """A C string, or None for NULL."""
    return ffi.string(pointer).decode(errors="replace") if pointer else None


def version() -> str:
    return text(lib.ntr_version_text()) or ""


def path_bytes(path) -> bytes:
    import os
    return os.fsencode(path)


def check(status: int, sentence=None, what: str = "") -> int:
    """Raises Error, or MemoryError, when `status` is negative. `sentence` is a C string, used unless it is empty."""
    if status >= 0:
        return status
    if status == lib.NTR_E_MEMORY:
        raise MemoryError
    words = text(sentence) if sentence else None
    words = words or text(lib.ntr_status_text(status))
    raise Error(f"{what}: {words}" if what and not words.startswith(what) else words, status)


def config(type_name: str):
    """A config struct with the defaults of its _init function."""
    value = ffi.new(f"{type_name} *")
    getattr(lib, f"{type_name}_init")(value)
    return value


def made(kind: str, *arguments, what: str = ""):
    """A new object of that type, freed with its last reference. Raises what its constructor returns."""
    out = ffi.new(f"{kind} **")
    check(getattr(lib, f"{kind}_new")(*arguments, out), None, what)
    return ffi.gc(out[0], getattr(lib, f"{kind}_free"))


# ---- callbacks ---------------------------------------------------------------------------------------------------------
# The first argument of each callback is a handle of a Python object. Exceptions cannot pass through C: they are kept and
# raised by the caller of the library function.

class Carrier:
    """Base of objects that callbacks use. `failure` is the exception of a callback."""
    failure: BaseException | None = None

    def raise_failure(self) -> None:
        failure, self.failure = self.failure, None
        if failure:
            raise failure


def _failed(result):
    def handler(exception, value, traceback):
        user = traceback.tb_frame.f_locals.get("user")
        if user:
            ffi.from_handle(user).failure = value
        return result
    return handler


@ffi.def_extern(onerror=_failed(lib.NTR_E_IO))
def ntrace_read_file(user, to, capacity, got):
    carrier = ffi.from_handle(user)
    got[0] = carrier.file.readinto(ffi.buffer(to, capacity)) or 0
    return OK


@ffi.def_extern(onerror=_failed(False))
def ntrace_seek_file(user, offset):
    carrier = ffi.from_handle(user)
    if not carrier.file.seekable():
        return False
    carrier.file.seek(offset)
    return True


@ffi.def_extern(onerror=_failed(False))
def ntrace_proceed(user):
    """Asked every few milliseconds while the library works. Python raises what a signal wants (KeyboardInterrupt) here."""
    return ffi.from_handle(user).failure is None


def _failed_progress(exception, value, traceback):
    user = traceback.tb_frame.f_locals.get("user")
    if user in _told:
        _told[user][0].failure = value


_told: dict = {}  # the stream reader of an analyzer: its Stream, and the function of the caller


@ffi.def_extern(onerror=_failed_progress)
def ntrace_progress(user, size):
    """Called by any thread, whenever more of the stream was read; an exception ends the work, as one in a signal does."""
    _told[user][1](size)


@ffi.def_extern(onerror=_failed(lib.NTR_E_IO))
def ntrace_take_message(user, data, size):
    carrier = ffi.from_handle(user)
    carrier.take(ffi.buffer(data, size)[:])
    return OK


@ffi.def_extern(onerror=_failed(lib.NTR_E_IO))
def ntrace_take_output(user, data, size):
    carrier = ffi.from_handle(user)
    carrier.take(ffi.buffer(data, size)[:])
    return OK


class Stream(Carrier):
    """The bytes of a stream, decompressed: an ntr_stream_reader over a Python file."""

    def __init__(self, file, name: str):
        self.file, self.name = file, name
        self._handle = ffi.new_handle(self)
        options = config("ntr_stream_reader_config")
        options.read, options.seek = lib.ntrace_read_file, lib.ntrace_seek_file
        options.user, options.buffer_size = self._handle, 1 << 20
        self.reader = made("ntr_stream_reader", options)

    def interrupts(self, decoder_config) -> None:
        """Lets a signal end the decoding: raise_failure then raises what it wants."""
        decoder_config.proceed, decoder_config.proceed_user = lib.ntrace_proceed, self._handle

    @contextlib.contextmanager
    def told(self, options, progress):
        """The callbacks of an ntr_analyzer_config: the stream, and progress(bytes) unless it is None."""
        options.read, options.user = ffi.addressof(lib, "ntrace_read_stream"), self.reader
        if progress:
            _told[options.user], options.progress = (self, progress), lib.ntrace_progress
        try:
            yield
        finally:
            _told.pop(options.user, None)

    def watched(self, work):
        """What `work` returns, which the library does with several threads. Only the main thread of Python gets signals, and it
        would wait inside of the library: here it waits in Python, and lets the threads stop."""
        done, finished = [], threading.Event()

        def run() -> None:
            done.append(work())
            finished.set()

        threading.Thread(target=run).start()
        while not finished.is_set():
            try:
                finished.wait()
            except BaseException as stopped:  # pylint: disable=broad-except
                self.failure = stopped
        return done[0]

    def next(self, span, last) -> None:
        status = lib.ntr_stream_reader_next(self.reader, span, last)
        self.raise_failure()
        check(status, lib.ntr_stream_reader_error(self.reader), self.name)


# ---- stream parameters -------------------------------------------------------------------------------------------------

def parameter_names() -> list[str]:
    names = []
    while lib.ntr_parameter_name(len(names)):
        names.append(text(lib.ntr_parameter_name(len(names))))
    return names


def set_parameters(params, values: dict) -> None:
    """Sets parameters by name, with "_" for "-": src_bits=4, implicit_return="full", timestamps=True."""
    for name, value in values.items():
        words = {True: "on", False: "off"}.get(value) if isinstance(value, bool) else str(value)
        option = name.replace("_", "-")
        check(lib.ntr_params_set(params, option.encode(), words.encode()), None, f"{option}={words}")


def get_parameters(params) -> dict[str, str]:
    """All parameters as text that set_parameters accepts."""
    found, room = {}, ffi.new("char[64]")
    for name in parameter_names():
        if lib.ntr_params_get(params, name.encode(), room, len(room)) >= 0:
            found[name.replace("-", "_")] = text(room)
    return found
