#include "oracle.h"
#include "parse.h"
#include <stdlib.h>
#include <string.h>

/* Maximum number of halfwords accepted in one message, so that damage cannot cause an endless walk. */
#define HALFWORDS_MAX (UINT64_C(1) << 34)

typedef struct run { /* `count` branch outcomes, oldest in the highest bit, `times` over */
    uint64_t outcomes, times;
    unsigned count;
    bool predicted; /* `times` outcomes, all but the last one as predicted */
} run;

/* The state of one source. Section 14, "State per SRC". */
typedef struct source {
    unsigned id;
    bool synced, htm; /* htm: history has been seen */
    uint64_t pc, ref;
    uint64_t data_ref; /* address of the data message before */
    uint64_t icnt; /* pool of ResourceFull RCODE 0 */
    run *runs; /* pending history; the next outcome is bit `run_bit` of repetition `run_time` of runs[run_at] */
    size_t run_count, run_at;
    unsigned run_bit;
    uint64_t run_time;
    uint64_t *stack;
    size_t depth;
    bool can_repeat;
    oracle_message branch; /* for RepeatBranch */
    bool has_time;
    uint64_t time;
    ntr_context context;
    unsigned char counter[1 << 15]; /* of the branch predictor ... */
    uint64_t cached[1 << 15];       /* ... and targets of the cache, plus 1 (dialects, section 12) */
} source;

typedef struct oracle {
    oracle_options options;
    const ntr_params *params;
    const ntr_dialect *dialect;
    const oracle_message *message;
    source *sources;
} oracle;

static void report(oracle *o, const source *s, oracle_event event) {
    event.src = s->id;
    event.offset = o->message->offset;
    event.has_time = s->has_time;
    event.time = s->time;
    event.context = s->context;
    o->options.report(o->options.user, &event);
}

static void reset_tables(source *s) {
    memset(s->counter, 1, sizeof s->counter);
    memset(s->cached, 0, sizeof s->cached);
}

/* The place of a target in the cache: XOR of slices, from bit 2 up. */
static uint64_t cache_place(const oracle *o, uint64_t target) {
    uint64_t place = 0;
    unsigned end = o->params->xlen == 32 ? 26 : 64, bits = o->params->jump_cache;
    for (unsigned bit = 2; bit < end; bit++) place ^= (target >> bit & 1u) << ((bit - 2) % bits);
    return place;
}

static void forget_pending(source *s) {
    s->run_count = s->run_at = s->run_bit = 0;
    s->run_time = s->icnt = 0;
}

static void forget_flow(source *s) {
    forget_pending(s);
    s->depth = 0;
    s->can_repeat = false;
}

static void lose(oracle *o, source *s, ntr_status reason) {
    if (s->synced)
        report(o, s,
               (oracle_event){.kind = ORACLE_LOST, .reason = reason, .known = true, .pc = s->pc, .pool = s->icnt});
    s->synced = false;
    forget_flow(s);
}

/* Room for one more than `count`: arrays double when `count` is a power of two. */
static void *grow(void *array, size_t count, size_t size) {
    if ((count & (count - 1)) == 0) array = realloc(array, (count ? 2 * count : 1) * size);
    if (!array) abort();
    return array;
}

static void add_run(source *s, uint64_t outcomes, unsigned count, uint64_t times) {
    if (count == 0) return;
    s->htm = true;
    s->runs = grow(s->runs, s->run_count, sizeof *s->runs);
    s->runs[s->run_count++] = (run){outcomes, times, count, false};
}

static void add_hist(source *s, uint64_t hist, uint64_t times) {
    add_run(s, hist, 63u - (unsigned)__builtin_clzll(hist), times);
}

static void add_prediction(source *s, uint64_t branches) {
    add_run(s, 0, 1, branches);
    s->runs[s->run_count - 1].predicted = true;
}

static unsigned char *counter_of(const oracle *o, source *s) {
    return &s->counter[s->pc / 4 % (UINT64_C(1) << o->params->branch_predictor)];
}

