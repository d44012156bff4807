#include "export/tracks.h"

#include "analysis/functions.h"
#include "base/allocator.h"

#include <stdio.h>

static uint64_t nanoseconds(const ntr_tracks *t, uint64_t time) {
    if (!t->per_second || !ntr_timeline_timed(t->timeline)) return time;
    return time / t->per_second * 1000000000u + time % t->per_second * 1000000000u / t->per_second;
}

uint64_t ntr_tracks_time(const ntr_export *x, uint64_t time) {
    return nanoseconds(x->state, time);
}

uint32_t ntr_tracks_harts_pid(const ntr_export *x) {
    return ntr_functions_tasks(x->analysis.functions) ? INT32_MAX : 1;
}

bool ntr_tracks_timed(const ntr_export *x) {
    const ntr_tracks *t = x->state;
    return ntr_timeline_timed(t->timeline);
}

void ntr_tracks_about(const ntr_export *x, char *text, size_t size) {
    const ntr_tracks *t = x->state;
    const uint64_t shortest = ntr_timeline_shortest(t->timeline);
    snprintf(text, size, "time: %s; functions and traps shorter than %llu are %s",
             !ntr_timeline_timed(t->timeline) ? "instructions of the hart as ns"
             : t->per_second                  ? "ns"
                                              : "ticks of the trace as ns",
             (unsigned long long)shortest, shortest ? "left out" : "not left out");
}

/* ---- names */

const char *ntr_slice_kind(const ntr_timeslice *slice) {
    static const char *const kinds[] = {[NTR_SLICE_FUNCTION] = "function",
                                        [NTR_SLICE_TRAP] = "trap",
                                        [NTR_SLICE_CONTEXT] = "context",
                                        [NTR_SLICE_GAP] = "gap",
                                        [NTR_SLICE_RUN] = "thread"};
    return kinds[slice->kind];
}

static void name_context(const ntr_export *x, const ntr_timeslice *slice, char *name, size_t size) {
    const int used = slice->guest ? snprintf(name, size, "guest %llu: ", (unsigned long long)slice->guest) : 0;
    const ntr_tasks *tasks = ntr_functions_tasks(x->analysis.functions);
    const ntr_task *owner = tasks ? ntr_tasks_context(tasks, slice->value) : NULL;
    if (owner)
        snprintf(name + used, size - (size_t)used, "%.40s (%lu)", owner->name, (unsigned long)owner->tgid);
    else
        snprintf(name + used, size - (size_t)used, "context 0x%llx", (unsigned long long)slice->value);
}

const char *ntr_slice_name(const ntr_export *x, const ntr_timeslice *slice, char buffer[NTR_TRACK_NAME]) {
    const ntr_function *function;
    switch (slice->kind) {
    case NTR_SLICE_CONTEXT: name_context(x, slice, buffer, NTR_TRACK_NAME); return buffer;
    case NTR_SLICE_GAP:
        snprintf(buffer, NTR_TRACK_NAME, "gap: %s", ntr_status_text((ntr_status) - (int)slice->value));
        return buffer;
    case NTR_SLICE_RUN:
        snprintf(buffer, NTR_TRACK_NAME, slice->task->has_pid ? "%.64s (%lu)" : "%.64s", slice->task->name,
                 (unsigned long)slice->task->pid);
        return buffer;
    default:
        function = ntr_functions_get(x->analysis.functions, (uint32_t)slice->value);
        return function ? function->name : "?";
    }
}

/* Returns the thread with its last name. */
static const ntr_task *last_of(const ntr_export *x, const ntr_task *task, uint32_t pid) {
    const ntr_tasks *tasks = ntr_functions_tasks(x->analysis.functions);
    const ntr_task *last = tasks && task->has_pid && pid ? ntr_tasks_last(tasks, pid) : NULL;
    return last ? last : task;
}

static void describe_hart(const ntr_export *x, ntr_track *track, unsigned src) {
    track->pid = ntr_tracks_harts_pid(x);
    track->tid = src + 2;
    track->process = x->analysis.title ? x->analysis.title : "trace";
}

static void describe_slices(const ntr_export *x, ntr_track *track, const ntr_timeslice *s, bool first_of_hart) {
    static const char *const kinds[] = {"functions", "traps", "contexts", "gaps", "threads"};
    track->first = s;
    track->thread = s->kind == NTR_SLICE_FUNCTION;
    if (s->task && (s->kind == NTR_SLICE_FUNCTION || s->kind == NTR_SLICE_TRAP)) {
        track->task = s->task;
        track->pid = s->task->tgid;
        track->tid = s->task->pid;
        track->process = last_of(x, s->task, s->task->tgid)->name;
        snprintf(track->name, sizeof track->name, s->kind == NTR_SLICE_TRAP ? "%.64s: system calls and traps" : "%.64s",
                 last_of(x, s->task, s->task->pid)->name);
        return;
    }
    describe_hart(x, track, s->src);
    track->thread &= first_of_hart;
    const char *own = ntr_export_source(x, s->src);
    snprintf(track->name, sizeof track->name, s->context ? "%.64s%shart %u %s, context 0x%llx" : "%.64s%shart %u %s",
             own ? own : "", own ? ": " : "", s->src, kinds[s->kind], (unsigned long long)s->context);
}

