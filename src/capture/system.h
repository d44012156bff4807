/* A modelled trace system between the harts and the stream: the registers of its encoders say how code is encoded, and
 * the stream holds what arrives in its sinks. A cycle of the system is one instruction retired by any hart. */
#ifndef NTR_CAPTURE_SYSTEM_H
#define NTR_CAPTURE_SYSTEM_H

#include "bundle/stream_write.h"
#include "capture/error.h"

#include <ntrace/capture.h>
#include <ntrace/ingress.h>
#include <ntrace/system.h>

struct ntr_capture_system;

/* Build and start the system of capture->topology. `params` and `mode` of `config` become those of its stream. `reason`
 * must live as long as the system. */
ntr_status ntr_capture_system_new(struct ntr_capture_system **system, const ntr_capture_config *capture, unsigned xlen,
                                  struct ntr_bundle_writer *stream, ntr_encoder_config *config,
                                  struct ntr_capture_reason *reason);
/* The same with a system that exists already, which debuggers configure while harts execute; it must live longer. A
 * block that an encoder refuses is dropped, and `reason` says why. */
ntr_status ntr_capture_system_adopt(struct ntr_capture_system **system, ntr_system *existing,
                                    const ntr_allocator *allocator, struct ntr_capture_reason *reason);
void ntr_capture_system_free(struct ntr_capture_system *system); /* NULL is allowed */

/* The classifier's blocks go to this hart of the system. A push that fails fills `reason`. */
void ntr_capture_system_attach(struct ntr_capture_system *system, unsigned hart, ntr_classifier_config *classifier);

/* What the hart executes is not traced until its next block. */
ntr_status ntr_capture_system_leave(struct ntr_capture_system *system, unsigned hart, uint64_t next);

/* The clock. */
uint64_t ntr_capture_system_now(const struct ntr_capture_system *system);
ntr_status ntr_capture_system_step(struct ntr_capture_system *system, uint64_t cycles);

/* This moment of the hart, for ntr_capture_system_resolve: its offset in the stream is known at the end. 0: unknown,
 * also then, because the hart has no encoder, or because the system is that of a debugger, who reads the sinks. */
uint64_t ntr_capture_system_mark(struct ntr_capture_system *system, unsigned hart);

/* The same for all harts: a moment behind everything that they have executed so far, and in front of what they execute
 * then. Time passes until the buffers on the way to the sinks are empty. */
uint64_t ntr_capture_system_barrier(struct ntr_capture_system *system, unsigned hart);

/* After ntr_capture_system_finish: replaces a mark by its offset in the stream. `user` is the system. Other numbers
 * stay. */
void ntr_capture_system_resolve(void *user, uint64_t *position);

/* The unit of TSTAMP: "cycle", "16 cycles"; NULL: there are no timestamps. */
const char *ntr_capture_system_tick(const struct ntr_capture_system *system);

/* Is the hart's trace in the stream, and with which SRC? */
bool ntr_capture_system_source(const struct ntr_capture_system *system, unsigned hart, uint16_t *src);

/* Switch the system off, and copy the content of RAM sinks to the stream. */
ntr_status ntr_capture_system_finish(struct ntr_capture_system *system);

/* Has a buffer wrapped? Its trace begins in the middle of the execution. */
bool ntr_capture_system_wrapped(const struct ntr_capture_system *system);

/* What is missing in the stream: one line each, valid as long as the system. NULL past the last. */
const char *ntr_capture_system_loss(const struct ntr_capture_system *system, size_t index);

#endif
