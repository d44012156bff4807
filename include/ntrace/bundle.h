/* Bundle: a capture as a folder NAME.ntrace/ that holds a stream and everything needed to decode it.
 *
 *   capture.json     parameters of the stream, and where it comes from (docs/bundle.md)
 *   trace.nex[.zst]  the stream, plain or compressed with zstd
 *   images/          copies of the ELF files, and code bytes that no ELF file has
 *   index            points where decoding can begin; made when it is first used
 *
 * The parts are plain files: other tools can use the stream and the images without the bundle.
 *
 * To decode a bundle (docs/bundle.md has the whole program):
 *
 *   ntr_bundle_open(bundle, "x.ntrace");
 *   ntr_bundle_load(bundle, program);
 *   ntr_bundle_stream_open(bundle, &stream);
 *   config.params = ntr_bundle_capture(bundle)->params;
 *   config.program = program;
 *   status = ntr_decoder_new(&config, &decoder);
 *   do {
 *       status = ntr_stream_reader_next(stream, &span, &last);   // sets `last` also after an error
 *       ntr_decoder_feed(decoder, span.data, span.size, last);
 *       ntr_decoder_count(decoder, &counts);                     // or ntr_decoder_read, until it has no more events
 *   } while (!last); */
#ifndef NTRACE_BUNDLE_H
#define NTRACE_BUNDLE_H

#include <ntrace/config.h>
#include <ntrace/allocator.h>
#include <ntrace/limits.h>
#include <ntrace/decoder.h>
#include <ntrace/index.h>
#include <ntrace/params.h>
#include <ntrace/program.h>
#include <ntrace/status.h>
#include <ntrace/stream_reader.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NTR_BUNDLE_VERSION 1 /* of capture.json */

typedef enum ntr_bundle_kind {
    NTR_BUNDLE_ELF = 0, /* an ELF file: segments and symbols */
    NTR_BUNDLE_RAW,     /* plain bytes at options.bias */
    NTR_BUNDLE_PERF_MAP, /* names of code generated at run time: ntr_program_add_perf_map */
    NTR_BUNDLE_JITDUMP, /* the same: ntr_program_add_jitdump_names */
    NTR_BUNDLE_SYMBOLS, /* only the symbols of a file: ntr_program_add_symbols */
} ntr_bundle_kind;

typedef struct ntr_bundle_image {
    uint8_t kind;              /* ntr_bundle_kind */
    const char *file;          /* inside the bundle: "images/hello" */
    const char *build_id;      /* hexadecimal digits; NULL: not known */
    uint64_t offset, length;   /* raw: part of the file in bytes; length 0: up to its end */
    ntr_image_options options; /* bias, contexts, validity, name */
    const char
        *symbol; /* raw: the name of its code, which has [symbol_address, symbol_address + symbol_size); NULL: none */
    uint64_t symbol_address, symbol_size;
} ntr_bundle_image;

typedef struct ntr_bundle_source {
    uint16_t src;
    uint32_t hart;
    const char *name; /* NULL: none */
} ntr_bundle_source;

/* Execution or messages that are missing in the stream. */
typedef struct ntr_bundle_loss {
    uint64_t position; /* offset in the stream; 0 also when it is not known */
    const char *what; /* one line of text */
} ntr_bundle_loss;

/* The content of capture.json. Strings and arrays of the struct that ntr_bundle_capture returns belong to the
 * bundle. */
typedef struct ntr_capture_info {
    size_t size; /* sizeof(ntr_capture_info) */
    const char *stream; /* file inside the bundle: "trace.nex" */
    ntr_params params;
    const char *mode; /* "btm" or "htm"; NULL: not known */

    const char *tool; /* what wrote the bundle: "ntrace 0.9.0" */
    const char *target; /* what executed the program: "qemu-riscv64 7.2.22" */
    const char *date; /* ISO 8601, UTC */
    const char *const *command; /* program and arguments */
    size_t command_count;
    uint64_t status; /* exit status of the program, as a shell reports it */

    const char *tick; /* unit of TSTAMP: "instruction", "nanosecond", "cycle"; NULL: no time */
    uint64_t ticks_per_second; /* 0: not known, or ticks are not a measure of time */

    const ntr_bundle_source *sources;
    size_t source_count;
    const ntr_bundle_image *images;
    size_t image_count;
    const ntr_bundle_loss *losses;
    size_t loss_count;

    const char *test; /* name of the test that the program executed; NULL: none */
    bool begins_inside; /* the stream begins with a whole message in the middle of the execution: a buffer wrapped */
    bool incomplete; /* set by the library: the writer ended between ntr_bundle_save and ntr_bundle_finish, thus the end
                        of the stream is missing */
} ntr_capture_info;

