#include <ntrace/calltree.h>

#include "analysis/callstack.h"
#include "analysis/chunk_head.h"
#include "analysis/followers.h"
#include "analysis/open_log.h"
#include "analysis/sums.h"
#include "analysis/time_attribution.h"
#include "base/allocator.h"

#include <stdio.h>
#include <string.h>

/* Prediction of child nodes. Calls tend to repeat in the same order, so each node records the child that was entered
 * last, and each child the sibling that was entered after it. The tree of a recursive program is larger than the
 * caches; a correct prediction avoids the lookup in the hash table. */
struct prediction {
    uint32_t last, next;
};

/* A slot of the hash table. The nodes of a large tree are not in the caches: the hash decides without them. */
struct node_slot {
    uint32_t number; /* of a node; NTR_CALLTREE_NONE: free */
    uint32_t hash;   /* its lower bits select the slot */
};

/* State of a source. Most spans stay in the function of the previous span and only increase a count. */
struct calltree_source {
    ntr_time_attribution time; /* attribution of time */
    bool stays;        /* the stack does not change while execution stays in `code` */
    uint32_t node;     /* node of the top frame */
    ntr_function_range code; /* code of the top frame's function */
};

struct ntr_calltree {
    const ntr_allocator *allocator;
    ntr_callstack *stacks;
    ntr_call_node *nodes;
    size_t count, capacity;
    struct prediction *predictions; /* one per node */
    size_t prediction_capacity;
    struct node_slot *slots; /* hash table by node_key, open addressing */
    size_t slot_count;
    ntr_functions *functions;
    ntr_calltree_split split;
    struct calltree_source *sources;
    size_t source_count, source_capacity;
    ntr_status failed;
    ntr_open_log *log; /* of a part of a trace; else NULL */
    ntr_chunk_applier *applier;
    ntr_chunk_head *head; /* of a chunk; else NULL */
    ntr_followers followers;
    bool fed, followed; /* it has had an event, a follower: frame handles are those of `followers` */
    ntr_event last; /* with followers */
};

/* ---- nodes ------------------------------------------------------------------------------------- */

/* A node is identified by its parent, call site, function and kind. */
typedef struct node_key {
    uint64_t site;
    uint32_t parent, function;
    uint8_t kind;
} node_key;

static node_key key_of(const ntr_call_node *node) {
    return (node_key){node->site, node->parent, node->function, node->kind};
}

static uint32_t hash(const node_key *key) {
    uint64_t value = ((uint64_t)key->parent << 32 | key->function) * 0x9e3779b97f4a7c15u;
    value ^= (key->site + key->kind) * 0xc2b2ae3d27d4eb4fu;
    return (uint32_t)(value ^ value >> 29);
}

static bool same_key(const node_key *a, const node_key *b) {
    return a->site == b->site && a->parent == b->parent && a->function == b->function && a->kind == b->kind;
}

/* Returns the slot of the node, or the free slot for it. */
static struct node_slot *slot_of(ntr_calltree *t, const node_key *key, uint32_t hash) {
    const size_t mask = t->slot_count - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        struct node_slot *slot = &t->slots[at];
        if (slot->number == NTR_CALLTREE_NONE) return slot;
        if (slot->hash != hash) continue;
        const node_key other = key_of(&t->nodes[slot->number]);
        if (same_key(&other, key)) return slot;
    }
}

static bool resize(ntr_calltree *t, size_t slot_count) {
    struct node_slot *slots = ntr_alloc(t->allocator, slot_count, sizeof *slots);
    const size_t mask = slot_count - 1;
    if (!slots) return false;
    memset(slots, 0xff, slot_count * sizeof *slots);
    for (size_t i = 0; i < t->slot_count; i++) {
        if (t->slots[i].number == NTR_CALLTREE_NONE) continue;
        size_t at = t->slots[i].hash & mask;
        while (slots[at].number != NTR_CALLTREE_NONE) at = (at + 1) & mask;
        slots[at] = t->slots[i];
    }
    ntr_dealloc(t->allocator, t->slots);
    t->slots = slots;
    t->slot_count = slot_count;
    return true;
}

