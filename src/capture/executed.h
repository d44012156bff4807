/* Which code a hart of a machine has executed, when another hart changes it.
 *
 * QEMU reads code to translate it, and reads memory again when the plugin asks for the bytes. A store of another hart
 * in between gives bytes that were not translated. It shows when they cannot be the block: a jump stands in its middle,
 * or it does not lead to the block that follows. What was translated is then an earlier version, of the same size and
 * with as many instructions. Bytes that differ without changing the flow do not show; the trace is the same with both.
 */
#ifndef NTR_CAPTURE_EXECUTED_H
#define NTR_CAPTURE_EXECUTED_H

#include "capture/state.h"

/* The number of the block that the hart has executed as its last one; `next` (0: not known) is the address that it went
 * to without a trap. 0: no version of it is known that can have been executed. */
uint32_t ntr_capture_executed(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart, uint64_t next);

#endif
