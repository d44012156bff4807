/* Instructions: the retired instructions of a span, one by one. N-Trace 1.0 section 14 (output of a decoder).
 *
 * A span event holds the address of straight-line code and its number of instructions; the program holds their
 * bytes. An ntr_instructions reads them from the images that are valid for the context and the stream position of
 * the span:
 *
 *     ntr_instruction i;
 *     ntr_instructions_begin(instructions, &event);
 *     while ((status = ntr_instructions_next(instructions, &i)) == NTR_OK)
 *         ... i.address, i.bits, i.insn.size, i.insn.flow, event.context, event.time
 *
 * Context and source are the same for all instructions of a span. The time of a span is that of the message that
 * reported it: the instructions were executed between it and the time of the message before.
 *
 * Expanded spans are cached, so that code that executes often is decoded once. Memory is bounded (at most 12 MiB)
 * and does not depend on the length of spans. The cache stays correct when images become valid or invalid with the
 * position, when images are added, and after ntr_program_set_reader.
 *
 * An object is used by one thread at a time. Threads that decode in parallel have an object each over the same
 * program. */
#ifndef NTRACE_INSTRUCTIONS_H
#define NTRACE_INSTRUCTIONS_H

#include <ntrace/allocator.h>
#include <ntrace/event.h>
#include <ntrace/isa.h>
#include <ntrace/program.h>
#include <ntrace/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_instructions ntr_instructions;

/* One retired instruction. sizeof(ntr_instruction) never changes while the library keeps its soname; new members take
 * the reserved bytes. */
typedef struct ntr_instruction {
    uint64_t address;
    uint64_t bits; /* the bytes, the first in the low 8 bits; of longer instructions the first 8 bytes (ntr_program_read
                    * reads the others) */
    ntr_insn insn; /* size in bytes, class, direct target */
    uint64_t reserved; /* 0 */
} ntr_instruction;

/* Makes an object; `program` must outlive it. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_instructions_new(const ntr_program *program, const ntr_allocator *allocator,
                                        ntr_instructions **out);

/* Frees the object; NULL is allowed. */
NTR_API void ntr_instructions_free(ntr_instructions *instructions);

/* Begins at the first instruction of a span. The event is copied. Other kinds of events have no instructions. */
NTR_API void ntr_instructions_begin(ntr_instructions *instructions, const ntr_event *span);

/* Reads the next instruction of the span. Returns NTR_OK with *instruction, or NTR_END when there are no more.
 * Errors: NTR_E_NO_IMAGE (no image has the bytes of the next instruction; later calls return it again),
 * NTR_E_MEMORY. */
NTR_API ntr_status ntr_instructions_next(ntr_instructions *instructions, ntr_instruction *instruction);

/* Returns a number for the images that are valid for the context and the position of the span. Spans with the same
 * address, the same number of instructions and the same view expand to the same instructions; caches can use the
 * view as a key. A number that is no longer valid is not used again. Returns 0 when there is no memory: no
 * conclusion is possible. */
NTR_API uint64_t ntr_instructions_view(ntr_instructions *instructions, const ntr_event *span);

#ifdef __cplusplus
}
#endif
#endif
