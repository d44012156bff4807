/* Where the code of a file was executed, by its bytes: firmware, which has no pages, and may move itself.
 *
 * The first bytes of executed ranges are looked for in the executable segments of the file. A range that is there once
 * votes for a load bias. A bias is right if nearly all executed bytes inside the segment are those of the file.
 *
 * Example: U-Boot is linked at 0x80200000 and executes there; then it copies itself to the end of memory. It has two
 * places. */
#ifndef NTR_CAPTURE_PLACE_CODE_H
#define NTR_CAPTURE_PLACE_CODE_H

#include "capture/code.h"

enum { NTR_CODE_PLACES = 8 };

struct ntr_code_place {
    uint64_t bias;        /* added to the addresses of the file */
    uint64_t from, until; /* offsets in the stream; until 0: no end */
};

/* The places of an ELF file in privilege mode `prv`, in `code` that is finished. Returns their number. */
size_t ntr_code_places(const struct ntr_capture_code *code, unsigned prv, ntr_bytes file,
                       struct ntr_code_place places[NTR_CODE_PLACES]);

#endif
