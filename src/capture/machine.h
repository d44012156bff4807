/* Harts of a whole machine: traps, resets, and what else the records of their lanes say (channel/channel.h). */
#ifndef NTR_CAPTURE_MACHINE_H
#define NTR_CAPTURE_MACHINE_H

#include "capture/state.h"

/* hart->record is complete. `pass`: the window has not opened. */
void ntr_capture_machine_take(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart);
void ntr_capture_machine_pass(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart);

/* A debugger has halted the machine, and all lanes are drained. */
void ntr_capture_machine_halt(struct ntr_capture_harts *harts);
void ntr_capture_machine_halt_hart(struct ntr_capture_harts *harts, uint32_t lane);

/* A hart has stopped before the instruction at `address`, which the caller has executed for it. */
void ntr_capture_machine_insert(struct ntr_capture_harts *harts, uint32_t lane, uint64_t address, const uint8_t *bytes,
                                size_t size);

/* The lane ends without CHANNEL_END: QEMU was killed. */
void ntr_capture_machine_finish_hart(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart);

#endif