static uint32_t new_child(ntr_calltree *t, uint32_t parent, const ntr_stack_frame *frame, const node_key *key,
                          uint32_t hash) {
    if (t->nodes[parent].depth == NTR_CALLTREE_DEPTH_MAX || t->count == NTR_CALLTREE_NODES_MAX) return parent;
    if (ntr_reserve(t->allocator, (void **)&t->nodes, &t->capacity, t->count + 1, sizeof *t->nodes) ||
        ntr_reserve(t->allocator, (void **)&t->predictions, &t->prediction_capacity, t->count + 1,
                    sizeof *t->predictions) ||
        (t->count * 2 >= t->slot_count && !resize(t, t->slot_count * 2))) {
        t->failed = NTR_E_MEMORY;
        return parent;
    }
    uint32_t number = (uint32_t)t->count++;
    t->nodes[number] = (ntr_call_node){
        .parent = parent,
        .child = NTR_CALLTREE_NONE,
        .sibling = t->nodes[parent].child,
        .function = frame->function,
        .depth = (uint16_t)(t->nodes[parent].depth + 1),
        .kind = frame->kind,
        .site = frame->site,
    };
    t->nodes[parent].child = number;
    t->predictions[number] = (struct prediction){0};
    *slot_of(t, key, hash) = (struct node_slot){number, hash};
    return number;
}

static bool is_child(const ntr_calltree *t, uint32_t number, const node_key *key) {
    const node_key other = key_of(&t->nodes[number]);
    return same_key(&other, key);
}

static uint32_t look_up(ntr_calltree *t, uint32_t parent, const ntr_stack_frame *frame, const node_key *key) {
    const uint32_t hashed = hash(key), found = slot_of(t, key, hashed)->number;
    return found == NTR_CALLTREE_NONE ? new_child(t, parent, frame, key, hashed) : found;
}

static uint32_t child_of(ntr_calltree *t, uint32_t parent, const ntr_stack_frame *frame) {
    const node_key key = {frame->site, parent, frame->function, frame->kind};
    uint32_t last = t->predictions[parent].last, found = t->predictions[last].next;
    if (last && is_child(t, last, &key)) return last;
    if (!found || !is_child(t, found, &key)) found = look_up(t, parent, frame, &key);
    if (last) t->predictions[last].next = found;
    t->predictions[parent].last = found;
    return found;
}

/* A process has the name that it has in the end: a frame begins before execve gives the name, or a kernel thread gets one. Idle
 * threads all have the pid 0. */
static uint32_t name_of_process(const ntr_calltree *t, const ntr_task *task) {
    const ntr_task *last = task->has_pid && task->tgid ? ntr_tasks_last(ntr_functions_tasks(t->functions), task->tgid) : NULL;
    char name[96];
    snprintf(name, sizeof name, task->has_pid ? "%.64s (%lu)" : "%.64s", last ? last->name : task->name, (unsigned long)task->tgid);
    return ntr_functions_named(t->functions, name);
}

/* Returns the number of the name of the hart, context or process, UINT32_MAX when out of memory. */
static uint32_t name_of(const ntr_calltree *t, const ntr_stack_moment *moment) {
    const ntr_context *context = moment->context;
    char name[96];
    if (t->split == NTR_CALLTREE_PROCESSES && moment->task) return name_of_process(t, moment->task);
    int used = snprintf(name, sizeof name, "hart %u", moment->src);
    if (t->split == NTR_CALLTREE_CONTEXTS && context->has_scontext)
        used += snprintf(name + used, sizeof name - (size_t)used, " scontext 0x%llx",
                         (unsigned long long)context->scontext);
    if (t->split == NTR_CALLTREE_CONTEXTS && context->has_hcontext)
        snprintf(name + used, sizeof name - (size_t)used, " hcontext 0x%llx", (unsigned long long)context->hcontext);
    return ntr_functions_named(t->functions, name);
}

/* Returns the node of the hart, context or process, the parent of its root frames. */
static uint32_t subtree_of(ntr_calltree *t, const ntr_stack_moment *moment) {
    if (t->split == NTR_CALLTREE_TOGETHER) return NTR_CALLTREE_ROOT;
    const ntr_stack_frame place = {.function = name_of(t, moment), .kind = NTR_FRAME_ROOT};
    if (place.function == UINT32_MAX) {
        t->failed = NTR_E_MEMORY;
        return NTR_CALLTREE_ROOT;
    }
    uint32_t node = child_of(t, NTR_CALLTREE_ROOT, &place);
    if (!t->nodes[node].calls) t->nodes[node].calls = 1;
    return node;
}

