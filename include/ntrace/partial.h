/* Partial answers: what an analysis of one capture, or of a part of one, has counted, as a file that can be added to
 * others.
 *
 * A partial holds the tally and the call tree of an ntr_analysis in a form that depends neither on load addresses nor
 * on the order in which captures were decoded: code is named by image and offset, an image by its build id. The sum of
 * partials is again a partial. Adding is associative and commutative, and needs memory for the tables (captures,
 * images, contexts, functions), not for the counts. docs/partial.md describes the file.
 *
 * Objects are not thread-safe: calls for one object must not overlap. */
#ifndef NTRACE_PARTIAL_H
#define NTRACE_PARTIAL_H

#include <ntrace/config.h>
#include <ntrace/decoder.h>
#include <ntrace/export.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NTR_PARTIAL_VERSION 1 /* of the file */

/* What a partial holds: a set of these. Only partials that hold the same can be added. */
enum {
    NTR_PARTIAL_TALLY = 1u << 0, /* counts of code: ntr_tally */
    NTR_PARTIAL_TIME = 1u << 1,  /* the tally has attributed time */
    NTR_PARTIAL_TREE = 1u << 2,  /* ntr_calltree */
    NTR_PARTIAL_EVENTS = 1u << 3, /* all events of one capture, in the order of the stream, and nothing else */
    NTR_PARTIAL_TOTALS = 1u << 4, /* ntr_counts */
};

#define NTR_PARTIAL_GAPS 10 /* gaps that a partial describes; all are counted */

typedef struct ntr_partial_gap {
    uint64_t offset, message; /* where it begins */
    int16_t reason;           /* ntr_status */
} ntr_partial_gap;

/* A capture, or a part of it. Strings and arrays belong to the object that returned the struct. */
typedef struct ntr_partial_capture {
    size_t size;            /* sizeof(ntr_partial_capture) */
    uint64_t id[2];         /* digest that identifies the capture */
    const char *path;       /* where it was: as the command was given it, absolute */
    const char *title;      /* name for outputs */
    const char *const *options; /* words of the options with which it is opened ("--elf", "a.elf", ...) */
    size_t option_count;
    uint64_t begin, end;    /* bytes [begin, end) of the stream were decoded */
    uint32_t shard, shards; /* part `shard` of `shards`, from 1; both 0: the whole capture */
    const char *begin_state,
        *end_state; /* of the decoder at both ends; "": at the beginning and at the end of the stream */
    uint64_t digest;        /* of the bytes */
    uint64_t ticks_per_second;
    uint64_t gaps, reserved; /* numbers of gaps and of messages that may be damaged (ntr_event_is_doubtful) */
    ntr_partial_gap gap[NTR_PARTIAL_GAPS]; /* the first ones */
    bool any;               /* the stream had messages */
    bool damaged;           /* the stream could not be read to its end */
} ntr_partial_capture;

NTR_DEFINE_CONFIG_INIT(ntr_partial_capture)

/* An image of which the partial has counts. */
typedef struct ntr_partial_image {
    const char *identity; /* "build-id:...", or "digest:..." of the file or of the code */
    const char *name;     /* ntr_image_info.name */
    const char *path;     /* of the file; "": a raw image */
    uint64_t bias;
    ntr_image_options options; /* without strings; in the capture that comes first */
} ntr_partial_image;

/* Stores where the part `number` (from 1) of `count` parts of a stream begins and ends: at the points of its index that
 * are nearest behind equal parts. The last part ends at UINT64_MAX. Errors: NTR_E_MEMORY, NTR_E_INVALID (no such part).
 */
NTR_LAB_API ntr_status ntr_partial_cut(const ntr_index *index, uint32_t number, uint32_t count,
                                       const ntr_allocator *allocator, uint64_t *begin, uint64_t *end);

/* Digest of a sequence of bytes, which can be given in pieces. Initially all zero. Not for bytes chosen to collide. */
typedef struct ntr_partial_digest {
    uint64_t low, high, word, bytes;
} ntr_partial_digest;

