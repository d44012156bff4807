/* Sets of TCODEs by role, flag, dialect or field of their rows in messages.def; bit i stands for TCODE i.
 *
 * With a constant argument each function is a constant at compile time, so hot paths may use it. */
#ifndef NTR_MESSAGE_SETS_H
#define NTR_MESSAGE_SETS_H

#include <ntrace/message.h>

#define NTR_TCODE_BIT(tcode) (UINT64_C(1) << (tcode))
#define NTR_CONSTANT         static inline __attribute__((always_inline, const))

/* Whether the set has this TCODE. NTR_TCODE_NONE reads as TCODE 63, which messages.def may not have. A test
 * for a constant set of one message is one comparison. */
NTR_CONSTANT bool ntr_tcode_in(uint64_t set, unsigned tcode) {
    if (__builtin_constant_p(set) && set && !(set & (set - 1))) return tcode == (unsigned)__builtin_ctzll(set);
    return set >> (tcode & 63) & 1;
}

/* Messages of this role. */
NTR_CONSTANT uint64_t ntr_tcodes_of_role(unsigned wanted) {
#define NTR_MESSAGE(id, tcode, text, set, role, ...) | (NTR_ROLE_##role == wanted ? NTR_TCODE_BIT(tcode) : 0)
    return UINT64_C(0)
#include <ntrace/messages.def>
        ;
#undef NTR_MESSAGE
}

/* Messages with any of these flags (NTR_FLAG_*). */
NTR_CONSTANT uint64_t ntr_tcodes_with(unsigned wanted) {
#define NTR_MESSAGE(id, tcode, text, set, role, flags, ...) | ((flags) & wanted ? NTR_TCODE_BIT(tcode) : 0)
    return UINT64_C(0)
#include <ntrace/messages.def>
        ;
#undef NTR_MESSAGE
}

/* Messages that the dialects of this set have besides those of N-Trace 1.0 (NTR_MESSAGES_*). */
NTR_CONSTANT uint64_t ntr_tcodes_of_dialects(unsigned wanted) {
#define NTR_MESSAGE(id, tcode, text, set, ...) | (NTR_MESSAGES_##set & wanted ? NTR_TCODE_BIT(tcode) : 0)
    return UINT64_C(0)
#include <ntrace/messages.def>
        ;
#undef NTR_MESSAGE
}

/* The fields of a row, as a set. */
#define NTR_ROW_FIELDS(...)                         NTR_ROW_FIELDS_OF(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define NTR_ROW_FIELDS_OF(a, b, c, d, e, f, g, ...) ((a) | (b) | (c) | (d) | (e) | (f) | (g))
#define F(x)                                        (ntr_fields)1 << NTR_FIELD_##x
#define IF(x, c, v)                                 (ntr_fields)1 << NTR_FIELD_##x
#define OPT(x)                                      (ntr_fields)1 << NTR_FIELD_##x

/* Messages that have this field, or may have it. */
NTR_CONSTANT uint64_t ntr_tcodes_with_field(unsigned wanted) {
#define NTR_MESSAGE(id, tcode, text, set, role, flags, about, ...)                                                     \
    | (NTR_ROW_FIELDS(__VA_ARGS__) >> wanted & 1 ? NTR_TCODE_BIT(tcode) : 0)
    return UINT64_C(0)
#include <ntrace/messages.def>
        ;
#undef NTR_MESSAGE
}

