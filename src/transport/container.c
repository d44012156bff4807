#include "transport/container.h"
#include "base/bytes.h"

#include <ntrace/message_end.h>

#include <stdio.h>
#include <string.h>

static const container_ops *const all[] = {
#define NTR_CONTAINER(id) &ntr_container_##id,
#include "transport/containers.def"
#undef NTR_CONTAINER
};

ntr_status ntr_container_find(ntr_bytes beginning, ntr_container *container) {
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *container = (ntr_container){.name = all[i]->name, .producer = all[i]->producer, .ops = all[i]};
        ntr_params_init(&container->params, ntr_dialect_find(all[i]->dialect));
        container->given = 1u << NTR_PARAMETER_DIALECT;
        ntr_status status = all[i]->find(beginning, container);
        if (status != NTR_END) return status;
    }
    return NTR_END;
}

/* Leave out the header. */
static ntr_bytes after_header(ntr_container *c, ntr_bytes bytes) {
    size_t here = c->skip < bytes.size ? (size_t)c->skip : bytes.size;
    c->skip -= here;
    return here ? (ntr_bytes){bytes.data + here, bytes.size - here} : bytes;
}

/* Leave out the rest of the message inside which the stream begins. */
static ntr_bytes after_cut_message(ntr_container *c, ntr_bytes bytes) {
    while (c->inside && bytes.size) {
        c->inside = !ntr_ends_message(bytes.data[0]);
        bytes = (ntr_bytes){bytes.data + 1, bytes.size - 1};
    }
    return bytes;
}

bool ntr_container_is_plain(const ntr_container *c) {
    return c->ops && !c->ops->read && !c->skip && !c->inside;
}

size_t ntr_container_read(ntr_container *c, ntr_bytes bytes, uint8_t *out) {
    if (!c->ops) return 0;
    if (c->ops->read) return c->ops->read(c, bytes, out);
    bytes = after_cut_message(c, after_header(c, bytes));
    if (bytes.size) memmove(out, bytes.data, bytes.size);
    return bytes.size;
}

/* ---- One trace session as XuanTie's Linux driver stores it in AUX data: six 32-bit words, then the stream.
 * docs/dialects.md section 10. */

enum { MODE = 1, SRC_BITS, TS_BITS, WRAPPED, ALIGN, WORDS };
enum { HEADER_BYTES = 4 * WORDS, XT_BTM = 3, XT_HTM = 6, XT_SRC_BITS = 12, XT_TS_BITS = 64 };

static ntr_status find_xuantie(ntr_bytes beginning, ntr_container *c) {
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
    .name = "xuantie", .producer = "XuanTie trace session", .dialect = "xuantie", .find = find_xuantie};