static bool take_outcome(const oracle *o, source *s) {
    const run *r = &s->runs[s->run_at];
    if (r->predicted) {
        bool last = ++s->run_time == r->times;
        s->run_time = last ? 0 : s->run_time;
        s->run_at += last;
        return (*counter_of(o, s) > 1) != last;
    }
    bool taken = r->outcomes >> (r->count - 1 - s->run_bit) & 1u;
    if (++s->run_bit < r->count) return taken;
    s->run_bit = 0;
    s->run_time = (s->run_time + 1) % r->times;
    s->run_at += s->run_time == 0;
    return taken;
}

static void push(oracle *o, source *s, uint64_t address) {
    if (o->params->implicit_return == NTR_RETURN_OFF) return;
    if (o->params->return_stack && s->depth == o->params->return_stack)
        memmove(s->stack, s->stack + 1, --s->depth * sizeof *s->stack); /* the oldest entry is removed */
    s->stack = grow(s->stack, s->depth, sizeof *s->stack);
    s->stack[s->depth++] = address;
}

/* The state of a walk. */
typedef struct walk {
    uint64_t left;      /* halfwords */
    bool last;          /* the current instruction is the last one */
    bool direct_branch; /* DirectBranch(Sync): the last instruction is a taken branch */
    bool addressed;     /* the message has the target of an uninferable jump at its end */
    bool guessed;       /* ended on a branch without outcome */
    bool branched;      /* ended on something a DirectBranch can end on */
    bool unknown;       /* ended on an uninferable jump: the next PC is not known from the walk */
    uint64_t constant;  /* the value that the previous instruction wrote ... */
    int constant_rd;    /* ... into this register; -1: nothing */
} walk;

/* 1.0: without outcome a branch is not taken (OQ-9); other encoders always send it. */
static ntr_status branch(oracle *o, source *s, walk *w, uint64_t target, uint64_t *next) {
    bool has_outcome = s->run_at < s->run_count;
    w->branched = w->last;
    if (o->params->branch_predictor) {
        unsigned char *counter = counter_of(o, s);
        bool taken = has_outcome ? take_outcome(o, s) : *counter > 1;
        *counter = (unsigned char)(taken ? (*counter < 3 ? *counter + 1 : 3) : (*counter > 0 ? *counter - 1 : 0));
        *next = taken ? target : *next;
        return NTR_OK;
    }
    w->guessed = w->last && !has_outcome;
    if (!has_outcome && s->htm && o->dialect->history_whole && !(w->last && w->addressed)) return NTR_E_HIST_SHORT;
    if (has_outcome ? take_outcome(o, s) : w->last && w->direct_branch) *next = target;
    return NTR_OK;
}

static ntr_status direct_jump(oracle *o, source *s, walk *w, uint64_t target, uint64_t *next) {
    *next = target;
    w->branched = w->last && (o->params->all_jumps || o->dialect->branch_on_jump);
    if (o->params->all_jumps && s->run_at < s->run_count && !take_outcome(o, s)) return NTR_E_NO_LANDING;
    return NTR_OK;
}

/* A register jump, `popped` if the return stack gave an address for it. */
static ntr_status register_jump(oracle *o, walk *w, const ntr_insn *insn, const uint64_t *popped, bool return_like,
                                uint64_t *next) {
    bool sequential = o->params->sequential_jump && insn->flow != NTR_FLOW_TRAP_RETURN &&
                      insn->flow != NTR_FLOW_RETURN && insn->rs1 != 0 && w->constant_rd == insn->rs1;
    if (w->last && w->addressed)
        w->unknown = true; /* ... but the message has it */
    else if (sequential)
        *next = (w->constant + (uint64_t)(int64_t)insn->immediate) & ~UINT64_C(1);
    else if (popped)
        *next = *popped;
    else if (w->last)
        w->unknown = true;
    else if (return_like)
        return NTR_E_RETURN_STACK;
    else if (!o->dialect->jalr_to_next_silent)
        return NTR_E_UNEXPECTED_INDIRECT;
    return NTR_OK;
}

