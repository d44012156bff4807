"""Builds ntrace._native, the module that connects Python with libntrace and libntrace-tools (cffi, API mode).

The declarations come from the public headers through the C preprocessor, so that nothing is said here a second time. The
libraries are those of the folder NTRACE_BUILD if the environment names one, otherwise the installed ones (pkg-config), otherwise
those that `make` has built in this checkout. The module finds them there at run time; NTRACE_RPATH names another folder, and an empty one
leaves the search to the system. One that begins with $ORIGIN also holds for the libraries that the libraries need (a wheel).
"""
import os
import re
import shlex
import subprocess

import cffi

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(HERE)
INCLUDE = os.path.join(CHECKOUT, "include")
BUILT = os.path.join(CHECKOUT, "build")
MISSING = "libntrace is missing: run `make` in the checkout, or `make install`, or name a build folder in NTRACE_BUILD"


def pkg_config(*options):
    """What the installed libraries need, or None without them."""
    try:
        done = subprocess.run(["pkg-config", *options, "libntrace-tools"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except FileNotFoundError:
        return None
    return shlex.split(done.stdout) if done.returncode == 0 else None


def build_folder(installed):
    """The build folder to use, or None for the installed libraries."""
    if os.environ.get("NTRACE_BUILD"):
        return os.path.abspath(os.environ["NTRACE_BUILD"])
    if installed is not None:
        return None
    if not os.path.exists(os.path.join(BUILT, "libntrace-tools.so")):
        raise SystemExit(MISSING)
    return BUILT


def places():
    """Options of the compiler and the linker: include folders, library folders, folders searched at run time."""
    flags = pkg_config("--cflags-only-I", "--libs-only-L")
    build = build_folder(flags)
    if build:
        return [INCLUDE, os.path.join(build, "include")], [build], [build]
    include = [flag[2:] for flag in flags if flag.startswith("-I")]
    folders = [flag[2:] for flag in flags if flag.startswith("-L")]
    return include, folders, folders


def without_bodies(text):
    """Inline functions become declarations: the module is compiled against the headers, which have the bodies."""
    out, at = [], 0
    for match in re.finditer(r"static inline ([^;{]*?)\{", text):
        if match.start() < at:
            continue
        out += [text[at:match.start()], match.group(1).strip(), ";"]
        at, depth = match.end(), 1
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
    return "".join(out) + text[at:]


def declarations(include):
    """The public headers as cffi reads them."""
    empty = os.path.join(HERE, "standard")
    command = [os.environ.get("CC", "cc"), "-E", "-P", "-nostdinc", "-undef", "-DNTR_NO_VISIBILITY", "-DUINT64_MAX=0xffffffffffffffff",
               "-DUINT64_C(x)=x", f"-I{empty}", *(f"-I{folder}" for folder in include), "-"]
    source = "#include <ntrace/tools.h>\n#include <ntrace/infer.h>\n"
    done = subprocess.run(command, input=source, stdout=subprocess.PIPE, check=True, text=True)
    return without_bodies(done.stdout)


# Macros, which the preprocessor removes, and what native.c and the callbacks add.
ADDITIONS = """
#define NTR_EVENT_TEXT_MAX ...
#define NTR_MESSAGE_TEXT_MAX ...
extern "Python" ntr_status ntrace_read_file(void *user, uint8_t *to, size_t capacity, size_t *got);
extern "Python" bool ntrace_seek_file(void *user, uint64_t offset);
extern "Python" bool ntrace_proceed(void *user);
extern "Python" void ntrace_progress(void *user, uint64_t bytes);
extern "Python" ntr_status ntrace_take_message(void *user, const uint8_t *bytes, size_t size);
extern "Python" ntr_status ntrace_take_output(void *user, const void *bytes, size_t size);
ntr_status ntrace_expand(ntr_instructions *expander, const ntr_event *events, size_t count, size_t *at, ntr_instruction *out,
                         uint16_t *src, size_t capacity, size_t *filled);
ntr_status ntrace_read_stream(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last);
size_t ntrace_keep_spans(ntr_event *events, size_t count);
"""


def make():
    include, folders, search = places()
    if "NTRACE_RPATH" in os.environ:
        search = [folder for folder in os.environ["NTRACE_RPATH"].split(":") if folder]
    link = [f"-Wl,--disable-new-dtags,-rpath,{folder}" for folder in search if folder.startswith("$ORIGIN")]
    with open(os.path.join(HERE, "native.c"), encoding="utf-8") as file:
        native = file.read()
    ffi = cffi.FFI()
    ffi.cdef(declarations(include))
    ffi.cdef(ADDITIONS)
    ffi.set_source("ntrace._native", native, include_dirs=include, library_dirs=folders, runtime_library_dirs=[] if link else search, extra_link_args=link,
                   libraries=["ntrace-tools", "ntrace"], extra_compile_args=["-std=gnu11", "-O2"])
    return ffi


ffi = make()

if __name__ == "__main__":
    ffi.compile(verbose=True)