/* A frame whose callers are not known begins. */
static uint32_t enter_base(ntr_calltree *t, const ntr_stack_moment *moment, const ntr_stack_frame *frame) {
    ntr_stack_frame base = *frame;
    base.site = ntr_open_log_base(t->log, moment, t->count);
    /* The names are numbered as in the tree of the whole. */
    const bool named = t->split == NTR_CALLTREE_TOGETHER || name_of(t, moment) != UINT32_MAX;
    if (!base.site || !named) t->failed = NTR_E_MEMORY;
    const size_t before = t->count;
    const uint32_t node = child_of(t, NTR_CALLTREE_ROOT, &base);
    if (t->count == before) t->log->unfit = true; /* too many nodes */
    return node;
}

/* Returns the node of a frame with this handle. */
static uint32_t node_of(const ntr_calltree *t, uint32_t handle) {
    if (!t->followed) return handle;
    return handle < t->followers.pool.used ? t->followers.records[handle].own : NTR_CALLTREE_ROOT;
}

static uint32_t on_enter(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail) {
    ntr_calltree *t = user;
    if (t->log && !moment->parent) return enter_base(t, moment, frame);
    uint32_t node = child_of(t, moment->parent ? node_of(t, moment->parent->handle) : subtree_of(t, moment), frame);
    t->nodes[node].calls += !moment->resumed;
    return t->followed ? ntr_followers_enter(&t->followers, moment, frame, tail, node) : node;
}

/* Only with followers. */
static void on_leave(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost) {
    ntr_calltree *t = user;
    ntr_followers_leave(&t->followers, moment, frame, lost);
}

/* ---- creation ---------------------------------------------------------------------------------- */

ntr_calltree *ntr_calltree_new(ntr_functions *functions, const ntr_allocator *allocator) {
    enum { SLOTS = 1024 };
    ntr_calltree *t = ntr_alloc(allocator, 1, sizeof *t);
    if (!t) return NULL;
    t->allocator = allocator;
    t->functions = functions;
    t->followers.allocator = allocator;
    const ntr_stack_listener listener = {.enter = on_enter, .user = t};
    t->stacks = ntr_callstack_new(functions, &listener, allocator);
    if (!t->stacks || ntr_reserve(allocator, (void **)&t->nodes, &t->capacity, 1, sizeof *t->nodes) ||
        ntr_reserve(allocator, (void **)&t->predictions, &t->prediction_capacity, 1, sizeof *t->predictions) ||
        !resize(t, SLOTS)) {
        ntr_calltree_free(t);
        return NULL;
    }
    t->predictions[0] = (struct prediction){0};
    t->nodes[t->count++] = (ntr_call_node){.parent = NTR_CALLTREE_NONE, .child = NTR_CALLTREE_NONE,
                                           .sibling = NTR_CALLTREE_NONE, .function = UINT32_MAX};
    return t;
}

void ntr_calltree_divide(ntr_calltree *t, ntr_calltree_split split) {
    t->split = split;
}

void ntr_calltree_free(ntr_calltree *t) {
    if (!t) return;
    ntr_callstack_free(t->stacks);
    ntr_followers_release(&t->followers);
    ntr_chunk_applier_free(t->applier);
    ntr_dealloc(t->allocator, t->nodes);
    ntr_dealloc(t->allocator, t->slots);
    ntr_dealloc(t->allocator, t->predictions);
    for (size_t i = 0; i < t->source_count; i++) ntr_time_attribution_release(&t->sources[i].time, t->allocator);
    ntr_dealloc(t->allocator, t->sources);
    if (t->log) ntr_open_log_release(t->log);
    ntr_dealloc(t->allocator, t->log);
    if (t->head) ntr_chunk_head_release(t->head);
    ntr_dealloc(t->allocator, t->head);
    ntr_dealloc(t->allocator, t);
}

ntr_status ntr_calltree_open(ntr_calltree *t) {
    t->log = ntr_alloc(t->allocator, 1, sizeof *t->log);
    if (t->log) t->log->allocator = t->allocator;
    return t->log ? NTR_OK : NTR_E_MEMORY;
}

const ntr_open_log *ntr_calltree_log(const ntr_calltree *t) {
    return t->log;
}

ntr_callstack *ntr_calltree_stacks(ntr_calltree *t) {
    return t->stacks;
}

ntr_functions *ntr_calltree_functions(const ntr_calltree *t) {
    return t->functions;
}

ntr_chunk_applier **ntr_calltree_applier(ntr_calltree *t) {
    return &t->applier;
}

ntr_chunk_head *ntr_calltree_head(ntr_calltree *t) {
    if (!t->head && (t->head = ntr_alloc(t->allocator, 1, sizeof *t->head))) t->head->allocator = t->allocator;
    if (!t->head) t->failed = NTR_E_MEMORY;
    return t->head;
}