NTR_LAB_API void ntr_partial_digest_add(ntr_partial_digest *digest, const void *data, size_t size);
NTR_LAB_API void ntr_partial_digest_finish(ntr_partial_digest *digest, uint64_t id[2]);

/* A part of a stream that is decoded apart. Its decoder begins at the last index points before the part, one for each
 * source (ntr_decoder_begin): what it returns before the part begins is dropped. The state in which it then is, is a
 * guess: it is right unless a gap of the trace reaches from before the points into the part. The state at the end of
 * the part before, which is known when the parts are joined, must be the same. */
typedef struct ntr_partial_part {
    uint64_t begin, end; /* as of ntr_partial_cut; `end` is exact after the last byte of the stream */
    uint64_t at; /* offset of the next byte; at first, where the decoder begins */
    ntr_status (*drain)(void *user); /* reads everything from the decoder; returns NTR_NEED_MORE, NTR_END or an error */
    ntr_status (*start)(void *user); /* the part begins: drops what was read so far. NTR_OK or an error */
    void *user; /* of these */

    /* Results; at first zero. */
    bool begun;
    char begin_state[NTR_DECODER_STATE_SIZE], end_state[NTR_DECODER_STATE_SIZE]; /* of the decoder at both ends */
    ntr_partial_digest digest; /* of the bytes of the part */
} ntr_partial_part;

/* Feeds the next bytes of the stream; those behind the part are not used. `last`: no bytes follow. Returns
 * NTR_NEED_MORE, or NTR_END at the end of the part. Errors: as ntr_decoder_feed, and those of the callbacks. */
NTR_LAB_API ntr_status ntr_partial_part_feed(ntr_partial_part *part, ntr_decoder *decoder, const uint8_t *data,
                                             size_t size, bool last);

/* ---- writing ----------------------------------------------------------------------------------- */

/* Writes what `analysis` has counted for this capture: its tally, tree and totals, each if it exists. This sorts the
 * tally. `options` of the program's images must not refer to another stream. Errors:
 * NTR_E_MEMORY, NTR_E_LIMIT, those of the output. */
NTR_LAB_API ntr_status ntr_partial_write(const ntr_analysis *analysis, const ntr_partial_capture *capture,
                                         const ntr_output *output, const ntr_allocator *allocator);

/* Packs events, for a partial with NTR_PARTIAL_EVENTS: what is repeated takes next to no space. `output` receives
 * blocks of at most 1 MiB, which ntr_partial_write_events puts into a file. Memory: 10 MB at most. */
typedef struct ntr_event_log ntr_event_log;

/* Makes an object. `output` and `allocator` are copied; NULL: malloc and free. Errors: NTR_E_MEMORY. */
NTR_LAB_API ntr_status ntr_event_log_new(const ntr_output *output, const ntr_allocator *allocator, ntr_event_log **out);
NTR_LAB_API void ntr_event_log_free(ntr_event_log *log);

/* Packs events, which are in stream order. ntr_event_log_finish ends the last block. Errors: NTR_E_MEMORY, those of the
 * output. */
NTR_LAB_API ntr_status ntr_event_log_feed(ntr_event_log *log, const ntr_event *events, size_t count);
NTR_LAB_API ntr_status ntr_event_log_finish(ntr_event_log *log);

/* Reads at most `size` bytes. Stores their number, 0: there are no more. */
typedef ntr_status ntr_partial_source(void *user, void *bytes, size_t size, size_t *got);

/* Writes a partial with the events of this capture, or of this part of one: the bytes of its log, which `source`
 * returns. `program` is that which they were decoded with. Errors: NTR_E_MEMORY, NTR_E_LIMIT, NTR_E_IO (the file of an
 * image), those of source and output. */
NTR_LAB_API ntr_status ntr_partial_write_events(const ntr_program *program, const ntr_partial_capture *capture,
                                                ntr_partial_source *source, void *user, const ntr_output *output,
                                                const ntr_allocator *allocator);

/* ---- reading ----------------------------------------------------------------------------------- */

typedef struct ntr_partial ntr_partial;

