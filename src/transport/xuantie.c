/* One trace session as XuanTie's Linux driver stores it in AUX data: six 32-bit words, then the stream.
 * docs/dialects.md section 10. */
#include "base/bytes.h"
#include "transport/container.h"

#include <stdio.h>

enum { MODE = 1, SRC_BITS, TS_BITS, WRAPPED, ALIGN, WORDS };
enum { HEADER_BYTES = 4 * WORDS, XT_BTM = 3, XT_HTM = 6, XT_SRC_BITS = 12, XT_TS_BITS = 64 };

static ntr_status find(ntr_bytes beginning, ntr_container *c) {
    uint32_t word[WORDS];
    if (beginning.size < HEADER_BYTES) return NTR_END;
    for (unsigned i = 0; i < WORDS; i++) word[i] = ntr_little_32(beginning.data + 4 * i);
    if (word[0] != HEADER_BYTES || (word[MODE] != XT_BTM && word[MODE] != XT_HTM) || word[SRC_BITS] > XT_SRC_BITS ||
        word[TS_BITS] > XT_TS_BITS || word[WRAPPED] > 1 || word[ALIGN])
        return NTR_END;
    c->params.src_bits = (uint8_t)word[SRC_BITS];
    c->params.ts_width = (uint8_t)word[TS_BITS];
    c->given |= 1u << NTR_PARAMETER_SRC_BITS | (word[TS_BITS] ? 1u << NTR_PARAMETER_TS_WIDTH : 0);
    c->skip = HEADER_BYTES;
    c->inside = word[WRAPPED];
    snprintf(c->facts, sizeof c->facts, "%s%s%s", word[MODE] == XT_BTM ? "BTM" : "HTM",
             word[TS_BITS] ? ", timestamps" : "", word[WRAPPED] ? ", wrapped buffer" : "");
    return NTR_OK;
}

const container_ops ntr_container_xuantie = {
    .name = "xuantie", .producer = "XuanTie trace session", .dialect = "xuantie", .find = find};