static void describe_moments(const ntr_export *x, ntr_track *track, const ntr_moment *point) {
    static const char *const kinds[] = {[NTR_MOMENT_ACCESS] = "loads and stores",
                                        [NTR_MOMENT_WATCHPOINT] = "watchpoints",
                                        [NTR_MOMENT_ACQUISITION] = "data acquisition"};
    const ntr_tracks *t = x->state;
    describe_hart(x, track, point->src);
    const int used = snprintf(track->name, sizeof track->name, "hart %u %s", point->src, kinds[point->kind]);
    if (t->points.left_out)
        snprintf(track->name + used, sizeof track->name - (size_t)used, " (%llu later ones are left out)",
                 (unsigned long long)t->points.left_out);
}

/* ---- walking */

typedef struct slice_walk {
    ntr_export *x;
    const ntr_track_visitor *visitor;
    const ntr_timeslice **open;
    size_t depth, capacity;
    uint32_t tracks;
} slice_walk;

static void end_until(slice_walk *w, uint64_t time) {
    const ntr_tracks *t = w->x->state;
    while (w->depth && w->open[w->depth - 1]->end <= time) {
        const ntr_timeslice *slice = w->open[--w->depth];
        w->visitor->end(w->x, nanoseconds(t, slice->end), slice);
    }
}

static ntr_status walk_slice(slice_walk *w, const ntr_timeslice *slice) {
    const ntr_tracks *t = w->x->state;
    end_until(w, slice->begin);
    if (ntr_reserve(w->x->allocator, (void **)&w->open, &w->capacity, w->depth + 1, sizeof *w->open))
        return NTR_E_MEMORY;
    w->visitor->begin(w->x, nanoseconds(t, slice->begin), slice);
    w->open[w->depth++] = slice;
    return w->x->out.status;
}

static ntr_status walk_slices(slice_walk *w) {
    size_t count;
    const ntr_tracks *t = w->x->state;
    const ntr_timeslice *slices = ntr_timeline_slices(t->timeline, &count), *before = NULL;
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < count && !status; before = &slices[i++]) {
        if (!before || !ntr_timeslice_same_track(before, &slices[i])) {
            ntr_track track = {.number = ++w->tracks};
            end_until(w, UINT64_MAX);
            describe_slices(w->x, &track, &slices[i], !before || before->src != slices[i].src);
            w->visitor->track(w->x, &track);
        }
        status = walk_slice(w, &slices[i]);
    }
    end_until(w, UINT64_MAX);
    return status ? status : w->x->out.status;
}

static void walk_moments(slice_walk *w) {
    ntr_tracks *t = w->x->state;
    const ntr_moment *before = NULL;
    ntr_moments_finish(&t->points);
    for (size_t i = 0; i < t->points.count && !w->x->out.status; before = &t->points.list[i++]) {
        const ntr_moment *point = &t->points.list[i];
        char text[192];
        if (!before || before->src != point->src || before->kind != point->kind) {
            ntr_track track = {.number = ++w->tracks};
            describe_moments(w->x, &track, point);
            w->visitor->track(w->x, &track);
        }
        ntr_moment_text(point, text, sizeof text);
        w->visitor->moment(w->x, nanoseconds(t, point->time), text);
    }
}

ntr_status ntr_tracks_walk(ntr_export *x, const ntr_track_visitor *visitor) {
    slice_walk walk = {.x = x, .visitor = visitor};
    const ntr_status status = walk_slices(&walk);
    if (!status) walk_moments(&walk);
    ntr_dealloc(x->allocator, walk.open);
    return status ? status : x->out.status;
}

/* ---- the exporter */

ntr_status ntr_tracks_begin(ntr_export *x) {
    ntr_tracks *t = x->state;
    ntr_timeline_new(x->analysis.functions, 0, x->allocator, &t->timeline);
    t->per_second = x->analysis.ticks_per_second;
    if (!t->timeline || ntr_moments_init(&t->points, x->analysis.program, x->allocator) != NTR_OK) return NTR_E_MEMORY;
    if (!x->analysis.has_stacks) return NTR_OK;
    const ntr_follower timeline = ntr_timeline_follower(t->timeline), moments = ntr_moments_follower(&t->points);
    t->follows = ntr_calltree_follow(x->analysis.tree, &timeline) && ntr_calltree_follow(x->analysis.tree, &moments);
    return t->follows ? NTR_OK : NTR_E_INVALID;
}

ntr_status ntr_tracks_events(ntr_export *x, const ntr_event *list, size_t count) {
    ntr_tracks *t = x->state;
    if (t->follows) return t->points.failed;
    const ntr_status status = ntr_timeline_feed(t->timeline, list, count);
    return status ? status : ntr_moments_feed(&t->points, list, count);
}

ntr_status ntr_tracks_finish(ntr_export *x) {
    ntr_tracks *t = x->state;
    if (t->follows) ntr_calltree_end_following(x->analysis.tree, true);
    t->follows = false;
    return ntr_timeline_finish(t->timeline);
}

void ntr_tracks_release(ntr_export *x) {
    ntr_tracks *t = x->state;
    if (t->follows) ntr_calltree_end_following(x->analysis.tree, false);
    ntr_timeline_free(t->timeline);
    ntr_moments_release(&t->points);
}

bool ntr_tracks_follows(const ntr_export *x) {
    const ntr_tracks *t = x->state;
    return t->follows;
}