static ntr_status step(oracle *o, source *s, walk *w) {
    ntr_insn insn;
    ntr_status status =
        ntr_program_insn(o->options.program, ntr_place_at(&s->context, o->message->offset, s->pc), &insn);
    if (status) return status;
    if (insn.size / 2u > w->left) return NTR_E_ICNT_SPLITS;
    w->left -= insn.size / 2u;
    w->last = w->left == 0;
    uint64_t link = s->pc + insn.size, next = link, popped = 0;
    bool swap = insn.flow == NTR_FLOW_CO_SWAP && !o->dialect->swap_is_call;
    bool pops = o->params->implicit_return && (insn.flow == NTR_FLOW_RETURN || swap);
    bool has_popped = pops && s->depth > 0;
    if (has_popped) popped = s->stack[--s->depth];
    if (insn.flow == NTR_FLOW_DIRECT_CALL || insn.flow == NTR_FLOW_INDIRECT_CALL || insn.flow == NTR_FLOW_CO_SWAP)
        push(o, s, link);

    if (insn.flow == NTR_FLOW_BRANCH)
        status = branch(o, s, w, insn.target, &next);
    else if (insn.flow == NTR_FLOW_DIRECT_JUMP || insn.flow == NTR_FLOW_DIRECT_CALL)
        status = direct_jump(o, s, w, insn.target, &next);
    else if (insn.flow != NTR_FLOW_LINEAR && insn.flow != NTR_FLOW_TRAP)
        status = register_jump(o, w, &insn, has_popped ? &popped : NULL, pops, &next);
    if (status != NTR_E_HIST_SHORT) report(o, s, (oracle_event){.kind = ORACLE_PC, .known = true, .pc = s->pc});
    w->constant = insn.target;
    w->constant_rd = insn.sets_constant ? insn.rd : -1;
    s->pc = o->params->xlen == 32 ? (uint32_t)next : next;
    return status;
}

/* Walk the pool and this message's I-CNT, with the pending history. */
static ntr_status walk_icnt(oracle *o, source *s, const oracle_message *m, walk *w) {
    uint64_t total = s->icnt + m->field['i'];
    *w = (walk){.left = total, .direct_branch = m->tcode == 3 || m->tcode == 11, .constant_rd = -1};
    w->addressed = (m->has['s'] || m->has['u']) && m->field['b'] == 0;
    if (total > HALFWORDS_MAX) return NTR_E_LIMIT;
    while (w->left) {
        ntr_status status = step(o, s, w);
        if (status) return status;
    }
    if (s->run_at < s->run_count) {
        if (m->has['h'] || m->has['H']) return NTR_E_HIST_LEFT;
        report(o, s, (oracle_event){.kind = ORACLE_NOTE, .reason = NTR_E_HIST_LEFT, .known = true, .pc = s->pc});
    }
    forget_pending(s);
    return NTR_OK;
}

/* The stream ends: the last ResourceFull messages are the only source for the rest. */
static void walk_rest(oracle *o, source *s) {
    walk w = {.constant_rd = -1};
    uint64_t left = s->icnt, most = HALFWORDS_MAX;
    while (s->synced && (left || s->run_at < s->run_count)) {
        uint64_t now = w.left = s->run_at < s->run_count ? most : left; /* history counts even beyond I-CNT */
        if (step(o, s, &w)) return;
        left -= left < now - w.left ? left : now - w.left;
    }
}

/* Dialects with a fixed address width extend the whole address (section 1 of the dialects). */
static uint64_t full_address(const oracle *o, uint64_t address) {
    unsigned bits = o->params->addr_bits ? o->params->addr_bits : o->dialect->addr_bits, unused = bits ? 64u - bits : 0;
    address = (uint64_t)((int64_t)(address << unused) >> unused);
    return o->params->xlen == 32 ? (uint32_t)address : address;
}

