/* Bundle: a capture as a folder NAME.ntrace/ that holds a stream and all that is needed to read it.
 *
 *   capture.json     what the stream is and how it came to be (docs/bundle.md)
 *   trace.nex[.zst]  the raw stream
 *   images/          copies of the ELF files, and the code bytes that were seen
 *
 * A bundle is a convenience, never a wall: its stream and images serve any tool. */
#ifndef NTRACE_BUNDLE_H
#define NTRACE_BUNDLE_H

#include <ntrace/allocator.h>
#include <ntrace/params.h>
#include <ntrace/program.h>
#include <ntrace/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NTR_BUNDLE_VERSION 1 /* of capture.json */

typedef enum ntr_bundle_kind {
    NTR_BUNDLE_ELF = 0, /* an ELF file: segments and symbols */
    NTR_BUNDLE_RAW,     /* plain bytes at options.bias */
} ntr_bundle_kind;

typedef struct ntr_bundle_image {
    uint8_t kind;              /* ntr_bundle_kind */
    const char *file;          /* inside the bundle: "images/hello" */
    const char *build_id;      /* hexadecimal digits; NULL: not known */
    uint64_t offset, length;   /* raw: this part of the file; length 0: up to its end */
    ntr_image_options options; /* bias, contexts, validity, name */
} ntr_bundle_image;

typedef struct ntr_bundle_source {
    uint16_t src;
    uint32_t hart;
    const char *name; /* for people; may be NULL */
} ntr_bundle_source;

/* Something that the stream does not hold although it happened. */
typedef struct ntr_bundle_loss {
    uint64_t position; /* offset in the stream; 0 also when nobody knows */
    const char *what;  /* one line for people */
} ntr_bundle_loss;

/* What capture.json says. Strings and arrays that ntr_bundle_capture gives belong to the bundle. */
typedef struct ntr_capture {
    size_t size; /* sizeof(ntr_capture) */
    const char *stream; /* file inside the bundle: "trace.nex" */
    ntr_params params;
    const char *mode;   /* "btm" or "htm"; NULL: not told */

    const char *tool;   /* what wrote the bundle: "ntrace 0.1.0" */
    const char *target; /* what executed: "qemu-riscv64 7.2.22" */
    const char *date;   /* ISO 8601, UTC */
    const char *const *command; /* program and arguments */
    size_t command_count;
    uint64_t status;    /* exit status of the program, as a shell would say */

    const char *tick;          /* what a tick of TSTAMP is: "instruction", "nanosecond", "cycle"; NULL: no time */
    uint64_t ticks_per_second; /* 0: not told, or not a measure of time */

    const ntr_bundle_source *sources;
    size_t source_count;
    const ntr_bundle_image *images;
    size_t image_count;
    const ntr_bundle_loss *losses;
    size_t loss_count;
} ntr_capture;

typedef struct ntr_bundle ntr_bundle;

/* NULL when out of memory. `allocator` is copied; it may be NULL. */
NTR_API ntr_bundle *ntr_bundle_new(const ntr_allocator *allocator);

/* A bundle being written and not finished is removed from the disk. */
NTR_API void ntr_bundle_free(ntr_bundle *bundle);

/* One line about the last failure: "x.ntrace/capture.json: images[2].address: expected ...". */
NTR_API const char *ntr_bundle_error(const ntr_bundle *bundle);

/* Whether `path` is a folder that holds a capture.json. */
NTR_API bool ntr_bundle_seen(const char *path);

/* ---- reading ------------------------------------------------------------------------------------ */

/* Read and check capture.json. Errors: NTR_E_IO, NTR_E_FORMAT (not JSON, a key missing, unknown or out of its
 * limits, a file name that leads outside), NTR_E_UNSUPPORTED (another version), NTR_E_LIMIT, NTR_E_MEMORY. */
NTR_API ntr_status ntr_bundle_open(ntr_bundle *bundle, const char *folder);

/* What was read; lives as long as the bundle. */
NTR_API const ntr_capture *ntr_bundle_capture(const ntr_bundle *bundle);

/* Path of the stream; NULL before ntr_bundle_open. */
NTR_API const char *ntr_bundle_stream(const ntr_bundle *bundle);

/* Add every image, in order, to `program`. Errors: as ntr_program_add_elf and ntr_program_add_raw; NTR_E_FORMAT
 * also when a file is not inside the bundle or is shorter than capture.json says. NTR_E_IO: a file cannot be read; all
 * others were added. */
NTR_API ntr_status ntr_bundle_load(ntr_bundle *bundle, ntr_program *program);

/* ---- writing ------------------------------------------------------------------------------------ */

/* Begin a bundle that will be `folder`. Until ntr_bundle_finish it lives under a temporary name beside it.
 * Errors: NTR_E_IO, NTR_E_INVALID (`folder` exists and is no bundle), NTR_E_MEMORY. */
NTR_API ntr_status ntr_bundle_create(ntr_bundle *bundle, const char *folder);

/* The folder while it is written; its images/ exists. NULL before ntr_bundle_create. */
NTR_API const char *ntr_bundle_folder(const ntr_bundle *bundle);

/* Copy a file to images/; `image` gets `file` (a name not used yet in this bundle; lives as long as the bundle)
 * and, from ELF files, `build_id`. Errors: NTR_E_IO, NTR_E_MEMORY. */
NTR_API ntr_status ntr_bundle_copy(ntr_bundle *bundle, const char *path, ntr_bundle_image *image);

/* Write capture.json and give the folder its name; a bundle of that name is replaced. What `capture` says is
 * checked as ntr_bundle_open would. Errors: NTR_E_IO, NTR_E_INVALID, NTR_E_MEMORY. */
NTR_API ntr_status ntr_bundle_finish(ntr_bundle *bundle, const ntr_capture *capture);

#ifdef __cplusplus
}
#endif
#endif