/* Makes an object. `allocator` is copied; NULL: malloc and free. Errors: NTR_E_MEMORY. */
NTR_LAB_API ntr_status ntr_partial_new(const ntr_allocator *allocator, ntr_partial **out);
NTR_LAB_API void ntr_partial_free(ntr_partial *partial);

/* Returns whether the file begins as a partial. */
NTR_LAB_API bool ntr_partial_seen(const char *path);

/* Opens the partial at byte `offset` of a file and reads its tables; a file may hold several partials one after the
 * other. Returns NTR_END when the file has no partial there. Errors: NTR_E_IO, NTR_E_FORMAT (damaged, truncated),
 * NTR_E_UNSUPPORTED (another version), NTR_E_MEMORY. ntr_partial_error has a sentence. */
NTR_LAB_API ntr_status ntr_partial_open(ntr_partial *partial, const char *path, uint64_t offset);

/* The same for bytes in memory, which must outlive the object. */
NTR_LAB_API ntr_status ntr_partial_open_bytes(ntr_partial *partial, ntr_bytes bytes, uint64_t offset);

/* Checks the rest of the partial and stores in *next where the next one begins. Nothing can be read afterwards, except
 * the tables. Errors: as ntr_partial_open. */
NTR_LAB_API ntr_status ntr_partial_check(ntr_partial *partial, uint64_t *next);

/* Returns a sentence about the last error, which begins with the name of the file; "": none. */
NTR_LAB_API const char *ntr_partial_error(const ntr_partial *partial);

/* Returns what the partial holds: a set of NTR_PARTIAL_*. */
NTR_LAB_API unsigned ntr_partial_holds(const ntr_partial *partial);

/* Return the element number `index`, or NULL after the last one. Captures are sorted by `id`, images by `identity`. */
NTR_LAB_API const ntr_partial_capture *ntr_partial_capture_at(const ntr_partial *partial, size_t index);
NTR_LAB_API const ntr_partial_image *ntr_partial_image_at(const ntr_partial *partial, size_t index);

/* Adds the counts to the tally, the tree and the totals of `analysis`, whose program must have the images of the
 * partial: they are found by identity. Members that are NULL are not filled. Call ntr_calltree_finish afterwards.
 * Allowed once after ntr_partial_open. The parts of one capture must be loaded in their order. Of a partial with
 * NTR_PARTIAL_EVENTS it only checks the images; ntr_partial_events follows. Errors: NTR_E_NO_IMAGE (an image is not
 * there, or has other functions than the one that was decoded), NTR_E_STATE (the call stacks at the beginning of a part
 * are not those that were assumed: the tree is not valid), NTR_E_FORMAT, NTR_E_MEMORY. */
NTR_LAB_API ntr_status ntr_partial_load(ntr_partial *partial, ntr_analysis *analysis);

/* Unpacks the next events of a partial with NTR_PARTIAL_EVENTS, at most `capacity`. Returns NTR_OK, or NTR_END with
 * none. Errors: NTR_E_FORMAT, NTR_E_IO, NTR_E_MEMORY. */
NTR_LAB_API ntr_status ntr_partial_events(ntr_partial *partial, ntr_event *events, size_t capacity, size_t *count);

/* Copies their blocks, as a log writes them, instead. Errors: those of reading and of the output. */
NTR_LAB_API ntr_status ntr_partial_copy_events(ntr_partial *partial, const ntr_output *output);

/* ---- adding ------------------------------------------------------------------------------------ */

#define NTR_PARTIAL_INPUTS_MAX 64

/* Writes the sum of `count` partials, each just opened, at most NTR_PARTIAL_INPUTS_MAX, of whole captures. Errors:
 * NTR_E_INVALID (what they hold differs; a capture is in two of them; a part of a capture; events of several captures),
 * NTR_E_FORMAT, NTR_E_MEMORY, those of the output. ntr_partial_error of the first partial has a sentence. */
NTR_LAB_API ntr_status ntr_partial_add(ntr_partial *const *partials, size_t count, const ntr_output *output);

#ifdef __cplusplus
}
#endif
#endif