/* Whether a row has the fields that the handlers of its role read. */
#define NTR_ROW_HAS(row, field) ((row) >> NTR_FIELD_##field & 1)
#define NTR_ROW_FITS(row, role, flags)                                                                                 \
    (((role) != NTR_ROLE_SYNC ||                                                                                       \
      (NTR_ROW_HAS(row, SYNC) && NTR_ROW_HAS(row, FADDR) && (flags) & NTR_FLAG_ABSOLUTE)) &&                           \
     ((role) != NTR_ROLE_BRANCH || NTR_ROW_HAS(row, ICNT)) && ((role) != NTR_ROLE_REPEAT || NTR_ROW_HAS(row, BCNT)) && \
     ((role) != NTR_ROLE_RESOURCE || (NTR_ROW_HAS(row, RCODE) && NTR_ROW_HAS(row, RDATA0))) &&                         \
     ((role) != NTR_ROLE_STOP || (NTR_ROW_HAS(row, EVCODE) && NTR_ROW_HAS(row, ICNT))) &&                              \
     ((role) != NTR_ROLE_LOSS || (NTR_ROW_HAS(row, ETYPE) && NTR_ROW_HAS(row, ECODE))) &&                              \
     ((role) != NTR_ROLE_CONTEXT || NTR_ROW_HAS(row, PROCESS)) &&                                                      \
     ((role) != NTR_ROLE_DATA || (NTR_ROW_HAS(row, IDTAG) && NTR_ROW_HAS(row, DQDATA))) &&                             \
     ((role) != NTR_ROLE_ACCESS || (NTR_ROW_HAS(row, DSZ) && NTR_ROW_HAS(row, DADDR) && NTR_ROW_HAS(row, DDATA))) &&   \
     ((role) != NTR_ROLE_WATCHPOINT || NTR_ROW_HAS(row, WPHIT)) &&                                                     \
     ((role) != NTR_ROLE_TRAP_VALUE || (NTR_ROW_HAS(row, VTYPE) && NTR_ROW_HAS(row, TVAL))) &&                         \
     ((role) != NTR_ROLE_ACQUISITION || (NTR_ROW_HAS(row, DQTAG) && NTR_ROW_HAS(row, DQDATA))) &&                      \
     ((role) != NTR_ROLE_SELF_LOOP || (NTR_ROW_HAS(row, RCNT) && NTR_ROW_HAS(row, ICNT))) &&                           \
     ((role) != NTR_ROLE_PREDICTION || NTR_ROW_HAS(row, BCNT)) &&                                                      \
     ((role) != NTR_ROLE_CACHED_BRANCH || (NTR_ROW_HAS(row, JIDX) && NTR_ROW_HAS(row, ICNT))) &&                       \
     ((role) != NTR_ROLE_EVENT || (NTR_ROW_HAS(row, CKSRC) && NTR_ROW_HAS(row, CKDATA0))) &&                           \
     (!NTR_ROW_HAS(row, HIST) || (flags) & NTR_FLAG_HISTORY_END))

#define NTR_MESSAGE(id, tcode, text, set, role, flags, about, ...)                                                     \
    enum { NTR_ROW_##id = (int)(NTR_ROW_FIELDS(__VA_ARGS__) & INT32_MAX) }; /* fields up to HIST */                    \
    _Static_assert((tcode) < 63, text ": no TCODE of a message");                                                      \
    _Static_assert(NTR_ROW_FITS(NTR_ROW_FIELDS(__VA_ARGS__), NTR_ROLE_##role, flags),                                  \
                   text ": fields and role do not fit");
#include <ntrace/messages.def>
#undef NTR_MESSAGE
#undef NTR_ROW_FITS
#undef NTR_ROW_HAS
#undef F
#undef IF
#undef OPT

/* The synchronizing form of a branch message; any other TCODE is returned unchanged. */
static inline unsigned ntr_sync_form(unsigned tcode) {
    switch (tcode) {
#define NTR_MESSAGE(...)
#define NTR_SYNC_FORM(id, sync_id)                                                                                     \
    case NTR_TCODE_##id: return NTR_TCODE_##sync_id;
#include <ntrace/messages.def>
#undef NTR_SYNC_FORM
#undef NTR_MESSAGE
    default: return tcode;
    }
}

NTR_CONSTANT bool ntr_has_role(unsigned tcode, unsigned role) {
    return ntr_tcode_in(ntr_tcodes_of_role(role), tcode);
}

/* Messages that describe execution since the message before, and so mean nothing before the first synchronizing one. */
NTR_CONSTANT uint64_t ntr_tcodes_of_flow(void) {
    return ntr_tcodes_of_role(NTR_ROLE_BRANCH) | ntr_tcodes_of_role(NTR_ROLE_REPEAT) |
           ntr_tcodes_of_role(NTR_ROLE_RESOURCE);
}

/* Messages that the period between synchronizing messages does not count (TC-9). */
NTR_CONSTANT uint64_t ntr_tcodes_not_counted(void) {
    return ntr_tcodes_of_role(NTR_ROLE_SYNC) | ntr_tcodes_of_role(NTR_ROLE_CONTEXT);
}

/* Returns whether the message may have more fields than its row: versions of Config behind the first one.
 * docs/dialects.md section 12.5. */
static inline bool ntr_may_have_more_fields(const ntr_message *m) {
    return NTR_HAS(m, CFGVER) && m->cfgver > 1;
}

#endif
