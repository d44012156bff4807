/* Instructions that switch interrupts or preemption off and on, found in the code that is executed.
 *
 * Idea: code is looked at once, when a span executes it first. A bitmap for each page has the instructions that matter,
 * so that a span without them costs a few comparisons. Where the code of a page changes (a module of the kernel that is
 * loaded where another one was), it is looked at again.
 *
 *   csrci sstatus, 2           off                      csrsi sstatus, 2           on
 *   csrrci a0, sstatus, 2      off; a0 has the state    andi a0, a0, 2
 *                                                       csrs sstatus, a0           as it was
 *
 * Machine mode has the same with mstatus and bit 3. A csrs of another register is one of a state that was kept, unless
 * the code in front of it shows the value. Preemption: Linux counts in thread_info.preempt_count, which is at 8(tp),
 * RV32 4(tp): `lw a5, 8(tp)`, `addiw a5, a5, 1`, `sw a5, 8(tp)`. */
#ifndef NTR_ANALYSIS_CODE_MARKS_H
#define NTR_ANALYSIS_CODE_MARKS_H

#include "analysis/mask_code.h"

#include <ntrace/event.h>
#include <ntrace/program.h>

typedef struct ntr_code_mark {
    uint64_t address;
    uint32_t instructions; /* of the span, up to this one, with those that are joined to it */
    uint8_t action;        /* ntr_code_action */
    int16_t value;
} ntr_code_mark;

typedef struct ntr_code_marks ntr_code_marks;

/* Returns NULL when out of memory. `program` must outlive it. */
ntr_code_marks *ntr_code_marks_new(const ntr_program *program, const ntr_allocator *allocator);
void ntr_code_marks_free(ntr_code_marks *marks);

typedef void (*ntr_code_mark_take)(void *user, const ntr_code_mark *mark);

/* Calls `take` for each mark in a span of S or M mode. Returns false when out of memory. */
bool ntr_code_marks_span(ntr_code_marks *marks, const ntr_event *span, ntr_code_mark_take take, void *user);

#endif
