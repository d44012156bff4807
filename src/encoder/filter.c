/* Filters: which blocks are traced. Trace Control section 5.
 *
 * A block is traced if one of the filters matches it, or if there is no filter. A filter matches if all its
 * conditions hold. Conditions on exceptions and interrupts are windows: the filter matches from the listed trap to
 * the trap return that belongs to it. Nested traps are counted in `filter_depth`. Every filter sees every block,
 * traced or not, so that the depth stays correct. Example: "interrupt=5" traces the handler of interrupt 5 with the
 * traps that interrupt it. */
#include "base/text.h"
#include "encoder/state.h"

#include <string.h>

/* ---- matching --------------------------------------------------------------------------------------- */

static bool is_listed(const ntr_filter *f, const ntr_ingress *b) {
    if (!(b->itype == NTR_ITYPE_EXCEPTION && f->match_exception) &&
        !(b->itype == NTR_ITYPE_INTERRUPT && f->match_interrupt))
        return false;
    return !f->causes || (b->cause < 64 && f->causes >> b->cause & 1);
}

/* The window opens with the block that ends in a listed trap and closes after the block with the return from it. */
static bool in_trap_window(const ntr_filter *f, uint32_t *depth, const ntr_ingress *b) {
    bool inside = *depth != 0;
    bool trap = b->itype == NTR_ITYPE_EXCEPTION || b->itype == NTR_ITYPE_INTERRUPT;
    if (inside ? trap : is_listed(f, b))
        (*depth)++;
    else if (inside && b->itype == NTR_ITYPE_TRAP_RETURN)
        (*depth)--;
    return inside || *depth;
}

static bool matches(ntr_encoder *e, unsigned index, const ntr_ingress *b) {
    const ntr_filter *f = &e->config.filters[index];
    bool match = true;
    if (f->match_exception || f->match_interrupt) match = in_trap_window(f, &e->filter_depth[index], b);
    if (f->match_address) match &= b->no_iaddr ? e->active : b->iaddr >= f->first && b->iaddr <= f->last;
    if (f->match_priv) match &= f->priv >> b->priv & 1;
    if (f->match_scontext) match &= b->scontext == f->scontext;
    if (f->match_hcontext) match &= b->hcontext == f->hcontext;
    if (f->match_impdef) match &= !((b->impdef ^ f->impdef) & f->impdef_mask);
    return match;
}

unsigned ntr_enc_qualify(ntr_encoder *e, const ntr_ingress *b) {
    unsigned asked = e->config.qualify ? e->config.qualify(e->config.qualify_user, b) : NTR_QUALIFY_TRACE;
    bool any = !e->config.filter_count;
    for (unsigned i = 0; i < e->config.filter_count; i++) any |= matches(e, i, b);
    return any ? asked : asked & ~(unsigned)NTR_QUALIFY_TRACE;
}

/* ---- text -------------------------------------------------------------------------------------------- */

typedef struct filter_cursor {
    const char *at, *end; /* end of this condition */
} filter_cursor;

static bool take(filter_cursor *c, const char *text) {
    size_t length = strlen(text);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, text, length) != 0) return false;
    c->at += length;
    return true;
}

static ntr_status take_number(filter_cursor *c, uint64_t *value) {
    const char *end = ntr_read_number(c->at, c->end, value);
    if (!end) return NTR_E_SYNTAX;
    c->at = end;
    return NTR_OK;
}

static ntr_status take_pair(filter_cursor *c, const char *between, uint64_t *first, uint64_t *second) {
    ntr_status status = take_number(c, first);
    if (status != NTR_OK) return status;
    return take(c, between) ? take_number(c, second) : NTR_E_SYNTAX;
}

static ntr_status take_privileges(filter_cursor *c, ntr_filter *f) {
    static const struct {
        const char *name;
        uint8_t priv;
    } NAMES[] = {{"vu", NTR_PRIV_VU}, {"vs", NTR_PRIV_VS}, {"u", NTR_PRIV_U},
                 {"s", NTR_PRIV_S},   {"m", NTR_PRIV_M},   {"d", NTR_PRIV_D}};
    do {
        size_t i = 0;
        while (i < sizeof NAMES / sizeof *NAMES && !take(c, NAMES[i].name)) i++;
        if (i == sizeof NAMES / sizeof *NAMES) return NTR_E_NAME;
        f->priv |= (uint8_t)(1u << NAMES[i].priv);
    } while (take(c, "+"));
    return NTR_OK;
}

static ntr_status take_causes(filter_cursor *c, ntr_filter *f) {
    if (!take(c, "=")) return NTR_OK;
    do {
        uint64_t cause;
        ntr_status status = take_number(c, &cause);
        if (status != NTR_OK) return status;
        if (cause > 63) return NTR_E_RANGE;
        f->causes |= 1ull << cause;
    } while (take(c, "+"));
    return NTR_OK;
}

static ntr_status take_condition(filter_cursor *c, ntr_filter *f) {
    if (take(c, "addr=")) {
        f->match_address = true;
        ntr_status status = take_pair(c, "-", &f->first, &f->last);
        return status == NTR_OK && f->first > f->last ? NTR_E_RANGE : status;
    }
    if (take(c, "priv=")) return f->match_priv = true, take_privileges(c, f);
    if (take(c, "scontext=")) return f->match_scontext = true, take_number(c, &f->scontext);
    if (take(c, "hcontext=")) return f->match_hcontext = true, take_number(c, &f->hcontext);
    if (take(c, "impdef=")) return f->match_impdef = true, take_pair(c, "/", &f->impdef, &f->impdef_mask);
    if (take(c, "exception")) return f->match_exception = true, take_causes(c, f);
    if (take(c, "interrupt")) return f->match_interrupt = true, take_causes(c, f);
    return NTR_E_NAME;
}

ntr_status ntr_filter_parse(const char *text, ntr_filter *filter, size_t *column) {
    memset(filter, 0, sizeof *filter);
    filter_cursor c = {text, text};
    for (;;) {
        c.end = c.at + strcspn(c.at, ",");
        ntr_status status = take_condition(&c, filter);
        if (status == NTR_OK && c.at != c.end) status = NTR_E_SYNTAX;
        if (column) *column = (size_t)(c.at - text);
        if (status != NTR_OK) return status;
        if (!*c.end) return NTR_OK;
        c.at = c.end + 1;
    }
}
