/* The code bytes that were executed, by address and by offset in the stream.
 *
 * While all executed blocks agree with the bytes known so far, there is one version of memory, valid for the whole
 * stream. When a block disagrees (self-modifying code, reused memory), the granules it touches get a new version, valid
 * from the current stream offset on; the old version is kept as ranges that end there.
 *
 * Example: address 0x1000 holds `nop` until offset 500 and `ret` from there on. The result is two ranges for 0x1000:
 * {from 0, until 500} with the bytes of `nop`, {from 500, until 0} with those of `ret`. */
#ifndef NTR_CAPTURE_CODE_H
#define NTR_CAPTURE_CODE_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ntr_capture_granule;

/* Memory as a hart sees it in some privilege mode and address space: the same address may hold different code in each.
 * Space 0 is the memory of a program in user mode, and that of all modes when the trace does not carry them. */
struct ntr_capture_space {
    bool has_prv, has_context;
    uint8_t prv, v;
    uint64_t context;
};

/* At stream offset `position`, something else was mapped from `first` to before `end`. */
struct ntr_capture_forgotten {
    uint64_t first, end, position;
};

struct ntr_capture_code {
    const ntr_allocator *allocator;
    struct ntr_capture_granule *granules;
    uint32_t *index; /* hash table: address to 1 + position in `granules`; 0: free */
    size_t count, capacity, index_size;
    struct ntr_capture_space *spaces; /* space 0 is not in the table: spaces[i] is space i + 1 */
    size_t space_count, space_capacity;
    uint32_t generation; /* incremented whenever memory changes; the first one is 1 */
    struct ntr_capture_code_range *ranges;
    size_t range_count, range_capacity;
    uint8_t *bytes; /* of the ranges */
    size_t size, byte_capacity;
    struct ntr_capture_forgotten *forgotten; /* of user memory, in the order of positions */
    size_t forgotten_count, forgotten_capacity;
};

/* `length` bytes at `address` of a space, valid from stream offset `from` to before `until` (0: no end). They stand at
 * ntr_capture_code.bytes + place. */
struct ntr_capture_code_range {
    uint64_t address, length, place, from, until;
    uint32_t space;
};

void ntr_capture_code_init(struct ntr_capture_code *code, const ntr_allocator *allocator);
void ntr_capture_code_release(struct ntr_capture_code *code);

/* The number of the space with these members; added when it is new. Returns 0 when out of memory. */
uint32_t ntr_capture_code_space(struct ntr_capture_code *code, const struct ntr_capture_space *space);

/* Does memory hold these bytes? Bytes that are not known yet are taken from `bytes`. Returns false with *failed set
 * when out of memory. */
bool ntr_capture_code_agrees(struct ntr_capture_code *code, uint32_t space, uint64_t address, ntr_bytes bytes,
                             bool *failed);

/* From stream offset `position` on, memory holds these bytes. Returns false when out of memory. */
bool ntr_capture_code_change(struct ntr_capture_code *code, uint32_t space, uint64_t address, ntr_bytes bytes,
                             uint64_t position);

/* Is a byte of user memory from `first` to before `end` known? */
bool ntr_capture_code_knows(const struct ntr_capture_code *code, uint64_t first, uint64_t end);

/* From stream offset `position` on, nothing is known about user memory from `first` to before `end`: something else is
 * mapped there. Returns false when out of memory. */
bool ntr_capture_code_forget(struct ntr_capture_code *code, uint64_t first, uint64_t end, uint64_t position);

/* As ntr_capture_code_finish while the capture goes on; `ranges` is not sorted. ntr_capture_code_resume undoes it.
 * Returns false when out of memory. */
struct ntr_capture_code_mark {
    size_t range_count, size;
};
bool ntr_capture_code_pause(struct ntr_capture_code *code, struct ntr_capture_code_mark *mark);
void ntr_capture_code_resume(struct ntr_capture_code *code, const struct ntr_capture_code_mark *mark);

/* The capture has ended: make `ranges` complete and sort it by space, address, then by `from`. Returns false when out
 * of memory. */
bool ntr_capture_code_finish(struct ntr_capture_code *code);

/* Leaves out versions that end before they begin, as after their offsets have been changed. Not while the capture is
 * paused. */
void ntr_capture_code_drop_empty(struct ntr_capture_code *code);

/* Calls `visit` with every stream offset that is noted, to be changed in place. Their order must stay. */
void ntr_capture_code_positions(struct ntr_capture_code *code, void (*visit)(void *user, uint64_t *position),
                                void *user);

#endif