void ntr_calltree_moved(ntr_calltree *t) {
    for (size_t i = 0; i < t->source_count; i++) t->sources[i].stays = false;
    t->fed = true;
}

/* ---- counting ---------------------------------------------------------------------------------- */

static void take_ticks(void *user, uint32_t node, uint64_t ticks) {
    ntr_calltree *t = user;
    t->nodes[node].ticks += ticks;
}

/* Returns the state of the source, or NULL when out of memory. */
static struct calltree_source *source_of(ntr_calltree *t, uint16_t src) {
    if (src < t->source_count) return &t->sources[src];
    size_t need = (size_t)src + 1;
    if (ntr_reserve(t->allocator, (void **)&t->sources, &t->source_capacity, need, sizeof *t->sources)) return NULL;
    memset(t->sources + t->source_count, 0, (need - t->source_count) * sizeof *t->sources);
    t->source_count = need;
    return &t->sources[src];
}

ntr_time_attribution *ntr_calltree_time(ntr_calltree *t, uint16_t src) {
    struct calltree_source *s = source_of(t, src);
    return s ? &s->time : NULL;
}

void ntr_calltree_forget_times(ntr_calltree *t) {
    const ntr_time_attribution unknown = {0};
    for (size_t i = 0; i < t->source_count; i++) ntr_calltree_set_time(t, (uint16_t)i, &unknown);
}

void ntr_calltree_set_time(ntr_calltree *t, uint16_t src, const ntr_time_attribution *time) {
    struct calltree_source *s = source_of(t, src);
    if (!s) t->failed = NTR_E_MEMORY;
    if (!s) return;
    ntr_time_attribution_flush(&s->time, take_ticks, t);
    s->time.message = time->message;
    s->time.time = time->time;
    s->time.ticks = time->ticks;
    s->time.timed = time->timed;
}

static bool stays(const struct calltree_source *s, const ntr_event *event) {
    enum { ANYWHERE = 1u << NTR_END_CUT | 1u << NTR_END_NOT_TAKEN,
           INSIDE_ENDS = 1u << NTR_END_TAKEN | 1u << NTR_END_JUMP | 1u << NTR_END_INDIRECT_JUMP };
    unsigned end = 1u << event->end;
    if (!s->stays || event->kind != NTR_EVENT_SPAN || event->flags & NTR_EVENT_TARGET_UNKNOWN) return false;
    if (end & ANYWHERE) return true;
    return end & INSIDE_ENDS && event->target - s->code.low < s->code.high - s->code.low;
}

/* Returns whether the next spans are likely to stay in the function. After a call or a return this is not looked up: joined
 * spans (ntr_decoder_set_join) are mostly calls and returns. */
static bool may_stay(const ntr_event *event) {
    return event->end <= NTR_END_JUMP || event->end == NTR_END_INDIRECT_JUMP;
}

static ntr_status count_span(ntr_calltree *t, struct calltree_source *s, uint32_t node, uint32_t instructions) {
    t->nodes[node].instructions += instructions;
    return s->time.timed ? ntr_time_attribution_add(&s->time, node, instructions, t->allocator) : NTR_OK;
}

/* An event of a part of a trace that changes frames which are not known: it is logged. */
static ntr_status take_unknown(ntr_calltree *t, const ntr_event *event) {
    return ntr_open_log_event(t->log, t->stacks, NTR_OPEN_EVENT, event, t->count);
}

static ntr_status take_open_span(ntr_calltree *t, struct calltree_source *s, const ntr_event *event, bool *taken) {
    const ntr_stack_frame *frame = ntr_callstack_frame(t->stacks, event);
    if (!frame) return NTR_E_MEMORY;
    const uint32_t node = frame->handle;
    *taken = ntr_open_log_touches(t->log, t->stacks, event);
    if (!*taken) return NTR_OK;
    s->stays = false;
    ntr_status status = take_unknown(t, event);
    return status ? status : count_span(t, s, node, event->instructions);
}

/* A call changes no frame that is there. */
static bool is_call(const ntr_event *event) {
    return (event->end == NTR_END_CALL || event->end == NTR_END_INDIRECT_CALL) && !(event->flags & NTR_EVENT_TARGET_UNKNOWN);
}

