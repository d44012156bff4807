#include "truth.h"
#include <stdlib.h>

enum { SYNC_EXTERNAL = 0, SYNC_RESET = 1, SYNC_DEBUG_EXIT = 3, SYNC_ENABLE = 5, SYNC_EVENT = 6 };
enum { EVCODE_DEBUG = 0, EVCODE_DISABLED = 4 };

typedef struct builder {
    gen_truth *t;
    const gen_run *run;
    const truth_options *options;
    size_t op;          /* in hand */
    bool tracing;       /* trTeInstTracing */
    bool off_pending;   /* a trigger ends tracing with this cycle */
    bool open;          /* a window is */
    uint32_t start;     /* reasons that the next start may have */
    uint32_t stood;     /* the reasons of standing still since the last block */
    uint32_t due;       /* syncs asked for */
    uint64_t time;
} builder;

static bool has_address(const ntr_ingress *in) {
    return in->iretire || in->itype == NTR_ITYPE_EXCEPTION || (in->itype && !in->no_iaddr);
}

static void *grow(void *array, size_t count, size_t size) {
    if (count >= 64 && (count & (count - 1))) return array;
    array = realloc(array, (count < 64 ? 64 : 2 * count) * size);
    if (!array) abort();
    return array;
}

static void add(builder *b, truth_item item) {
    gen_truth *t = b->t;
    item.context = t->contexts ? (uint32_t)t->contexts - 1 : 0;
    item.op = (uint32_t)b->op;
    t->item = grow(t->item, t->items, sizeof *t->item);
    t->item[t->items++] = item;
}

static void see_context(builder *b, const ntr_ingress *in) {
    gen_truth *t = b->t;
    bool virtual = in->priv >= NTR_PRIV_VU;
    truth_context now = {.prv = (uint8_t)(virtual ? in->priv - NTR_PRIV_VU : in->priv),
                         .v = virtual,
                         .scontext = in->scontext,
                         .hcontext = in->hcontext};
    const truth_context *last = t->contexts ? &t->context[t->contexts - 1] : NULL;
    if (last && last->prv == now.prv && last->v == now.v && last->scontext == now.scontext &&
        last->hcontext == now.hcontext)
        return;
    t->context = grow(t->context, t->contexts, sizeof *t->context);
    t->context[t->contexts++] = now;
}

/* Returns the address that ends a window after a trap: that of the next block that has one, because the handler's
 * address is not known before. False: the hart stands still first. */
static bool resumes(const builder *b, uint64_t *pc) {
    *pc = b->run->end;
    for (size_t i = b->op + 1; i < b->run->ops; i++) {
        const ntr_ingress *in = &b->run->op[i].block;
        if (b->run->op[i].kind != GEN_OP_BLOCK) continue;
        if (in->halted || in->reset) return false;
        if (!has_address(in)) continue;
        *pc = in->iaddr;
        return true;
    }
    return true;
}

/* A notify that waits is sent before the stop, if the encoder knows the address. */
static void close_window(builder *b, uint64_t pc, bool unsure, uint32_t evcodes) {
    if (!b->open) return;
    const uint32_t notify = b->due & (1u << SYNC_EXTERNAL | 1u << SYNC_EVENT);
    b->open = false;
    if (notify) add(b, (truth_item){.kind = TRUTH_SYNC, .pc = pc, .codes = notify, .from = b->time});
    add(b, (truth_item){.kind = TRUTH_STOP, .pc = pc, .unsure = unsure, .codes = evcodes, .from = b->time});
    b->due = 0;
}

static void open_window(builder *b, uint64_t pc) {
    b->open = true;
    add(b, (truth_item){.kind = TRUTH_START, .pc = pc, .codes = b->start | b->due, .from = b->time});
    b->due = 0;
    b->start = 1u << SYNC_ENABLE;
}

static void sync_due(builder *b, uint64_t pc) {
    if (b->due) add(b, (truth_item){.kind = TRUTH_SYNC, .pc = pc, .codes = b->due, .from = b->time});
    b->due = 0;
}

static void retire_block(builder *b, const gen_op *op) {
    for (uint32_t i = op->first; i < op->first + op->count; i++) {
        add(b, (truth_item){.kind = TRUTH_PC,
                            .pc = b->run->pc[i],
                            .from = op->block.time,
                            .uninferable = b->run->uninferable[i],
                            .halfwords = b->run->halfwords[i]});
        b->t->halfwords += b->run->halfwords[i];
    }
}

