#include "hart.h"
#include <ntrace/ingress.h>
#include <stdlib.h>
#include <string.h>

static uint64_t some_entry(gen_hart *h) {
    return h->graph->insn[h->graph->function[prng_below(&h->random, h->graph->functions)].first].pc;
}

static uint64_t some_place(gen_hart *h, const gen_insn *from) {
    const gen_function *f = &h->graph->function[from->function];
    unsigned choice = prng_below(&h->random, 10);
    if (choice < 7) return h->graph->insn[f->first + prng_below(&h->random, f->count)].pc;
    return choice < 9 ? some_entry(h) : h->graph->insn[prng_below(&h->random, h->graph->insns)].pc;
}

gen_hart *gen_hart_new(const gen_graph *graph, const gen_hart_options *options, prng *random) {
    gen_hart *h = calloc(1, sizeof *h);
    if (!h) abort();
    *h = (gen_hart){.graph = graph, .options = *options, .random = prng_fork(random), .priv = NTR_PRIV_M};
    h->left = calloc(graph->insns, sizeof *h->left);
    if (!h->left) abort();
    h->pc = some_entry(h);
    return h;
}

void gen_hart_free(gen_hart *h) {
    free(h->stack);
    free(h->left);
    free(h);
}

static void push(gen_hart *h, uint64_t address) {
    if (h->depth == h->capacity) {
        h->capacity = h->capacity ? 2 * h->capacity : 64;
        h->stack = realloc(h->stack, h->capacity * sizeof *h->stack);
        if (!h->stack) abort();
    }
    h->stack[h->depth++] = address;
}

static bool decide(gen_hart *h, const gen_insn *insn) {
    uint32_t *left = &h->left[insn - h->graph->insn];
    prng *r = &h->random;
    switch (insn->pattern) {
    case GEN_NEVER: return false;
    case GEN_RARELY: return prng_chance(r, 60);
    case GEN_EVENLY: return prng_chance(r, 500);
    case GEN_MOSTLY: return prng_chance(r, 940);
    case GEN_ALWAYS: return true;
    case GEN_ALTERNATE: return ++*left & 1;
    case GEN_EVERY_THIRD: return ++*left % 3 == 0;
    default: break;
    }
    if (*left == 0)
        *left =
            1 + (insn->pattern == GEN_LOOP ? prng_below(r, 12) : prng_range(r, 30, prng_chance(r, 100) ? 4000 : 300));
    return --*left > 0;
}

/* Could a return to `target` be taken for one to `right` by those who look at some bits only? */
static bool alike(const gen_hart *h, uint64_t target, uint64_t right) {
    uint64_t mask = h->options.compare_bits ? ((UINT64_C(1) << h->options.compare_bits) - 1) << 1 : UINT64_MAX;
    return target != right && ((target ^ right) & mask) == 0;
}

static bool pops(const gen_insn *insn) {
    return insn->kind == GEN_RETURN || insn->kind == GEN_SWAP;
}

static uint64_t register_target(gen_hart *h, const gen_insn *insn, bool sequential) {
    if (insn->has_target && (sequential || (h->options.wrong_returns && prng_chance(&h->random, 700))))
        return insn->target;
    if (pops(insn) && h->depth && !(h->options.wrong_returns && prng_chance(&h->random, 40)))
        return h->stack[h->depth - 1];
    return insn->kind == GEN_REG_CALL && !prng_chance(&h->random, 100) ? some_entry(h) : some_place(h, insn);
}

static uint8_t some_level(gen_hart *h, bool handlers) {
    static const uint8_t levels[] = {NTR_PRIV_M, NTR_PRIV_S, NTR_PRIV_U, NTR_PRIV_VS, NTR_PRIV_VU};
    unsigned count = h->options.hypervisor ? 5 : h->options.supervisor ? 3 : 1;
    uint8_t level = levels[prng_below(&h->random, count)];
    bool user = level == NTR_PRIV_U || level == NTR_PRIV_VU;
    return user && handlers ? NTR_PRIV_M : level;
}

