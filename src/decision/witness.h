/* Values of registers from a trace with loads and stores.
 *
 * A trace with data has the values that loads transfer. The instructions between them are executed here, with what is
 * known: constants, loaded values, and what is computed from them. A store shows the value that it writes, and each
 * access shows the register with its address. Everything else is not known.
 *
 * The loads and stores are given to their instructions by accesses.h. When one does not fit, or one is left at the end,
 * no value of the run is used; neither after a gap, and with several sources (another thread may write between an
 * access and its record).
 *
 * Values are stored where a branch needs them (ntr_operand_root in match.h). */
#ifndef NTR_DECISION_WITNESS_H
#define NTR_DECISION_WITNESS_H

#include "decision/code_map.h"

typedef struct ntr_witness ntr_witness;

/* Returns a witness for the branches of a map, or NULL when out of memory. */
ntr_witness *ntr_witness_new(const ntr_code_map *map, const ntr_allocator *allocator);
void ntr_witness_free(ntr_witness *witness);

/* Takes an event, before its branch is looked at. Errors: NTR_E_MEMORY. */
ntr_status ntr_witness_feed(ntr_witness *witness, const ntr_event *event);

/* Stores the value of the operand of a branch of the map, when it was executed last. Returns whether it is known. */
bool ntr_witness_operand(const ntr_witness *witness, const ntr_decision_branch *branch, uint64_t *value);

/* Returns whether the trace has accesses, and all of them fit so far. */
bool ntr_witness_active(const ntr_witness *witness);

/* Returns the loads of stored results that the last event executed, in this order, as indexes of branches of the map.
 */
const uint32_t *ntr_witness_loads(const ntr_witness *witness, size_t *count);

/* Returns whether the accesses of the trace do not fit its instructions, so that no value may be used. */
bool ntr_witness_refused(const ntr_witness *witness);

#endif
