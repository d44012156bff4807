#include "export/moments.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <ntrace/params.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

ntr_status ntr_moments_init(ntr_moments *points, const ntr_program *program, const ntr_allocator *allocator) {
    *points = (ntr_moments){
        .allocator = allocator, .program = program, .now = ntr_alloc(allocator, NTR_SOURCES_MAX, sizeof(uint64_t))};
    return points->now ? NTR_OK : NTR_E_MEMORY;
}

/* Time runs as in ntr_timeline: the first timestamp changes its unit, and what was before has none. */
static void advance(ntr_moments *p, const ntr_event *e) {
    if (!p->timed && e->flags & NTR_EVENT_TIME) {
        p->timed = true;
        p->count = 0;
        for (size_t i = 0; i < NTR_SOURCES_MAX; i++) p->now[i] = 0;
    }
    uint64_t *now = &p->now[e->src];
    if (p->timed && e->flags & NTR_EVENT_TIME && e->time > *now) *now = e->time;
    if (!p->timed && e->kind == NTR_EVENT_SPAN) *now += ntr_event_executed(e);
}

static void name_address(const ntr_moments *p, const ntr_event *e, ntr_moment *point) {
    ntr_symbol symbol;
    point->known = !(e->flags & NTR_EVENT_ADDRESS_UNKNOWN);
    point->address = e->data_address;
    if (!point->known ||
        ntr_program_symbol(p->program, ntr_place_at(&e->context, e->offset, e->data_address), &symbol) != NTR_OK)
        return;
    point->symbol = symbol.name;
    point->offset = e->data_address - symbol.address;
}

static ntr_status add(ntr_moments *p, const ntr_event *e, ntr_moment_kind kind) {
    if (p->count >= NTR_MOMENTS_MOST) {
        p->left_out++;
        return NTR_OK;
    }
    if (ntr_reserve(p->allocator, (void **)&p->list, &p->capacity, p->count + 1, sizeof *p->list)) return NTR_E_MEMORY;
    ntr_moment *point = &p->list[p->count];
    *point = (ntr_moment){.time = p->now[e->src],
                          .data = e->data,
                          .tag = e->tag,
                          .order = p->count,
                          .src = e->src,
                          .kind = (uint8_t)kind,
                          .size = e->data_size,
                          .code = e->code};
    if (kind == NTR_MOMENT_ACCESS) name_address(p, e, point);
    p->count++;
    return NTR_OK;
}

ntr_status ntr_moments_feed(ntr_moments *p, const ntr_event *events, size_t count) {
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < count && status == NTR_OK; i++) {
        const ntr_event *e = &events[i];
        if (e->src >= NTR_SOURCES_MAX) continue;
        advance(p, e);
        if (e->kind == NTR_EVENT_ACCESS)
            status = add(p, e, NTR_MOMENT_ACCESS);
        else if (e->kind == NTR_EVENT_WATCHPOINT)
            status = add(p, e, NTR_MOMENT_WATCHPOINT);
        else if (e->kind == NTR_EVENT_DATA)
            status = add(p, e, NTR_MOMENT_ACQUISITION);
    }
    return status;
}

/* ---- following a tree */

static void before(void *user, const ntr_event *e) {
    ntr_moments *p = user;
    const ntr_status status = ntr_moments_feed(p, e, 1);
    if (!p->failed) p->failed = status;
}

static void executed(void *user, const ntr_event *e) {
    (void)user, (void)e;
}

static ntr_status after(void *user, const ntr_event *e) {
    const ntr_moments *p = user;
    (void)e;
    return p->failed;
}

/* A chunk has no points (chunk_frames.c). */
static bool begin_chunk(void *user, const ntr_chunk_facts *facts) {
    ntr_moments *p = user;
    if (p->timed || facts->src >= NTR_SOURCES_MAX) return false;
    p->chunk_src = facts->src;
    p->chunk_now = p->now[facts->src];
    return true;
}

/* A logged event, which is fed afterwards, is behind these instructions. */
static void move(void *user, uint64_t instructions, uint64_t entered) {
    ntr_moments *p = user;
    (void)entered;
    p->now[p->chunk_src] = p->chunk_now + instructions;
}

ntr_follower ntr_moments_follower(ntr_moments *p) {
    return (ntr_follower){.before = before,
                          .executed = executed,
                          .after = after,
                          .listener.user = p,
                          .begin_chunk = begin_chunk,
                          .move = move};
}

static int by_track(const void *left, const void *right) {
    const ntr_moment *a = left, *b = right;
    if (a->src != b->src) return a->src < b->src ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void ntr_moments_finish(ntr_moments *p) {
    if (p->count) qsort(p->list, p->count, sizeof *p->list, by_track);
}

static void access_text(const ntr_moment *point, char *out, size_t capacity) {
    char place[96] = "?";
    if (point->symbol && point->offset)
        snprintf(place, sizeof place, "%.64s+0x%" PRIx64, point->symbol, point->offset);
    else if (point->symbol)
        snprintf(place, sizeof place, "%.64s", point->symbol);
    else if (point->known)
        snprintf(place, sizeof place, "0x%" PRIx64, point->address);
    const char *access = ntr_data_access_name(point->code);
    snprintf(out, capacity, "%s %s: 0x%" PRIx64 " (%u bytes)", access ? access : "access", place, point->data,
             point->size);
}

void ntr_moment_text(const ntr_moment *point, char *out, size_t capacity) {
    if (point->kind == NTR_MOMENT_ACCESS)
        access_text(point, out, capacity);
    else if (point->kind == NTR_MOMENT_WATCHPOINT)
        snprintf(out, capacity, "watchpoints 0x%" PRIx64, point->data);
    else
        snprintf(out, capacity, "tag 0x%" PRIx64 ": 0x%" PRIx64, point->tag, point->data);
}

void ntr_moments_release(ntr_moments *p) {
    ntr_dealloc(p->allocator, p->list);
    ntr_dealloc(p->allocator, p->now);
}
