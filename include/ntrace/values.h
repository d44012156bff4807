/* Values of the fixed fields of messages as constants: NTR_SYNC_PERIODIC, NTR_EVCODE_DEBUG, NTR_RCODE_HIST, ...
 *
 * They are made from values.def, which also has their names and meanings (ntr_value_name in message.h gives the name).
 */
#ifndef NTRACE_VALUES_H
#define NTRACE_VALUES_H

enum {
#define NTR_VALUE(field, id, first, last, set, flags, name, about) NTR_##field##_##id = (first),
#include <ntrace/values.def>
#undef NTR_VALUE
};

/* FLAG(ID, text): what values.def may say of a value. */
#define NTR_VALUE_FLAGS(FLAG)                                                                                          \
    FLAG(RESTARTS, "FADDR does not follow from what ran before")                                                       \
    FLAG(AFTER_LOSS, "messages were lost before")                                                                      \
    FLAG(RESETS, "the hart starts anew; ICNT may say how far it came before that")                                     \
    FLAG(PERIODIC, "sent at intervals")                                                                                \
    FLAG(BTM_ONLY, "not sent in HTM")                                                                                  \
    FLAG(TRAP, "a trap")                                                                                               \
    FLAG(DETAIL, "from encoders that distinguish exceptions and interrupts")                                           \
    FLAG(HISTORY, "RDATA0 is branch history")                                                                          \
    FLAG(RUN, "RDATA0 counts branches with the same outcome")                                                          \
    FLAG(ADDRESS_0, "with CKDF 0: CKDATA0 is an address")                                                              \
    FLAG(ADDRESS_1, "with CKDF 1: CKDATA0 is an address, CKDATA1 is data")                                             \
    FLAG(DATA_0, "with CKDF 0: CKDATA0 is data")                                                                       \
    FLAG(DATA_1, "with CKDF 1: CKDATA0 and CKDATA1 are data")                                                          \
    FLAG(TARGET_1, "with CKDF 1: CKDATA1 is the target of the jump at CKDATA0")                                        \
    FLAG(VENDOR, "left to vendors")                                                                                    \
    FLAG(UNSEEN, "no known encoder sends it")                                                                          \
    FLAG(RESERVED, "no row of values.def covers it")

enum {
#define NTR_FLAG(id, text) NTR_VALUE_BIT_##id,
    NTR_VALUE_FLAGS(NTR_FLAG)
#undef NTR_FLAG
};

/* A set of them. */
enum {
#define NTR_FLAG(id, text) NTR_VALUE_##id = 1 << NTR_VALUE_BIT_##id,
    NTR_VALUE_FLAGS(NTR_FLAG)
#undef NTR_FLAG
};

#endif
