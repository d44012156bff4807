/* The reference address of data messages. docs/dialects.md section 5.1.
 *
 * DADDR of DataWrite and DataRead may be the XOR with the address of the previous data message of the source. A stream
 * shows that it is by sending DataWriteSync or DataReadSync, which have full addresses. After a loss, the address of
 * such a message is unknown until the next full one.
 *
 * Example, with NTR_DATA_ADDRESS_SEEN: DataWriteSync DADDR=0x1000, DataRead DADDR=0x8: the load is from 0x1008. */
#ifndef NTR_TRACE_DATA_REFERENCE_H
#define NTR_TRACE_DATA_REFERENCE_H

#include "message/sets.h"

typedef struct ntr_data_reference {
    uint64_t address;
    bool known, relative; /* `address` is known; the source has sent a full address, so that 5 and 6 are relative */
} ntr_data_reference;

/* Applies a message of role ACCESS. Stores the address of the access; returns whether it is known. */
static inline bool ntr_data_reference_follow(ntr_data_reference *r, const ntr_params *params, const ntr_message *m,
                                             uint64_t *address) {
    bool absolute = ntr_tcode_in(ntr_tcodes_with(NTR_FLAG_ABSOLUTE), m->tcode);
    r->relative |= absolute;
    bool relative = !absolute && (params->data_address == NTR_DATA_ADDRESS_XOR ||
                                  (params->data_address == NTR_DATA_ADDRESS_SEEN && r->relative));
    if (relative && !r->known) return false;
    uint64_t full = relative ? r->address ^ m->daddr : m->daddr;
    if (params->xlen == 32) full &= UINT32_MAX;
    *address = r->address = full;
    r->known = true;
    return true;
}

#endif
