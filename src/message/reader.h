/* Reader: what other parts of the library use besides ntrace/reader.h. */
#ifndef NTR_MESSAGE_READER_H
#define NTR_MESSAGE_READER_H

#include "wire/mdo.h"

#include <ntrace/reader.h>

/* Passes over messages of these TCODEs, whose fields are not checked, as far as it is quick. `tcodes`: a set for each
 * source (bit i: TCODE i). */
void ntr_reader_pass(ntr_reader *reader, const uint64_t *tcodes);

/* Returns the SRC of the message at `data`, or -1 when it has none. */
static inline int32_t ntr_source_of_bytes(unsigned src_bits, const uint8_t *data, size_t size) {
    unsigned at = 1;
    uint32_t src = 0;
    for (unsigned done = 0; done < src_bits; done += NTR_MDO_BITS, at++) {
        if (at >= size || ntr_mseo_of(data[at - 1]) != NTR_MSEO_MORE) return -1;
        src |= (uint32_t)(data[at] >> NTR_MSEO_BITS) << done;
    }
    return (int32_t)(src & ((1u << src_bits) - 1));
}

#endif
