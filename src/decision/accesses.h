/* Loads and stores of a trace, given to the instructions that made them.
 *
 * A data message does not say which instruction made the access. Accesses are in the order of execution, each before
 * the message of its instruction, so they are given to loads and stores in order. Each must have the size, the
 * direction and, where it is known, the address of its instruction; registers have known values after an instruction
 * that computes them from known values (values.h). When an access does not fit, `refused` is set: nothing is known from
 * there on. With vector instructions nothing is known either. */
#ifndef NTR_DECISION_ACCESSES_H
#define NTR_DECISION_ACCESSES_H

#include "decision/code_map.h"
#include "decision/values.h"

/* What an instruction does with memory. */
typedef enum ntr_access_kind {
    NTR_ACCESS_NONE,
    NTR_ACCESS_LOAD,
    NTR_ACCESS_STORE,
    NTR_ACCESS_ATOMIC,
    NTR_ACCESS_OTHER, /* accesses that are not known, as those of vector instructions */
} ntr_access_kind;

/* An instruction that was decoded. */
typedef struct ntr_access_insn {
    uint64_t address;
    uint32_t bits; /* expanded; 0: only its access is known */
    uint8_t size;
    uint8_t access, bytes, base, reg; /* ntr_access_kind; reg: 0 for registers of floating-point numbers */
    int16_t offset;
} ntr_access_insn;

typedef struct ntr_memory_access {
    uint64_t address, value;
    uint8_t bytes;
    bool store, located; /* `address` is known */
} ntr_memory_access;

typedef struct ntr_accesses {
    const ntr_allocator *allocator;
    ntr_values values;
    ntr_memory_access *queue; /* accesses that no instruction has taken: from `first` to before `count` */
    size_t first, count, capacity;
    bool refused;
} ntr_accesses;

/* Sets what an instruction of `size` bytes, of which `raw` are the first four, does. `address` and `size` are given. */
void ntr_access_insn_decode(ntr_access_insn *insn, uint32_t raw, unsigned xlen);

/* Adds an event of kind NTR_EVENT_ACCESS. Errors: NTR_E_MEMORY. */
ntr_status ntr_accesses_add(ntr_accesses *a, const ntr_event *event);

/* Executes an instruction. Its accesses are those of the queue between `first` before the call and `first` after it. */
void ntr_accesses_execute(ntr_accesses *a, const ntr_access_insn *insn);

/* No register has a known value any more. */
void ntr_accesses_forget(ntr_accesses *a);

#endif
