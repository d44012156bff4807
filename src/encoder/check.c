/* Consistency of a block, in itself and with the blocks before it, by the rules of the ingress port (N-Trace 1.0
 * section 1). */
#include "encoder/state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* The limit of a block keeps I-CNT, which has up to 22 bits, far from an overflow of its variable. */
#define IRETIRE_MAX  (1u << 20)
#define CONTEXT_BITS 59u /* width of the context in PROCESS */

enum {
    PRIV_VALID = 1u << NTR_PRIV_U | 1u << NTR_PRIV_S | 1u << NTR_PRIV_M | 1u << NTR_PRIV_D | 1u << NTR_PRIV_VU |
                 1u << NTR_PRIV_VS
};
enum { ITYPES_3 = 0x7f, ITYPES_4 = 0xff3f };
enum { TRIGGERS = NTR_TRIGGER_ON | NTR_TRIGGER_OFF | NTR_TRIGGER_NOTIFY };

__attribute__((format(printf, 2, 3), cold, noinline)) static ntr_status refuse(ntr_encoder *e, const char *format,
                                                                               ...) {
    int used = snprintf(e->error, sizeof e->error, "record %" PRIu64 ": ", e->stats.blocks + e->refused + 1);
    va_list list;
    va_start(list, format);
    vsnprintf(e->error + used, sizeof e->error - (size_t)used, format, list);
    va_end(list);
    return NTR_E_INGRESS;
}

static bool is_trap(unsigned itype) {
    return itype == NTR_ITYPE_EXCEPTION || itype == NTR_ITYPE_INTERRUPT;
}

/* Returns whether the bits above those that are sent equal the highest of them. */
static bool is_canonical(const ntr_encoder *e, uint64_t address) {
    unsigned bits = e->params.addr_bits;
    if (!bits || bits >= e->params.xlen) return true;
    uint64_t above = address >> (bits - 1), all = (e->params.xlen == 32 ? UINT32_MAX : UINT64_MAX) >> (bits - 1);
    return above == 0 || above == all;
}

static ntr_status check_values(ntr_encoder *e, const ntr_ingress *b) {
    unsigned known = e->config.itype_width == 3 ? ITYPES_3 : ITYPES_4;
    if (b->itype > 15 || !(known >> b->itype & 1))
        return refuse(e, "itype %u is reserved with %u-bit itype", b->itype, e->config.itype_width);
    if (b->priv > 7 || !(PRIV_VALID >> b->priv & 1)) return refuse(e, "priv %u is reserved", b->priv);
    if (b->ctype > NTR_CTYPE_ASYNC) return refuse(e, "ctype %u does not exist", b->ctype);
    if (b->trigger & ~TRIGGERS) return refuse(e, "trigger 0x%x has unknown bits", b->trigger);
    if (b->ilastsize > 3) return refuse(e, "ilastsize %u is larger than 3", b->ilastsize);
    if (b->iretire > IRETIRE_MAX) return refuse(e, "iretire %" PRIu32 " is more than %u", b->iretire, IRETIRE_MAX);
    if (!b->no_iaddr && b->iaddr & 1) return refuse(e, "iaddr 0x%" PRIx64 " is odd", b->iaddr);
    if (!b->no_iaddr && e->params.xlen == 32 && b->iaddr >> 32)
        return refuse(e, "iaddr 0x%" PRIx64 " has more than 32 bits", b->iaddr);
    if (!b->no_iaddr && !is_canonical(e, b->iaddr))
        return refuse(e, "iaddr 0x%" PRIx64 " cannot be sent with addr-bits %u", b->iaddr, e->params.addr_bits);
    if (e->config.ownership && (b->scontext | b->hcontext) >> CONTEXT_BITS)
        return refuse(e, "scontext and hcontext have at most %u bits", CONTEXT_BITS);
    return NTR_OK;
}

static ntr_status check_retirement(ntr_encoder *e, const ntr_ingress *b) {
    if (!b->iretire) {
        if (b->itype > NTR_ITYPE_INTERRUPT)
            return refuse(e, "itype %u without a retired instruction (iretire 0)", b->itype);
        if (b->itype == NTR_ITYPE_EXCEPTION && b->no_iaddr)
            return refuse(e, "an exception without retired instruction needs the iaddr of the one that trapped");
        return NTR_OK;
    }
    if (b->no_iaddr) return refuse(e, "iretire %" PRIu32 " without iaddr", b->iretire);
    if (b->iretire < 1u << b->ilastsize)
        return refuse(e, "iretire %" PRIu32 " is less than the last instruction's %u halfwords", b->iretire,
                      1u << b->ilastsize);
    if (b->itype > NTR_ITYPE_INTERRUPT && b->ilastsize > 1)
        return refuse(e, "itype %u is a branch or jump, which has 1 or 2 halfwords, not %u", b->itype,
                      1u << b->ilastsize);
    if (b->halted || b->reset) return refuse(e, "instructions retire while the hart is halted or in reset");
    return NTR_OK;
}

/* Second and later blocks of a cycle: none follows a trap, and priv and contexts do not change. */
static ntr_status check_cycle(ntr_encoder *e, const ntr_ingress *b) {
    if (b->cycle || !e->cycle_seen) return NTR_OK;
    if (e->cycle_trapped && (b->iretire || b->itype)) return refuse(e, "block after a trap in the same cycle");
    if (b->priv != e->cycle_priv) return refuse(e, "priv changes inside a cycle");
    if (b->scontext != e->cycle_scontext || b->hcontext != e->cycle_hcontext)
        return refuse(e, "context changes inside a cycle");
    return NTR_OK;
}

static ntr_status check_follows(ntr_encoder *e, const ntr_ingress *b) {
    if (!e->follow_known || !ntr_enc_has_address(b) || b->ctype == NTR_CTYPE_ASYNC || b->iaddr == e->follow)
        return NTR_OK;
    return refuse(e, "iaddr 0x%" PRIx64 " does not follow the block before, which ends at 0x%" PRIx64, b->iaddr,
                  e->follow);
}

/* Stores where the next block must start, if this block determines it. A block with 3-bit itype 0 may end in a jump. */
static void remember(ntr_encoder *e, const ntr_ingress *b) {
    if (b->halted || b->reset || b->priv == NTR_PRIV_D)
        e->follow_known = false;
    else if (b->iretire || is_trap(b->itype)) {
        e->follow_known = b->itype == NTR_ITYPE_NOT_TAKEN || (b->itype == NTR_ITYPE_NONE && e->config.itype_width == 4);
        e->follow = b->iaddr + 2 * (uint64_t)b->iretire;
        if (e->params.xlen == 32) e->follow &= UINT32_MAX;
    }
    if (b->cycle || !e->cycle_seen) {
        e->cycle_seen = true;
        e->cycle_trapped = false;
        e->cycle_priv = b->priv;
        e->cycle_scontext = b->scontext;
        e->cycle_hcontext = b->hcontext;
    }
    e->cycle_trapped |= is_trap(b->itype);
}

ntr_status ntr_enc_check(ntr_encoder *e, const ntr_ingress *block) {
    ntr_status status = check_values(e, block);
    if (status == NTR_OK) status = check_retirement(e, block);
    if (status == NTR_OK) status = check_cycle(e, block);
    if (status == NTR_OK) status = check_follows(e, block);
    if (status == NTR_OK) remember(e, block);
    return status;
}