/* A trap on a handler with an unknown address is merged with the trap that led there. */
static void trap(builder *b, const gen_op *op, bool known) {
    truth_item *last = &b->t->item[b->t->items - 1];
    if (!known && last->kind == TRUTH_TRAP)
        last->codes |= 1u << op->block.itype;
    else
        add(b, (truth_item){.kind = TRUTH_TRAP,
                            .pc = op->next,
                            .codes = 1u << op->block.itype,
                            .unsure = !known,
                            .from = op->block.time});
}

/* Stands still: what is open ends here. */
static void still(builder *b, const gen_op *op) {
    const ntr_ingress *in = &op->block;
    bool other = !b->tracing || in->reset; /* reset: no EVCODE of its own */
    close_window(b, in->iaddr, in->no_iaddr || in->reset, 1u << EVCODE_DEBUG | (other ? 1u << EVCODE_DISABLED : 0));
    b->stood |= in->reset ? 1u << SYNC_RESET : 1u << SYNC_DEBUG_EXIT;
}

static void on_block(builder *b, const gen_op *op) {
    const ntr_ingress *in = &op->block;
    bool real = in->iretire || in->itype;
    bool known = has_address(in);
    if (in->cycle && b->off_pending) {
        b->tracing = false;
        b->off_pending = false;
    }
    if (in->cycle && b->options->trigger_enable) {
        b->tracing |= in->trigger & NTR_TRIGGER_ON;
        b->off_pending = in->trigger & NTR_TRIGGER_OFF;
    }
    if (in->halted || in->reset) {
        still(b, op);
        return;
    }
    if (!real) return;
    if (b->stood) b->start = b->stood | (op->qualified ? 0 : 1u << SYNC_ENABLE);
    b->stood = 0;
    if (!b->tracing || !op->qualified) {
        uint64_t pc = known ? in->iaddr : op->next; /* where the interrupt without address came */
        if (!known && b->open && b->t->item[b->t->items - 1].kind == TRUTH_TRAP && !resumes(b, &pc)) b->due = 0;
        close_window(b, pc, !known, 1u << EVCODE_DISABLED | (known ? 0 : 1u << EVCODE_DEBUG)); /* it may have to wait */
        b->start = b->tracing ? b->start | 1u << SYNC_ENABLE : 1u << SYNC_ENABLE;
        b->due = 0;
        b->time = in->time;
        return;
    }
    see_context(b, in);
    if (!b->open && known)
        open_window(b, in->iaddr);
    else if (b->open && known)
        sync_due(b, in->iaddr);
    retire_block(b, op);
    b->time = in->time;
    if (b->open && (in->itype == NTR_ITYPE_EXCEPTION || in->itype == NTR_ITYPE_INTERRUPT)) trap(b, op, known);
    if (in->trigger & NTR_TRIGGER_NOTIFY) b->due |= 1u << SYNC_EVENT;
}

static void on_control(builder *b, const gen_op *op) {
    if (op->kind == GEN_OP_TICK) return;
    if (op->kind == GEN_OP_SYNC) {
        b->due |= 1u << op->value;
        return;
    }
    if (op->kind == GEN_OP_TRIGGER && op->value & NTR_TRIGGER_NOTIFY) b->due |= 1u << 0;
    if (op->kind == GEN_OP_TRACING)
        b->tracing = op->value;
    else if (b->options->trigger_enable)
        b->tracing = (b->tracing || op->value & NTR_TRIGGER_ON) && !(op->value & NTR_TRIGGER_OFF);
}

gen_truth *truth_new(const gen_run *run, const truth_options *options) {
    gen_truth *t = calloc(1, sizeof *t);
    if (!t) abort();
    builder b = {.t = t, .run = run, .options = options, .tracing = true, .start = 1u << options->start_sync};
    for (; b.op < run->ops; b.op++)
        if (run->op[b.op].kind == GEN_OP_BLOCK)
            on_block(&b, &run->op[b.op]);
        else
            on_control(&b, &run->op[b.op]);
    close_window(&b, run->end, false, 1u << options->stop_evcode);
    return t;
}

void truth_free(gen_truth *t) {
    free(t->item);
    free(t->context);
    free(t);
}
