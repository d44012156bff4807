/* Branches and jumps to themselves: docs/dialects.md section 12.3. With `repeat_instruction` only the first execution
 * adds to I-CNT and HIST. The others are counted; the first block that is none of them sends the count as
 * RepeatInstruction.
 *
 * Invariant: `self.count` executions of the instruction at `self.address`, after those that I-CNT and HIST describe,
 * are in no message yet. Example: a branch to itself is taken three times and then not: the block of the first
 * execution adds to I-CNT and HIST, the next two are counted; the fourth is no repetition, so RepeatInstruction with
 * RCNT 2 is sent, then it adds to I-CNT.
 *
 * If a synchronizing message is due inside of such a loop, it is RepeatInstructionSync: its RCNT is one less, as it
 * leaves with the last execution, and F-ADDR is the instruction again. */
#include "encoder/state.h"

static bool is_loop_end(unsigned itype) {
    return itype == NTR_ITYPE_TAKEN || itype == NTR_ITYPE_DIRECT_JUMP || itype == NTR_ITYPE_OTHER_DIRECT;
}

static uint64_t last_instruction(const ntr_ingress *b) {
    return b->iaddr + 2 * ((uint64_t)b->iretire - (1u << b->ilastsize));
}

/* Returns whether the block is another execution of the instruction that the block before ended with. */
static bool repeats(const ntr_encoder *e, const ntr_ingress *b) {
    const self_loop *self = &e->self;
    return e->active && b->iaddr == self->address && b->iretire == self->halfwords && b->itype == self->itype &&
           b->priv == self->priv && b->ctype == NTR_CTYPE_UNREPORTED;
}

void ntr_enc_self_loop_end(ntr_encoder *e) {
    if (e->self.count) ntr_enc_send_repeat(e, NTR_ADDRESS_UNKNOWN);
    e->self = (self_loop){0};
}

bool ntr_enc_self_loop_again(ntr_encoder *e, const ntr_ingress *b) {
    const bool again = repeats(e, b), due = again && ntr_enc_sync_due(e, false);
    if (again && !due) {
        e->self.count++;
        e->self.time = e->now;
        e->stats.halfwords += b->iretire;
        if (e->tables.counters && b->itype == NTR_ITYPE_TAKEN) ntr_flow_learn(&e->tables, b->iaddr, true);
        ntr_enc_sync_progress(e, NTR_SYNC_MODE_HALFWORDS, b->iretire);
        return true;
    }
    if (due && e->self.count) {
        ntr_enc_send_repeat(e, b->iaddr);
        ntr_enc_ownership_sync(e, b);
        e->self.count = 0;
    }
    ntr_enc_self_loop_end(e);
    return false;
}

void ntr_enc_self_loop_begin(ntr_encoder *e, const ntr_ingress *b) {
    if (!e->config.repeat_instruction || !is_loop_end(b->itype)) return;
    e->self = (self_loop){.open = true,
                          .address = last_instruction(b),
                          .halfwords = (uint8_t)(1u << b->ilastsize),
                          .itype = b->itype,
                          .priv = b->priv};
}
