/* The code bytes that ran, by address and by place in the stream.
 *
 * As long as every block agrees with what is known, there is one version of memory, valid for the whole stream.
 * When one does not (code that writes code), whatever it touches gets a new version, valid from there on. */
#ifndef CLI_RUN_CODE_H
#define CLI_RUN_CODE_H

#include <ntrace/bytes.h>
#include <stdbool.h>
#include <stdint.h>

struct run_code_granule;

struct run_code {
    struct run_code_granule *granules;
    uint32_t *index; /* hash of addresses to granules, one more than their place; 0: free */
    uint32_t count, capacity, index_size;
    uint32_t generation; /* raised whenever memory changes; starts at 1 */
    struct run_code_piece *pieces;
    uint32_t piece_count, piece_capacity;
    uint8_t *bytes; /* of the pieces */
    uint64_t size, byte_capacity;
};

/* Bytes at `address`, valid from stream offset `from` until `until` (0: no end); at `place` in run_code.bytes. */
struct run_code_piece {
    uint64_t address, length, place, from, until;
};

void run_code_init(struct run_code *code);
void run_code_release(struct run_code *code);

/* Whether these bytes agree with memory as it is now; bytes that are not known yet become known then. False with
 * *failed when out of memory. */
bool run_code_agrees(struct run_code *code, uint64_t address, ntr_bytes bytes, bool *failed);

/* From stream offset `position` on, memory holds these bytes here. False: out of memory. */
bool run_code_change(struct run_code *code, uint64_t address, ntr_bytes bytes, uint64_t position);

/* No more will come: everything known becomes pieces, sorted by address, then by time. False: out of memory. */
bool run_code_finish(struct run_code *code);

#endif