NTR_DEFINE_CONFIG_INIT(ntr_capture_info)

typedef struct ntr_bundle ntr_bundle;

/* Makes an object for one bundle. `allocator` is copied and may be NULL. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_bundle_new(const ntr_allocator *allocator, ntr_bundle **out);

/* Sets the limits of capture.json and of a compressed stream. They are copied. Call it before ntr_bundle_open. */
NTR_API void ntr_bundle_set_limits(ntr_bundle *bundle, const ntr_limits *limits);

/* Frees the object; NULL is allowed. A bundle that ntr_bundle_create began and ntr_bundle_finish did not complete is
 * removed from the disk. */
NTR_API void ntr_bundle_free(ntr_bundle *bundle);

/* Returns one sentence about the last error, or "": "x.ntrace/capture.json: images[2].address: expected ...". */
NTR_API const char *ntr_bundle_error(const ntr_bundle *bundle);

/* Returns true if `path` is a folder with a file capture.json. */
NTR_API bool ntr_bundle_seen(const char *path);

/* ---- reading ------------------------------------------------------------------------------------ */

/* Reads and checks capture.json. Errors: NTR_E_IO, NTR_E_FORMAT (not JSON; a key is missing, unknown or outside its
 * limits; a file name leads out of the folder), NTR_E_UNSUPPORTED (another version), NTR_E_LIMIT, NTR_E_MEMORY. */
NTR_API ntr_status ntr_bundle_open(ntr_bundle *bundle, const char *folder);

/* Returns the content of capture.json, valid as long as the bundle is open. */
NTR_API const ntr_capture_info *ntr_bundle_capture(const ntr_bundle *bundle);

/* Returns the path of the file of the stream, or NULL before ntr_bundle_open. */
NTR_API const char *ntr_bundle_stream_path(const ntr_bundle *bundle);

/* Opens the stream for reading; any number of times. The caller frees the reader with ntr_stream_reader_free; it may
 * outlive the bundle. Errors: NTR_E_STATE (no bundle is open), NTR_E_IO, NTR_E_MEMORY, NTR_E_UNSUPPORTED (a
 * compressed stream, and the library was built without zstd). */
NTR_API ntr_status ntr_bundle_stream_open(ntr_bundle *bundle, ntr_stream_reader **reader);

/* Adds all images to `program`, in order. Errors: as ntr_program_add_elf and ntr_program_add_raw; NTR_E_FORMAT
 * also when a file is outside the bundle or shorter than capture.json says; NTR_E_IO when a file cannot be read (the
 * other images are added). */
NTR_API ntr_status ntr_bundle_load(ntr_bundle *bundle, ntr_program *program);

/* Writes the GNU build id of a file as hexadecimal digits, cut to `size` bytes with the terminating 0; "" if the file
 * has none. Errors, also with "": NTR_E_IO (errno), NTR_E_MEMORY, and NTR_E_FORMAT when the sections or notes of an ELF
 * file are damaged. */
NTR_API ntr_status ntr_bundle_build_id(const char *path, char *text, size_t size);

/* ---- decoding a part ---------------------------------------------------------------------------- */

typedef struct ntr_bundle_index_config {
    size_t size; /* sizeof(ntr_bundle_index_config) */
    const ntr_params *params; /* of the decoder that uses the index; NULL: those of capture.json */
    bool read_only; /* do not write the file `index` */

    /* Called for each piece of the stream while the index is made, when `done` of `whole` bytes of the file have been
     * read. Returns false to stop. NULL: never stop. */
    bool (*proceed)(void *user, uint64_t done, uint64_t whole);
    void *user; /* passed to `proceed` */
} ntr_bundle_index_config;

/* Sets the size, and every other member to 0. Inline, so that the size is the one of the caller's header. */
static inline void ntr_bundle_index_config_init(ntr_bundle_index_config *config) {
    memset(config, 0, sizeof *config);
    config->size = sizeof *config;
}

