#include "port.h"
#include <stdlib.h>

typedef struct port {
    gen_hart *hart;
    const gen_port_options *options;
    prng random;
    gen_run *run;
    uint64_t time;
    unsigned blocks;   /* of this cycle */
    uint8_t trigger;   /* on and off, of this cycle */
    bool switched;     /* tracing has just been switched from outside: not by a trigger at once again */
    bool qualified;
    bool tracing;      /* as software last set it */
    uint8_t priv;      /* of this cycle */
    uint64_t scontext, hcontext;
    uint64_t reported_scontext, reported_hcontext; /* last given with a block */
    gen_op open;       /* block being filled; count 0: none */
} port;

static bool chance(port *p, unsigned in_thousand) {
    return in_thousand && prng_chance(&p->random, in_thousand);
}

static void *grow(void *array, size_t count, size_t size) {
    if (count >= 64 && (count & (count - 1))) return array;
    array = realloc(array, (count < 64 ? 64 : 2 * count) * size);
    if (!array) abort();
    return array;
}

static void add_op(port *p, gen_op op) {
    gen_run *r = p->run;
    r->op = grow(r->op, r->ops, sizeof *r->op);
    r->op[r->ops++] = op;
}

static void add_pc(port *p, const gen_insn *insn) {
    gen_run *r = p->run;
    r->pc = grow(r->pc, r->pcs, sizeof *r->pc);
    r->halfwords = grow(r->halfwords, r->pcs, sizeof *r->halfwords);
    r->uninferable = grow(r->uninferable, r->pcs, sizeof *r->uninferable);
    r->uninferable[r->pcs] = insn->kind >= GEN_REG_JUMP && insn->kind <= GEN_TRAP_RETURN;
    r->halfwords[r->pcs] = insn->size / 2;
    r->pc[r->pcs++] = insn->pc;
}

static void start_cycle(port *p) {
    const gen_port_options *o = p->options;
    p->time += chance(p, 20) ? prng_below(&p->random, 5000) : prng_range(&p->random, 1, 4);
    p->blocks = 0;
    p->trigger = 0;
    if (!p->switched && chance(p, o->triggers)) p->trigger |= NTR_TRIGGER_ON;
    if (!p->switched && chance(p, o->triggers)) p->trigger |= NTR_TRIGGER_OFF;
    if (chance(p, o->switches)) p->qualified = !p->qualified;
    p->priv = p->hart->priv;
    p->scontext = p->hart->scontext;
    p->hcontext = p->hart->hcontext;
}

/* Give out a block: everything but iaddr, iretire, itype and ilastsize is filled here. */
static void emit(port *p, gen_op op) {
    ntr_ingress *b = &op.block;
    b->cycle = p->blocks++ == 0;
    b->priv = p->priv;
    b->scontext = p->scontext;
    b->hcontext = p->hcontext;
    b->time = p->time;
    b->trigger = p->trigger;
    if (chance(p, p->options->notifies) && b->iretire) b->trigger |= NTR_TRIGGER_NOTIFY;
    if (b->iretire || b->itype) {
        bool changed = p->reported_scontext != p->scontext || p->reported_hcontext != p->hcontext;
        b->ctype = changed ? NTR_CTYPE_IMPRECISE : NTR_CTYPE_UNREPORTED;
        p->switched = false;
        p->reported_scontext = p->scontext;
        p->reported_hcontext = p->hcontext;
    }
    op.kind = GEN_OP_BLOCK;
    op.qualified = p->qualified;
    add_op(p, op);
}

static void close_block(port *p, unsigned itype) {
    if (p->open.count == 0) return;
    p->open.block.itype = (uint8_t)itype;
    p->open.next = p->hart->pc;
    emit(p, p->open);
    p->open = (gen_op){.count = 0};
}

static void retire(port *p, const gen_insn *insn) {
    if (p->open.count++ == 0) {
        p->open.first = p->run->pcs;
        p->open.block.iaddr = insn->pc;
    }
    p->open.block.iretire += insn->size / 2u;
    p->open.block.ilastsize = insn->size == 4;
    add_pc(p, insn);
}

/* The block's itype after this instruction; -1: it goes on. */
static int block_end(const port *p, const gen_step *step) {
    const gen_insn *insn = step->insn;
    unsigned itype = gen_itype[insn->kind];
    bool direct = insn->kind == GEN_JUMP || insn->kind == GEN_CALL || insn->kind == GEN_JUMP_LINK;
    if (insn->kind == GEN_BRANCH) return step->taken ? 5 : 4;
    if (itype == 0) return -1;
    if (p->options->itype_width == 3) return itype == 3 ? 3 : !direct ? 6 : p->options->all_jumps ? 5 : 0;
    return (int)itype;
}

