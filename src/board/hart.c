/* A hart that executes a list of program counters: halt, resume, single steps and breakpoints are those of a real one.
 */
#include "board/board.h"

#include "base/allocator.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { STALL_POLLS = 1 << 16 };

static ntr_status push(void *user, const ntr_ingress *block) {
    board_hart *hart = user;
    ntr_status status;
    unsigned waited = 0;
    while ((status = ntr_system_push(hart->board->system, hart->number, block)) == NTR_NEED_MORE &&
           waited++ < STALL_POLLS)
        ntr_system_step(hart->board->system, 1);
    if (status < 0)
        snprintf(hart->board->error, sizeof hart->board->error, "%s", ntr_system_error(hart->board->system));
    return NTR_OK; /* whatever the encoder does with a block, the hart goes on */
}

static unsigned itype_width(const board_hart *hart) {
    ntr_system_component one;
    for (size_t i = 0; ntr_system_component_get(hart->board->system, i, &one) == NTR_OK; i++)
        if (one.kind == NTR_COMPONENT_ENCODER && one.hart == (int)hart->number) return one.itype_width;
    return 4;
}

void board_hart_release(board_hart *hart) {
    ntr_classifier_free(hart->classifier);
    ntr_dealloc(hart->board ? hart->board->config.allocator : NULL, hart->pcs);
    hart->classifier = NULL;
    hart->pcs = NULL;
}

ntr_status board_hart_load(board_hart *hart, const uint64_t *pcs, size_t count) {
    ntr_classifier_config config;
    ntr_status status;
    board_hart_release(hart);
    ntr_classifier_config_init(&config);
    config.allocator = hart->board->config.allocator;
    config.program = hart->board->config.program;
    config.sink = push;
    config.sink_user = hart;
    config.itype_width = (uint8_t)itype_width(hart);
    hart->pcs = ntr_alloc(config.allocator, count, sizeof *pcs);
    if (!hart->pcs) return NTR_E_MEMORY;
    memcpy(hart->pcs, pcs, count * sizeof *pcs);
    status = ntr_classifier_new(&config, &hart->classifier);
    if (!hart->classifier) return status;
    hart->count = count;
    hart->at = 0;
    hart->halted = hart->board->config.halted;
    return NTR_OK;
}

uint64_t board_hart_pc(const board_hart *hart) {
    return hart->pcs ? hart->pcs[hart->at] : 0;
}

/* Tells the encoder that the hart enters Debug Mode (N-Trace: EVCODE 0). */
void board_hart_halt(board_hart *hart, unsigned cause) {
    if (hart->halted) return;
    hart->halted = true;
    hart->dcsr = (hart->dcsr & ~(7u << DCSR_CAUSE_SHIFT)) | cause << DCSR_CAUSE_SHIFT;
    if (!hart->classifier) return;
    ntr_classifier_finish(hart->classifier, NULL);
    const ntr_ingress halted = {.halted = true, .iaddr = board_hart_pc(hart), .priv = NTR_PRIV_M};
    push(hart, &halted);
}

void board_hart_resume(board_hart *hart) {
    hart->resume_ack = true;
    hart->halted = !hart->pcs;
    if (hart->halted || !(hart->dcsr & DCSR_STEP)) return;
    const bool patched = hart->board->patched;
    hart->board->patched = false; /* the instruction at a breakpoint is stepped over */
    board_hart_run(hart, 1);
    hart->board->patched = patched;
    board_hart_halt(hart, CAUSE_STEP);
}

/* Returns whether a debugger has written a breakpoint over the next instruction. */
static bool at_breakpoint(const board_hart *hart) {
    static const uint8_t ebreak[4] = {0x73, 0, 0x10, 0}, c_ebreak[2] = {0x02, 0x90};
    uint8_t bytes[4];
    const uint64_t pc = board_hart_pc(hart);
    if (!hart->board->patched || !board_memory_read(hart->board, pc, bytes, 2)) return false;
    if (memcmp(bytes, c_ebreak, sizeof c_ebreak) == 0) return true;
    return board_memory_read(hart->board, pc, bytes, 4) && memcmp(bytes, ebreak, sizeof ebreak) == 0;
}

static bool step(board_hart *hart) {
    if (ntr_classifier_push(hart->classifier, board_hart_pc(hart)) != NTR_OK) {
        snprintf(hart->board->error, sizeof hart->board->error, "hart %u: %.160s", hart->number,
                 ntr_classifier_error(hart->classifier));
        return false;
    }
    if (++hart->at < hart->count) return true;
    hart->at = 0;
    ntr_classifier_finish(hart->classifier, NULL); /* the first instruction does not follow the last one */
    ntr_system_leave(hart->board->system, hart->number, hart->pcs[0]);
    return true;
}

void board_hart_run(board_hart *hart, unsigned instructions) {
    for (unsigned i = 0; i < instructions && !hart->halted; i++) {
        if (at_breakpoint(hart))
            board_hart_halt(hart, CAUSE_EBREAK);
        else if (!step(hart))
            hart->halted = true;
    }
}