/* Returns the index of the stream (index.h) in *index. The caller frees it with ntr_index_free before the bundle.
 * The index is read from the file `index`. If that is missing, damaged or older than the stream or capture.json, the
 * stream is read and the file is written, if possible. `config` may be NULL. Returns NTR_END if `proceed` returned
 * false. Errors: as ntr_bundle_stream_open and ntr_stream_reader_next; NTR_E_INVALID (`params` and
 * capture.json differ in how messages are read), NTR_E_LIMIT. */
NTR_API ntr_status ntr_bundle_index(ntr_bundle *bundle, const ntr_bundle_index_config *config, ntr_index **index);

/* Lets `decoder` and `stream`, which must be new, begin at the last points before `place` (ntr_index_find).
 * `source`: NULL, or the only source that is decoded. Events from `place` on are the same as when decoding from the
 * start, except for a gap that begins before the points and ends after them. Returns NTR_END if no part of the
 * stream can be skipped: both then begin at the start. Errors: NTR_E_MEMORY, NTR_E_INVALID. */
NTR_API ntr_status ntr_bundle_begin(ntr_index *index, ntr_unit unit, uint64_t place, const uint16_t *source,
                                    ntr_stream_reader *stream, ntr_decoder *decoder);

/* Reads the index of a stream that need not be in a bundle, in *index; the caller frees it with ntr_index_free.
 * `stream`: the stream's file; `params`: with which its messages are read. `allocator` may be NULL. Errors: NTR_E_IO
 * (errno), NTR_E_FORMAT (not an index), NTR_E_INVALID (older than the stream, of another stream or with other
 * parameters, or damaged), NTR_E_LIMIT, NTR_E_MEMORY. Another stream is noticed by its size and by samples of its
 * bytes. */
NTR_API ntr_status ntr_index_read(const char *path, const char *stream, const ntr_params *params,
                                  const ntr_allocator *allocator, ntr_index **index);

/* Writes an index for ntr_index_read. The file is replaced at once. Errors: NTR_E_IO (errno), NTR_E_MEMORY. */
NTR_API ntr_status ntr_index_write(const ntr_index *index, const char *path, const char *stream,
                                   const ntr_params *params, const ntr_allocator *allocator);

/* ---- writing ------------------------------------------------------------------------------------ */

/* Begins to write the bundle `folder`. Until ntr_bundle_finish it has a temporary name in the same parent folder.
 * Errors: NTR_E_IO, NTR_E_INVALID (`folder` exists and is not a bundle), NTR_E_MEMORY. */
NTR_API ntr_status ntr_bundle_create(ntr_bundle *bundle, const char *folder);

/* Returns the temporary folder of the bundle that is being written, in which images/ exists; NULL before
 * ntr_bundle_create. */
NTR_API const char *ntr_bundle_folder(const ntr_bundle *bundle);

/* Copies a file to images/ under a new name, and sets `file` of *image and, for ELF files, `build_id`. The bundle
 * owns both strings. Errors: NTR_E_IO, NTR_E_MEMORY. */
NTR_API ntr_status ntr_bundle_copy(ntr_bundle *bundle, const char *path, ntr_bundle_image *image);

/* Writes capture.json, so that the bundle can be read as it is under its temporary name: if the writing program is
 * killed, what has been written is not lost. The bundle is `incomplete` until ntr_bundle_finish. May be called again.
 * Errors: as ntr_bundle_finish. */
NTR_API ntr_status ntr_bundle_save(ntr_bundle *bundle, const ntr_capture_info *capture);

/* Renames the folder to its final name with the last capture.json that was written. Errors: NTR_E_STATE (none was
 * written), NTR_E_IO, NTR_E_MEMORY. */
NTR_API ntr_status ntr_bundle_keep(ntr_bundle *bundle);

/* Writes capture.json and renames the folder to its final name; a bundle with that name is kept as `folder`.old, in
 * the place of an earlier one. *capture is checked as ntr_bundle_open does. Errors: NTR_E_IO, NTR_E_INVALID,
 * NTR_E_MEMORY. */
NTR_API ntr_status ntr_bundle_finish(ntr_bundle *bundle, const ntr_capture_info *capture);

#ifdef __cplusplus
}
#endif
#endif
