/* Instructions: the retired instructions of a span, one by one. N-Trace 1.0 section 14 (output of a decoder).
 *
 * A span event says where straight-line code was executed and how many instructions it was; the program holds their
 * bytes. An ntr_instructions reads them as the span's context sees them at the span's position in the stream:
 *
 *     ntr_instruction i;
 *     ntr_instructions_begin(instructions, &event);
 *     while ((status = ntr_instructions_next(instructions, &i)) == NTR_OK)
 *         ... i.address, i.bits, i.insn.size, i.insn.flow, event.context, event.time
 *
 * Context and source are the same for all instructions of a span. The time of a span is that of the message that
 * reported it: the instructions were executed between it and the time of the message before.
 *
 * What a span expands to is cached, so that code that runs often is decoded once. Memory is bounded (at most 12 MiB) and
 * does not depend on the length of spans. The cache follows images that come and go with the position, images that are
 * added, and ntr_program_set_reader.
 *
 * One thread at a time; threads that decode in parallel have one object each over the same program. */
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
    uint64_t bits; /* its bytes, the first one least significant; of more than 8 bytes the first 8 (ntr_program_read has
                    * the others) */
    ntr_insn insn; /* size in bytes, class, direct target */
    uint64_t reserved; /* 0 */
} ntr_instruction;

/* `program` must outlive the object. NULL when out of memory. */
NTR_API ntr_instructions *ntr_instructions_new(const ntr_program *program, const ntr_allocator *allocator);
NTR_API void ntr_instructions_free(ntr_instructions *instructions);

/* Begin at the first instruction of a span. The event is copied. Other kinds of events have no instructions. */
NTR_API void ntr_instructions_begin(ntr_instructions *instructions, const ntr_event *span);

/* The next instruction of the span. NTR_OK: *instruction is filled. NTR_END: there are no more.
 * Errors: NTR_E_NO_IMAGE (the program does not have the bytes of the next instruction; sticky), NTR_E_MEMORY. */
NTR_API ntr_status ntr_instructions_next(ntr_instructions *instructions, ntr_instruction *instruction);

/* A number for what the context of a span sees at the position of the span. Spans of the same address and number of
 * instructions expand to the same when their numbers are equal: a key for caches of what is made of instructions. A
 * number that is no longer valid is not given again. 0: out of memory; then nothing is known. */
NTR_API uint64_t ntr_instructions_view(ntr_instructions *instructions, const ntr_event *span);

#ifdef __cplusplus
}
#endif
#endif
