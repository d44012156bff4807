/* Object-code coverage: every instruction, both outcomes of every conditional branch, and the targets of indirect jumps
 * and calls, by function. Only functions that debug information describes are counted. Objects are not thread-safe. */
#ifndef NTRACE_OBJECT_COVERAGE_H
#define NTRACE_OBJECT_COVERAGE_H

#include <ntrace/debug_info.h>
#include <ntrace/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An instruction. Addresses are those of the file (as linked). */
typedef struct ntr_object_insn {
    uint64_t address, executed, taken, not_taken;
    uint64_t bits; /* the bytes, the first in the low 8 bits */
    const char *file; /* NULL: not known */
    uint32_t line;
    uint8_t size, flow; /* bytes; ntr_flow */
    bool other; /* a run had other bytes here: code that was changed at run time, or another build */
    uint8_t isa; /* of the instruction: the NTR_ISA_* below 1 << 8 */
} ntr_object_insn;

/* A function: its instructions are insns[0, insn_count) in address order. */
typedef struct ntr_object_function {
    const char *name, *image, *file;
    uint32_t line;
    uint64_t address, size;
    const ntr_object_insn *insns;
    size_t insn_count;
    uint64_t executed; /* instructions that were executed at least once */
    uint64_t outcomes, outcomes_seen; /* of conditional branches: two each */
} ntr_object_function;

/* A target of an indirect jump or call. */
typedef struct ntr_object_target {
    const char *image;
    uint64_t from, to, count;
    uint8_t flow; /* ntr_flow of the instruction */
    const char *symbol; /* function at the target; NULL: not known */
} ntr_object_target;

/* An instruction at an address that had several in the course of the run: code that patches itself. */
typedef struct ntr_object_version {
    uint64_t address, executed, taken, not_taken; /* `address` in the program: with load bias */
    uint64_t bits;
    uint8_t size, flow;
    uint8_t isa; /* as of ntr_object_insn */
} ntr_object_version;

typedef struct ntr_object_coverage ntr_object_coverage;

/* Makes an empty object. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_object_coverage_new(const ntr_allocator *allocator, ntr_object_coverage **out);
NTR_API void ntr_object_coverage_free(ntr_object_coverage *coverage);

/* Restricts the functions, and the targets of their jumps and calls, that are added from now on to those of sources in
 * these folders or with these names. The strings must outlive the object. `count` 0: all. */
NTR_API void ntr_object_coverage_only(ntr_object_coverage *coverage, const char *const *only, size_t count);

/* Adds one run. Images of several runs with the same name are one. The arguments are not used after the call.
 * Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_object_coverage_add(ntr_object_coverage *coverage, const ntr_program *program,
                                           ntr_debug_info *debug, ntr_tally *tally);

/* Passes the events of the run that is added next, so that code that was changed at run time is counted by version.
 * This is optional: without it, the counts of all versions of an instruction are one. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_object_coverage_feed(ntr_object_coverage *coverage, const ntr_program *program,
                                            const ntr_event *events, size_t count);

/* Returns the versions of instructions that were changed, sorted by (address, bits), also those that were never
 * executed. Valid until the next ntr_object_coverage_add. */
NTR_API const ntr_object_version *ntr_object_coverage_versions(const ntr_object_coverage *coverage, size_t *count);

/* Return the functions, sorted by (image, address), and the targets, sorted by (image, from, to). Valid until the next
 * ntr_object_coverage_add. */
NTR_API const ntr_object_function *ntr_object_coverage_functions(ntr_object_coverage *coverage, size_t *count);
NTR_API const ntr_object_target *ntr_object_coverage_targets(const ntr_object_coverage *coverage, size_t *count);

/* Returns the number of gaps in the traces: code that was executed in a gap is not counted. */
NTR_API uint64_t ntr_object_coverage_gaps(const ntr_object_coverage *coverage);

#ifdef __cplusplus
}
#endif
#endif