static ntr_status take_span(ntr_calltree *t, struct calltree_source *s, const ntr_event *event) {
    uint32_t node;
    if (t->log && !is_call(event)) {
        bool taken;
        ntr_status logged = take_open_span(t, s, event, &taken);
        if (logged || taken) return logged;
    }
    ntr_status status = ntr_callstack_span(t->stacks, event, &node);
    s->stays = !status && may_stay(event) && ntr_callstack_stays(t->stacks, event, &s->code, &s->node);
    return status ? status : count_span(t, s, node, event->instructions);
}

static void attribute_time(ntr_calltree *t, struct calltree_source *s, const ntr_event *event) {
    if (s->time.timed || event->flags & NTR_EVENT_TIME) ntr_time_attribution_event(&s->time, event, take_ticks, t);
}

static ntr_status take(ntr_calltree *t, const ntr_event *event) {
    struct calltree_source *s = source_of(t, event->src);
    if (!s) return NTR_E_MEMORY;
    attribute_time(t, s, event);
    if (stays(s, event)) return count_span(t, s, s->node, event->instructions);
    if (event->kind == NTR_EVENT_SPAN) return take_span(t, s, event);
    s->stays = false;
    if (t->log && ntr_open_log_touches(t->log, t->stacks, event)) return take_unknown(t, event);
    return ntr_callstack_feed(t->stacks, event);
}

/* Changes the stacks by an event for which the current function does not stay. */
static ntr_status change_stacks(ntr_calltree *t, struct calltree_source *s, const ntr_event *event) {
    const bool span = event->kind == NTR_EVENT_SPAN;
    ntr_status status = NTR_OK;
    if (span) {
        const ntr_stack_frame *frame = ntr_callstack_frame(t->stacks, event);
        if (!frame) return NTR_E_MEMORY;
        status = count_span(t, s, node_of(t, frame->handle), event->instructions);
    }
    ntr_followers_executed(&t->followers, event);
    if (!status) status = ntr_callstack_feed(t->stacks, event);
    s->stays = span && !status && may_stay(event) && ntr_callstack_stays(t->stacks, event, &s->code, &s->node);
    if (s->stays) s->node = node_of(t, s->node);
    return status;
}

/* Takes the event, and passes it to the followers. */
static ntr_status take_followed(ntr_calltree *t, const ntr_event *event) {
    struct calltree_source *s = source_of(t, event->src);
    ntr_status status;
    if (!s) return NTR_E_MEMORY;
    attribute_time(t, s, event);
    ntr_followers_before(&t->followers, event);
    if (stays(s, event)) {
        status = count_span(t, s, s->node, event->instructions);
        ntr_followers_executed(&t->followers, event);
    } else {
        status = change_stacks(t, s, event);
    }
    const ntr_status ended = ntr_followers_after(&t->followers, event);
    return status ? status : ended;
}

bool ntr_calltree_is_unused(const ntr_calltree *t) {
    return !t->fed && t->count == 1;
}

bool ntr_calltree_follow(ntr_calltree *t, const ntr_follower *follower) {
    const ntr_stack_listener listener = {on_enter, on_leave, t};
    if (t->log || !ntr_calltree_is_unused(t) || t->followers.count == NTR_FOLLOWERS_MAX) return false;
    t->followed = true;
    t->followers.list[t->followers.count++] = *follower;
    ntr_callstack_listen(t->stacks, &listener);
    return true;
}

void ntr_calltree_end_following(ntr_calltree *t, bool finish) {
    if (finish) ntr_callstack_finish(t->stacks, &t->last);
    t->followers.count = 0;
}

/* Counts the leading spans that stay in the current function. Returns their number. */
static size_t count_leading_spans(ntr_calltree *t, const ntr_event *events, size_t count) {
    size_t taken = 0;
    uint64_t instructions = 0;
    if (count == 0 || events->src >= t->source_count) return 0;
    const struct calltree_source s = t->sources[events->src];
    if (!s.stays || s.time.timed) return 0;
    for (; taken < count && events[taken].src == events->src && stays(&s, &events[taken]); taken++) {
        if (events[taken].flags & NTR_EVENT_TIME) break;
        instructions += events[taken].instructions;
    }
    t->nodes[s.node].instructions += instructions;
    return taken;
}

/* Returns the number of events that are kept in the head of the chunk. */
static size_t take_head(ntr_calltree *t, const ntr_event *events, size_t count) {
    const bool open = t->head->open;
    const size_t taken = ntr_chunk_head_take(t->head, events, count);
    if (t->head->failed) t->failed = NTR_E_MEMORY;
    if (open && !t->head->open) ntr_calltree_follow_time(t, t->head->events, t->head->count);
    return taken;
}