/* The hart traps before the instruction at its pc: at the end of the open block or as a block of its own. */
static void trap(port *p, unsigned itype) {
    uint64_t epc = p->hart->pc;
    if (p->open.count && chance(p, 700)) {
        close_block(p, itype);
    } else {
        close_block(p, 0);
        if (p->blocks >= p->options->blocks || chance(p, 300)) start_cycle(p);
        gen_op op = {.next = epc, .first = p->run->pcs, .block = {.iaddr = epc, .itype = (uint8_t)itype}};
        if (itype == NTR_ITYPE_INTERRUPT && chance(p, p->options->no_iaddr)) {
            op.block.no_iaddr = true;
            op.block.iaddr = prng_next(&p->random);
        }
        emit(p, op);
    }
    gen_hart_trap(p->hart);
}

static void run_cycle(port *p) {
    const gen_port_options *o = p->options;
    gen_hart *h = p->hart;
    unsigned count = prng_range(&p->random, 1, o->retires);
    start_cycle(p);
    while (count-- > 0 && p->blocks < o->blocks) {
        if (chance(p, o->interrupts)) {
            trap(p, NTR_ITYPE_INTERRUPT);
            return;
        }
        if (chance(p, o->exceptions)) {
            trap(p, NTR_ITYPE_EXCEPTION);
            return;
        }
        gen_step step = gen_hart_step(h);
        if (!step.retired) {
            trap(p, NTR_ITYPE_EXCEPTION);
            return;
        }
        retire(p, step.insn);
        int itype = block_end(p, &step);
        p->open.block.sijump = step.sequential && step.insn->kind != GEN_RETURN;
        if (itype >= 0) close_block(p, (unsigned)itype);
        if (h->priv != p->priv || h->scontext != p->scontext || h->hcontext != p->hcontext) break;
    }
    close_block(p, 0);
}

static void toggle(port *p) {
    p->tracing = !p->tracing;
    p->switched = true;
    add_op(p, (gen_op){.kind = GEN_OP_TRACING, .value = p->tracing});
}

/* The hart stands still, or is reset, and goes on somewhere. */
static void stand_still(port *p, bool reset) {
    gen_hart *h = p->hart;
    for (unsigned n = prng_range(&p->random, 1, 3); n > 0; n--) {
        start_cycle(p);
        p->trigger = 0;
        emit(p, (gen_op){
                    .next = h->pc, .first = p->run->pcs, .block = {.iaddr = h->pc, .halted = !reset, .reset = reset}});
        if (chance(p, p->options->external * 10)) toggle(p);
    }
    if (reset || chance(p, 200)) gen_hart_restart(h);
}

static void outside_event(port *p) {
    const gen_port_options *o = p->options;
    static const unsigned reasons[] = {0, 2, 6, 9};
    bool ending = p->trigger & NTR_TRIGGER_OFF; /* what comes next decides whether there is a break: a block */
    if (!ending && chance(p, o->external)) {
        toggle(p);
    } else if (!ending && chance(p, o->triggers)) {
        add_op(p, (gen_op){.kind = GEN_OP_TRIGGER, .value = prng_range(&p->random, 1, 2)});
        p->switched = true;
    }
    if (chance(p, o->notifies)) add_op(p, (gen_op){.kind = GEN_OP_TRIGGER, .value = NTR_TRIGGER_NOTIFY});
    if (chance(p, o->requests)) add_op(p, (gen_op){.kind = GEN_OP_SYNC, .value = PRNG_PICK(&p->random, reasons)});
    if (chance(p, o->ticks)) add_op(p, (gen_op){.kind = GEN_OP_TICK, .value = prng_range(&p->random, 1, 200)});
    if (!ending && chance(p, o->idles)) {
        start_cycle(p);
        emit(p, (gen_op){.next = p->hart->pc, .first = p->run->pcs, .block = {.no_iaddr = true}});
    }
    if (chance(p, o->halts)) stand_still(p, false);
    if (chance(p, o->resets)) stand_still(p, true);
}

gen_run *gen_run_new(gen_hart *hart, const gen_port_options *options, prng *random) {
    gen_run *run = calloc(1, sizeof *run);
    if (!run) abort();
    port p = {.hart = hart,
              .options = options,
              .random = prng_fork(random),
              .run = run,
              .qualified = true,
              .tracing = true,
              .time = prng_next(random) >> 40};
    while (run->pcs < options->instructions && run->ops < 4 * (size_t)options->instructions) {
        outside_event(&p);
        run_cycle(&p);
    }
    run->end = hart->pc;
    return run;
}

void gen_run_free(gen_run *run) {
    free(run->op);
    free(run->pc);
    free(run->halfwords);
    free(run->uninferable);
    free(run);
}