/* The instruction at the PC, which branches or jumps to itself, `times` more times (docs/dialects.md section 12.3).
 * With `leaving`, the last time it goes to that address. */
static ntr_status loop_at_self(oracle *o, source *s, uint64_t times, const uint64_t *leaving) {
    ntr_status status = NTR_OK;
    for (uint64_t i = 0; i < times && status == NTR_OK; i++) {
        ntr_insn insn;
        uint64_t self = s->pc;
        bool leaves = leaving && i + 1 == times && *leaving != self;
        status = ntr_program_insn(o->options.program, ntr_place_at(&s->context, o->message->offset, self), &insn);
        if (status) return status;
        walk w = {.left = insn.size / 2u, .constant_rd = -1};
        if (insn.flow == NTR_FLOW_BRANCH) add_run(s, !leaves, 1, 1);
        status = step(o, s, &w);
        if (status == NTR_OK && !leaves && s->pc != self) status = NTR_E_NO_LANDING;
        forget_pending(s);
    }
    return status;
}

static void on_self_loop(oracle *o, source *s, const oracle_message *m) {
    walk w;
    ntr_status status = walk_icnt(o, s, m, &w);
    if (status == NTR_OK) status = loop_at_self(o, s, m->field['q'], NULL);
    if (status) lose(o, s, status);
}

static void on_branch(oracle *o, source *s, const oracle_message *m) {
    walk w;
    ntr_status status = walk_icnt(o, s, m, &w);
    if (status || (m->tcode == 3 && !w.branched)) {
        lose(o, s, status ? status : NTR_E_NO_LANDING);
        return;
    }
    if (m->field['b'])
        report(o, s,
               (oracle_event){.kind = ORACLE_TRAP, .known = !w.unknown, .pc = s->pc, .code = (unsigned)m->field['b']});
    if (m->has['u']) s->pc = s->ref = full_address(o, o->params->no_addr_diff ? m->field['u'] : s->ref ^ m->field['u']);
    if (o->params->jump_cache && m->tcode == 28 && !m->field['b']) s->cached[cache_place(o, s->pc)] = s->pc + 1;
    if (m->has['j'] && (!o->params->jump_cache || m->field['j'] >> o->params->jump_cache || !s->cached[m->field['j']]))
        lose(o, s, NTR_E_FIELD_VALUE);
    else if (m->has['j'])
        s->pc = s->ref = s->cached[m->field['j']] - 1;
}

static void on_sync(oracle *o, source *s, const oracle_message *m) {
    uint64_t address = full_address(o, m->field['f']);
    if (s->synced) {
        walk w;
        ntr_status status = walk_icnt(o, s, m, &w);
        if (status == NTR_OK && m->has['q']) status = loop_at_self(o, s, m->field['q'] + 1, &address);
        unsigned btype = (unsigned)m->field['b'], sync = (unsigned)m->field['s'];
        if (status)
            lose(o, s, status);
        else if (btype)
            report(o, s, (oracle_event){.kind = ORACLE_TRAP, .known = !w.unknown, .pc = s->pc, .code = btype});
        else if (!w.unknown && !w.guessed && s->pc != address && sync != 1 && sync != 9)
            report(o, s,
                   (oracle_event){.kind = ORACLE_NOTE, .reason = NTR_E_ADDRESS_MISMATCH, .known = true, .pc = s->pc});
    }
    forget_flow(s);
    unsigned reason = (unsigned)m->field['s'];
    if (reason == 1 || reason == 3 || reason == 5 || reason == 7 || reason == 9) reset_tables(s);
    s->synced = true;
    s->pc = s->ref = address;
    report(o, s, (oracle_event){.kind = ORACLE_SYNC, .known = true, .pc = address, .code = (unsigned)m->field['s']});
}