ntr_status ntr_calltree_feed(ntr_calltree *t, const ntr_event *events, size_t count) {
    ntr_status status = NTR_OK;
    const size_t kept = t->head ? take_head(t, events, count) : 0;
    events += kept;
    count -= kept;
    t->fed |= count != 0;
    if (t->followed && count) t->last = events[count - 1];
    for (size_t i = 0; t->followed && i < count && !status; i++) status = take_followed(t, &events[i]);
    for (size_t i = 0; !t->followed && i < count && !status; i++) {
        i += count_leading_spans(t, events + i, count - i);
        if (i < count) status = take(t, &events[i]);
    }
    return status ? status : t->failed;
}

void ntr_calltree_follow_time(ntr_calltree *t, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct calltree_source *s = source_of(t, events[i].src);
        if (!s) continue;
        ntr_time_attribution_event(&s->time, &events[i], take_ticks, t);
        if (events[i].kind == NTR_EVENT_SPAN) s->time.ticks = 0; /* belongs to a span before the part */
    }
}

void ntr_calltree_restart(ntr_calltree *t) {
    for (size_t i = 0; i < t->source_count; i++) {
        ntr_time_attribution_flush(&t->sources[i].time, take_ticks, t);
        t->sources[i].stays = false;
    }
    if (t->log) ntr_open_log_restart(t->log, t->stacks);
    t->count = 1;
    t->nodes[0].child = NTR_CALLTREE_NONE;
    t->nodes[0].instructions = t->nodes[0].ticks = 0;
    t->predictions[0] = (struct prediction){0};
    memset(t->slots, 0xff, t->slot_count * sizeof *t->slots);
}

void ntr_calltree_finish(ntr_calltree *t) {
    for (size_t i = 0; i < t->source_count; i++) ntr_time_attribution_flush(&t->sources[i].time, take_ticks, t);
    if (t->log && ntr_open_log_finish(t->log, t->stacks, t->count) != NTR_OK) t->failed = NTR_E_MEMORY;
    for (size_t i = 0; i < t->count; i++) {
        t->nodes[i].total_instructions = t->nodes[i].instructions;
        t->nodes[i].total_ticks = t->nodes[i].ticks;
    }
    for (size_t i = t->count; i-- > 1;) {
        ntr_call_node *parent = &t->nodes[t->nodes[i].parent];
        parent->total_instructions += t->nodes[i].total_instructions;
        parent->total_ticks += t->nodes[i].total_ticks;
    }
}

uint32_t ntr_calltree_add_node(ntr_calltree *t, const ntr_call_node *node) {
    const ntr_stack_frame frame = {.function = node->function, .kind = node->kind, .site = node->site};
    const uint32_t number = child_of(t, node->parent, &frame);
    if (t->failed) return NTR_CALLTREE_NONE;
    t->nodes[number].calls += node->calls;
    t->nodes[number].instructions += node->instructions;
    t->nodes[number].ticks += node->ticks;
    return number;
}

void ntr_calltree_add_self(ntr_calltree *t, uint32_t node, uint64_t instructions, uint64_t ticks) {
    t->nodes[node].instructions += instructions;
    t->nodes[node].ticks += ticks;
}

ntr_calltree_split ntr_calltree_divided(const ntr_calltree *t) {
    return t->split;
}

const ntr_call_node *ntr_calltree_nodes(const ntr_calltree *t, size_t *count) {
    *count = t->count;
    return t->nodes;
}

/* Returns whether an ancestor of the node is the same function. The total of that ancestor then includes the node. */
static bool nested_in_itself(const ntr_calltree *t, const ntr_call_node *node) {
    for (uint32_t at = node->parent; at != NTR_CALLTREE_ROOT; at = t->nodes[at].parent)
        if (t->nodes[at].function == node->function) return true;
    return false;
}

void ntr_calltree_sums(const ntr_calltree *t, ntr_call_sum *sums, size_t capacity) {
    for (size_t i = 0; i < capacity; i++) sums[i] = (ntr_call_sum){.function = (uint32_t)i};
    for (size_t i = 1; i < t->count; i++) {
        const ntr_call_node *node = &t->nodes[i];
        if (node->function >= capacity) continue;
        ntr_call_sum *sum = &sums[node->function];
        sum->calls += node->calls;
        sum->self_instructions += node->instructions;
        sum->self_ticks += node->ticks;
        if (nested_in_itself(t, node)) continue;
        sum->total_instructions += node->total_instructions;
        sum->total_ticks += node->total_ticks;
    }
}
