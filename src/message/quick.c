#include "message/quick_run.h"

ntr_gathered ntr_gather_long(const uint8_t *bytes, unsigned count) {
    if (count > 16) return (ntr_gathered){.over = 1};
    uint64_t rest = ntr_gather_mdo(ntr_load8(bytes + 8) << 8 * (16 - count) >> 8 * (16 - count));
    return (ntr_gathered){ntr_gather_mdo(ntr_load8(bytes)) | rest << 48, rest >> 16};
}

size_t ntr_quick_decode(const ntr_params *params, const uint8_t *bytes, ntr_message *message) {
    return ntr_quick_run(params, ntr_dialect_messages(params->dialect), bytes, message);
}

size_t ntr_quick_check(const ntr_params *params, const uint8_t *bytes, size_t size, ntr_message_mix *mix,
                       uint64_t *count) {
    const ntr_params own = *params; /* nobody else can change it: what is loaded once stays loaded */
    unsigned known = ntr_dialect_messages(own.dialect);
    size_t at = 0, here;
    uint64_t passed = 0;
    for (; size - at >= NTR_QUICK_READABLE; at += here, passed++) {
        here = ntr_quick_run(&own, known, bytes + at, NULL);
        if (!here) break;
        unsigned tcode = bytes[at] >> NTR_MSEO_BITS;
        mix->messages[tcode]++;
        mix->bytes[tcode] += here;
    }
    *count += passed;
    return at;
}