static void on_resource_full(oracle *o, source *s, const oracle_message *m) {
    unsigned rcode = (unsigned)m->field['r'];
    uint64_t data = m->field['d'];
    if (rcode == 0)
        s->icnt += data;
    else if (rcode <= 2)
        add_hist(s, data, rcode == 2 ? m->field['D'] : 1);
    else if ((rcode == 8 || rcode == 9) && data && o->dialect->rcode_counts)
        add_run(s, rcode & 1u, 1, data);
    else
        lose(o, s, NTR_E_FIELD_VALUE);
}

static void on_repeat(oracle *o, source *s, const oracle_message *m) {
    if (!s->can_repeat) lose(o, s, NTR_E_REPEAT);
    oracle_message again = s->branch;
    uint64_t target = s->pc; /* "same I-CNT, HIST and target address" */
    if (again.has['u'] && !o->dialect->repeat_xors && !o->params->no_addr_diff)
        again.field['u'] = 0; /* the same target each time (OQ-1) */
    for (uint64_t i = 0; i < m->field['n'] && s->synced; i++) {
        if (again.has['h']) add_hist(s, again.field['h'], 1);
        on_branch(o, s, &again);
        if (s->synced && s->pc != target && !o->dialect->repeat_xors) lose(o, s, NTR_E_ADDRESS_MISMATCH);
    }
}

static void on_stop(oracle *o, source *s, const oracle_message *m) {
    walk w = {.unknown = true};
    if (s->synced) {
        ntr_status status = walk_icnt(o, s, m, &w);
        if (status || w.unknown) {
            lose(o, s, status ? status : NTR_E_NO_ADDRESS);
            w.unknown = true;
        }
        /* the encoder did not know the target of the jump before (dialects, section 6.6) */
        const oracle_message *jump = &s->branch;
        if (o->dialect->stop_hides_target && s->can_repeat && jump->has['u'] && !jump->field['u'] &&
            !jump->field['b'] && !m->field['i'] && m->field['H'] <= 1)
            w.unknown = true;
    }
    reset_tables(s);
    report(o, s,
           (oracle_event){.kind = ORACLE_STOP, .known = !w.unknown, .pc = s->pc, .code = (unsigned)m->field['v']});
    s->synced = false;
    forget_flow(s);
}

static void on_ownership(oracle *o, source *s, const oracle_message *m) {
    uint64_t process = m->field['p'];
    s->context.prv = process >> 2 & 3u;
    s->context.v = process >> 4 & 1u;
    bool context0 = (process & 3u) == 0 && o->dialect->context0 == NTR_CONTEXT0_SCONTEXT;
    if ((process & 3u) == 2 || context0) {
        s->context.scontext = process >> 5;
        s->context.has_scontext = true;
    } else if ((process & 3u) == 3) {
        s->context.hcontext = process >> 5;
        s->context.has_hcontext = true;
    }
    report(o, s, (oracle_event){.kind = ORACLE_CONTEXT, .code = process & 3u});
}

/* In-circuit trace moves the address reference (dialects, section 2.3). */
static void on_ict(oracle *o, source *s, const oracle_message *m) {
    if ((m->field['k'] || m->field['l']) && m->field['k'] != 12) /* else it carries no address */
        s->ref = full_address(o, m->tcode == 35 ? m->field['y'] : s->ref ^ m->field['y']);
}

/* Section 7.4; the XOR form: dialects, section 1.1. */
static void take_time(const oracle *o, source *s, const oracle_message *m) {
    unsigned rule = o->params->ts_rule ? o->params->ts_rule : o->dialect->ts_rule;
    if (rule == NTR_TS_RULE_ABSOLUTE) {
        s->time = m->has['t'] ? m->field['t'] : s->time;
        s->has_time |= m->has['t'];
        return;
    }
    bool sync = m->has['s'] || m->tcode == 35 || (m->has['a'] && m->tcode >= 13), xored = rule == NTR_TS_RULE_XOR;
    unsigned width = o->params->ts_width;
    bool wraps = width && width < 64;
    uint64_t stamp = m->field['t'], old = s->has_time ? s->time : 0, high = wraps ? old >> width << width : 0;
    if (!m->has['t']) {
        s->has_time = s->has_time && (!sync || xored);
        return;
    }
    if (!sync && !s->has_time) return;
    s->time = sync ? high + stamp : xored ? old ^ stamp : old + stamp;
    if (wraps && s->time < old) s->time += UINT64_C(1) << width;
    s->has_time = !xored || s->time;
}

