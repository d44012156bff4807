/* Blocks: the outer form of a partial file (docs/partial.md). Private.
 *
 * A block is a kind (1 byte), the size of its content (4 bytes, little-endian), the content, and a checksum of all that
 * (8 bytes, little-endian). The content is a sequence of records, whose numbers are LEB128. A record never continues in
 * the next block, so that a reader needs memory for one block only. */
#ifndef NTR_PARTIAL_BLOCKS_H
#define NTR_PARTIAL_BLOCKS_H

#include <ntrace/export.h>
#include <ntrace/partial.h>

enum {
    NTR_BLOCK_END = 0, /* ends a partial; the next bytes, if any, are another one */
    NTR_BLOCK_HEAD,
    NTR_BLOCK_CAPTURES,
    NTR_BLOCK_IMAGES,
    NTR_BLOCK_VIEWS,
    NTR_BLOCK_FUNCTIONS,
    NTR_BLOCK_ROWS,
    NTR_BLOCK_NODES,
    NTR_BLOCK_PART_NODES, /* of the tree of a part of a capture, then its log */
    NTR_BLOCK_ENTRIES,
    NTR_BLOCK_FRAMES,
    NTR_BLOCK_EVENTS,     /* event_coder.h */
    NTR_BLOCK_KINDS,
};

#define NTR_PARTIAL_MAGIC "NTRACEPA"
#define NTR_BLOCK_MAX     (1u << 20) /* largest content in bytes */
enum { NTR_BLOCK_HEAD_SIZE = 5, NTR_BLOCK_SUM_SIZE = 8 };

/* Number of fields of a record with numbers only: rows and nodes. */
#define NTR_RECORD_FIELDS 20

typedef struct ntr_record {
    uint64_t v[NTR_RECORD_FIELDS];
} ntr_record;

/* ---- writing */

typedef struct ntr_block_writer {
    const ntr_allocator *allocator;
    const ntr_output *output;
    uint8_t *bytes; /* the block that is being filled */
    size_t used, capacity;
    size_t full;       /* bytes after which a block ends; 0: the default */
    uint8_t kind;
    ntr_record before; /* the previous record of the block */
    ntr_status status; /* sticky */
} ntr_block_writer;

/* Begins a partial: writes the magic bytes. */
void ntr_block_writer_start(ntr_block_writer *writer, const ntr_output *output, const ntr_allocator *allocator);

/* Begins a record in a block of this kind, which must not be lower than that of the record before. */
void ntr_block_record(ntr_block_writer *writer, uint8_t kind);
void ntr_block_number(ntr_block_writer *writer, uint64_t number);
/* NULL is written as "". */
void ntr_block_text(ntr_block_writer *writer, const char *text);

/* Writes a record of numbers: the first `keys` as differences from the record before. */
void ntr_block_fields(ntr_block_writer *writer, uint8_t kind, const ntr_record *record, unsigned keys, unsigned fields);

/* Writes the block that is being filled. The next record begins a new one. */
void ntr_block_writer_flush(ntr_block_writer *writer);

/* Writes the last block and releases the memory. Returns the first error: NTR_E_MEMORY, NTR_E_LIMIT (a record larger
 * than a block), those of the output. */
ntr_status ntr_block_writer_finish(ntr_block_writer *writer);

/* ---- reading */

/* Where the bytes come from. Returns NTR_OK with *got bytes, 0 at the end. */
typedef ntr_status ntr_block_read(void *user, void *to, size_t size, size_t *got);

typedef struct ntr_block_reader {
    const ntr_allocator *allocator;
    ntr_block_read *read;
    void *user;
    uint64_t offset; /* bytes read */
    uint8_t *bytes;  /* the current block */
    size_t size, at, capacity;
    uint8_t kind;
    uint64_t number;   /* of the current block, from 1 */
    bool loaded;       /* `kind` and `bytes` are those of the current block */
    ntr_record before;
    ntr_status status; /* sticky */
    const char *what;  /* what is wrong, for a sentence; NULL: nothing */
} ntr_block_reader;

/* Reads the magic bytes. Returns NTR_END when there are no more bytes. Errors: NTR_E_FORMAT, NTR_E_UNSUPPORTED (another
 * version), NTR_E_IO. */
ntr_status ntr_block_reader_start(ntr_block_reader *reader);

/* Returns whether a record of this kind follows. Blocks of other kinds are not skipped. */
bool ntr_block_more(ntr_block_reader *reader, uint8_t kind);
uint64_t ntr_block_get(ntr_block_reader *reader);
/* Returns a new string, NULL when out of memory or damaged. Control characters become '?'. */
char *ntr_block_get_text(ntr_block_reader *reader);
bool ntr_block_get_fields(ntr_block_reader *reader, uint8_t kind, ntr_record *record, unsigned keys, unsigned fields);

/* Skips the rest of the partial, checking it. NTR_OK, or an error. */
ntr_status ntr_block_skip(ntr_block_reader *reader);
void ntr_block_reader_fail(ntr_block_reader *reader, const char *what);
void ntr_block_reader_release(ntr_block_reader *reader);

/* Small differences of both signs become small numbers. */
static inline uint64_t ntr_block_zigzag(uint64_t difference) {
    return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t ntr_block_unzigzag(uint64_t number) {
    return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}

/* Checksum of bytes; not for inputs chosen to collide. */
uint64_t ntr_partial_hash(uint64_t seed, const void *data, size_t size);

#endif