static uint64_t leave_trap(gen_hart *h, const gen_insn *insn) {
    if (h->frames == 0) {
        h->priv = some_level(h, false);
        return some_place(h, insn);
    }
    gen_trap_frame frame = h->frame[--h->frames];
    const gen_insn *back = gen_graph_at(h->graph, frame.epc);
    bool skip = back->kind == GEN_ECALL || back->kind == GEN_EBREAK || prng_chance(&h->random, 100);
    h->priv = frame.priv;
    if (skip && gen_graph_at(h->graph, frame.epc + back->size)) return frame.epc + back->size;
    return prng_chance(&h->random, 30) ? some_place(h, insn) : frame.epc;
}

static uint64_t successor(gen_hart *h, gen_step *step, bool *impossible) {
    const gen_insn *insn = step->insn;
    uint64_t link = insn->pc + insn->size, target;
    switch ((gen_kind)insn->kind) {
    case GEN_BRANCH: step->taken = decide(h, insn); return step->taken ? insn->target : link;
    case GEN_JUMP:
    case GEN_JUMP_LINK: return insn->target;
    case GEN_CALL: push(h, link); return insn->target;
    case GEN_REG_JUMP:
    case GEN_REG_LINK:
    case GEN_REG_CALL:
    case GEN_SWAP:
    case GEN_RETURN:
        target = register_target(h, insn, step->sequential);
        *impossible = pops(insn) && h->depth && alike(h, target, h->stack[h->depth - 1]);
        if (*impossible) return insn->pc;
        if (pops(insn) && h->depth) h->depth--;
        if (insn->kind == GEN_REG_CALL || insn->kind == GEN_SWAP) push(h, link);
        return target;
    case GEN_TRAP_RETURN: return leave_trap(h, insn);
    case GEN_SCONTEXT:
        h->scontext = prng_below(&h->random, 4) ? prng_below(&h->random, 8) : prng_next(&h->random) >> 32;
        break;
    case GEN_HCONTEXT: h->hcontext = prng_below(&h->random, 4); break;
    default: break;
    }
    return link;
}

static bool register_jump(const gen_insn *insn) {
    return insn->kind == GEN_REG_JUMP || insn->kind == GEN_REG_LINK || insn->kind == GEN_REG_CALL ||
           insn->kind == GEN_SWAP || insn->kind == GEN_RETURN;
}

gen_step gen_hart_step(gen_hart *h) {
    const gen_insn *insn = gen_graph_at(h->graph, h->pc);
    if (!insn) abort(); /* the generator's own mistake */
    gen_step step = {.insn = insn};
    bool impossible = insn->kind == GEN_ECALL || insn->kind == GEN_EBREAK;
    if (impossible) return step;
    step.sequential = register_jump(insn) && h->before && h->before->kind == GEN_SET && h->before->rd == insn->rs;
    uint64_t next = successor(h, &step, &impossible);
    step.retired = !impossible;
    if (step.retired) {
        h->pc = next;
        h->before = insn;
    }
    return step;
}

void gen_hart_trap(gen_hart *h) {
    if (h->frames == GEN_TRAPS_MAX) /* the oldest is forgotten */
        memmove(h->frame, h->frame + 1, --h->frames * sizeof *h->frame);
    h->frame[h->frames++] = (gen_trap_frame){h->pc, h->priv};
    h->priv = some_level(h, true);
    h->before = NULL;
    for (unsigned tries = 0; tries < 4; tries++) {
        const gen_function *f = &h->graph->function[prng_below(&h->random, h->graph->functions)];
        h->pc = h->graph->insn[f->first].pc;
        if (f->handler) break;
    }
}

void gen_hart_restart(gen_hart *h) {
    h->pc = some_entry(h);
    h->before = NULL;
}