/* DataWrite and DataRead have an XOR: encoders of this library send the full address first (docs/dialects.md
 * section 5.1). */
static void on_access(oracle *o, source *s, const oracle_message *m) {
    uint64_t mask = o->params->xlen == 32 ? UINT32_MAX : UINT64_MAX;
    s->data_ref = (m->tcode >= 13 ? m->field['a'] : s->data_ref ^ m->field['a']) & mask;
    report(o, s,
           (oracle_event){.kind = ORACLE_ACCESS,
                          .known = true,
                          .pc = s->data_ref,
                          .code = m->tcode == 5 || m->tcode == 13,
                          .size = (unsigned)m->field['g'],
                          .data = m->field['o']});
}

static void on_message(oracle *o, source *s, const oracle_message *m) {
    bool branch = m->tcode == 3 || m->has['u'] || m->has['j'];
    if (m->tcode != 30) /* its own time passes after its repetitions (OQ-23) */
        take_time(o, s, m);
    if (s->synced && (m->has['h'] || m->has['H'])) add_hist(s, m->field['h'] | m->field['H'], 1);
    switch (m->tcode) {
    case 2: on_ownership(o, s, m); break;
    case 8:
        report(o, s, (oracle_event){.kind = ORACLE_OVERFLOW, .code = (unsigned)m->field['E']});
        lose(o, s, NTR_E_OVERFLOW);
        reset_tables(s);
        break;
    case 33: on_stop(o, s, m); break;
    case 34: /* fallthrough */
    case 35: on_ict(o, s, m); break;
    default:
        if (m->has['s'])
            on_sync(o, s, m);
        else if (m->has['a'])
            on_access(o, s, m);
        else if (s->synced && branch)
            on_branch(o, s, m);
        else if (s->synced && m->has['q'])
            on_self_loop(o, s, m);
        else if (s->synced && m->tcode == 27)
            on_resource_full(o, s, m);
        else if (s->synced && m->tcode == 30)
            on_repeat(o, s, m);
        else if (s->synced && m->tcode == 56 && m->has['n'])
            add_prediction(s, m->field['n'] + 1);
    }
    if (m->tcode == 30)
        take_time(o, s, m);
    else if ((s->can_repeat = branch && s->synced))
        s->branch = *m;
}

void oracle_decode(const oracle_options *options, ntr_bytes stream) {
    size_t count = (size_t)1 << options->params->src_bits, at = 0;
    oracle_message m;
    static const ntr_dialect plain = {.name = "ntrace-1.0"};
    oracle o = {*options, options->params, options->params->dialect, &m, calloc(count, sizeof(source))};
    if (!o.dialect) o.dialect = &plain;
    if (!o.sources) abort();
    for (size_t i = 0; i < count; i++) {
        o.sources[i].id = (unsigned)i;
        o.sources[i].context.prv = NTR_PRV_UNKNOWN;
    }
    while (oracle_parse(o.params, stream, &at, &m)) {
        if (!m.defect)
            on_message(&o, &o.sources[m.src], &m);
        else /* the source and the number of lost messages are unknown */
            for (size_t i = 0; i < count; i++) {
                if (m.defect == NTR_E_TRUNCATED) walk_rest(&o, &o.sources[i]);
                lose(&o, &o.sources[i], m.defect);
            }
    }
    for (size_t i = 0; i < count; i++) {
        free(o.sources[i].runs);
        free(o.sources[i].stack);
    }
    free(o.sources);
}
