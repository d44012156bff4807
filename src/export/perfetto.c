/* Trace format of Perfetto: one process with one thread per hart. Functions are slices of the thread; traps, contexts,
 * gaps and which thread ran have tracks of their own, and so have loads and stores, watchpoints and data acquisition.
 * Threads of a system that are known have processes of their own, with functions and traps. A slice is a packet for its
 * begin and one for its end, nested within its track. */
#include "export/export.h"
#include "export/perfetto_moments.h"

#include "perfetto.pb-c.h"

#include "analysis/functions.h"

#include <ntrace/timeline.h>
#include <stdio.h>
#include <stdlib.h>

#define SEQUENCE     1 /* one packet sequence for the whole file */
#define PROCESS_UUID 1
enum { BEGIN = 1, END = 2, MOMENT = 3 };  /* TrackEvent.type */
enum { CLEARED = 1, NEEDS_INTERNED = 2 }; /* TracePacket.sequence_flags */
enum { MERGE_NONE = 2 };

struct perfetto {
    ntr_timeline *timeline;
    ntr_moments points;
    uint64_t track; /* UUID of the last track; 1 is the process of the harts */
    uint64_t process; /* UUID of the last process of the system */
    const ntr_task *task; /* of the last track, or NULL */
    bool has_tasks;
    bool follows; /* the call stacks are those of the tree */
    uint64_t per_second;
    const ntr_timeslice **open; /* open slices of the current track */
    size_t depth, capacity;
};

/* ---- packets */

static ntr_status put(ntr_export *x, Ntr__Perfetto__TracePacket *packet) {
    Ntr__Perfetto__Trace trace = NTR__PERFETTO__TRACE__INIT;

    packet->has_trusted_packet_sequence_id = 1;
    packet->trusted_packet_sequence_id = SEQUENCE;
    trace.n_packet = 1;
    trace.packet = &packet;
    size_t size = ntr__perfetto__trace__get_packed_size(&trace);
    uint8_t small[512], *bytes = size <= sizeof small ? small : malloc(size);
    if (!bytes) return NTR_E_MEMORY;
    ntr__perfetto__trace__pack(&trace, bytes);
    ntr_out_bytes(&x->out, bytes, size);
    if (bytes != small) free(bytes);
    return x->out.status;
}

static void put_track(ntr_export *x, Ntr__Perfetto__TrackDescriptor *track, uint64_t uuid) {
    Ntr__Perfetto__TracePacket packet = NTR__PERFETTO__TRACE_PACKET__INIT;

    track->has_uuid = 1;
    track->uuid = uuid;
    packet.track_descriptor = track;
    put(x, &packet);
}

/* A number that no process of the system has. */
static int32_t pid_of_harts(const struct perfetto *p) {
    return p->has_tasks ? INT32_MAX : 1;
}

static void put_process(ntr_export *x) {
    struct perfetto *p = x->state;
    Ntr__Perfetto__TrackDescriptor track = NTR__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Ntr__Perfetto__ProcessDescriptor process = NTR__PERFETTO__PROCESS_DESCRIPTOR__INIT;
    char about[160];
    const uint64_t shortest = ntr_timeline_shortest(p->timeline);

    snprintf(about, sizeof about, "time: %s; functions and traps shorter than %llu are %s",
             !ntr_timeline_timed(p->timeline) ? "instructions of the hart as ns"
             : p->per_second                  ? "ns"
                                              : "ticks of the trace as ns",
             (unsigned long long)shortest, shortest ? "left out" : "not left out");
    process.has_pid = 1;
    process.pid = pid_of_harts(p);
    process.process_name = (char *)(uintptr_t)(x->analysis.title ? x->analysis.title : "trace");
    track.process = &process;
    track.description = about;
    put_track(x, &track, PROCESS_UUID);
}

/* Writes the name of every function once. Slices refer to it by number + 1. */
static ntr_status put_names(ntr_export *x) {
    Ntr__Perfetto__TracePacket packet = NTR__PERFETTO__TRACE_PACKET__INIT;
    Ntr__Perfetto__InternedData interned = NTR__PERFETTO__INTERNED_DATA__INIT;
    size_t count = 0;

    while (ntr_functions_get(x->analysis.functions, (uint32_t)count)) count++;
    Ntr__Perfetto__EventName *names = calloc(count + 1, sizeof *names), **list = calloc(count + 1, sizeof(void *));
    for (size_t i = 0; names && list && i < count; i++) {
        ntr__perfetto__event_name__init(&names[i]);
        names[i].has_iid = 1;
        names[i].iid = i + 1;
        names[i].name = (char *)(uintptr_t)ntr_functions_get(x->analysis.functions, (uint32_t)i)->name;
        list[i] = &names[i];
    }
    interned.n_event_names = count;
    interned.event_names = list;
    packet.interned_data = &interned;
    packet.has_sequence_flags = packet.has_first_packet_on_sequence = 1;
    packet.sequence_flags = CLEARED;
    packet.first_packet_on_sequence = 1;
    ntr_status status = names && list ? put(x, &packet) : NTR_E_MEMORY;
    free(names);
    free(list);
    return status;
}

/* ---- slices */

static uint64_t nanoseconds(const struct perfetto *p, uint64_t time) {
    if (!p->per_second || !ntr_timeline_timed(p->timeline)) return time;
    return time / p->per_second * 1000000000u + time % p->per_second * 1000000000u / p->per_second;
}

static void put_event(ntr_export *x, int type, uint64_t time, const ntr_timeslice *slice) {
    const struct perfetto *p = x->state;
    Ntr__Perfetto__TracePacket packet = NTR__PERFETTO__TRACE_PACKET__INIT;
    Ntr__Perfetto__TrackEvent event = NTR__PERFETTO__TRACK_EVENT__INIT;
    char name[96];

    packet.has_timestamp = packet.has_sequence_flags = event.has_type = event.has_track_uuid = 1;
    packet.timestamp = nanoseconds(p, time);
    packet.sequence_flags = NEEDS_INTERNED;
    packet.track_event = &event;
    event.type = type;
    event.track_uuid = p->track;
    if (type == BEGIN && slice->kind == NTR_SLICE_CONTEXT) {
        int used = slice->guest ? snprintf(name, sizeof name, "guest %llu: ", (unsigned long long)slice->guest) : 0;
        const ntr_tasks *tasks = ntr_functions_tasks(x->analysis.functions);
        const ntr_task *owner = tasks ? ntr_tasks_context(tasks, slice->value) : NULL;
        if (owner)
            snprintf(name + used, sizeof name - (size_t)used, "%.40s (%lu)", owner->name, (unsigned long)owner->tgid);
        else
            snprintf(name + used, sizeof name - (size_t)used, "context 0x%llx", (unsigned long long)slice->value);
        event.name = name;
    } else if (type == BEGIN && slice->kind == NTR_SLICE_GAP) {
        snprintf(name, sizeof name, "gap: %s", ntr_status_text((ntr_status) - (int)slice->value));
        event.name = name;
    } else if (type == BEGIN && slice->kind == NTR_SLICE_RUN) {
        snprintf(name, sizeof name, slice->task->has_pid ? "%.64s (%lu)" : "%.64s", slice->task->name,
                 (unsigned long)slice->task->pid);
        event.name = name;
    } else if (type == BEGIN) {
        event.has_name_iid = 1;
        event.name_iid = slice->value + 1;
    }
    put(x, &packet);
}

/* Ends the open slices that end at or before `time`. */
static void end_until(ntr_export *x, uint64_t time) {
    struct perfetto *p = x->state;

    while (p->depth && p->open[p->depth - 1]->end <= time) {
        const ntr_timeslice *slice = p->open[--p->depth];
        put_event(x, END, slice->end, slice);
    }
}

static ntr_status begin_slice(ntr_export *x, const ntr_timeslice *slice) {
    struct perfetto *p = x->state;

    end_until(x, slice->begin);
    if (p->depth == p->capacity) {
        size_t capacity = p->capacity ? p->capacity * 2 : 64;
        const ntr_timeslice **open = realloc(p->open, capacity * sizeof *open);
        if (!open) return NTR_E_MEMORY;
        p->open = open;
        p->capacity = capacity;
    }
    put_event(x, BEGIN, slice->begin, slice);
    p->open[p->depth++] = slice;
    return x->out.status;
}

/* ---- threads of the system */

/* Returns the thread with its last name. */
static const ntr_task *last_of(const ntr_export *x, const ntr_task *task, uint32_t pid) {
    const ntr_tasks *tasks = ntr_functions_tasks(x->analysis.functions);
    const ntr_task *last = tasks && task->has_pid && pid ? ntr_tasks_last(tasks, pid) : NULL;
    return last ? last : task;
}

static void begin_system_process(ntr_export *x, const ntr_task *task) {
    struct perfetto *p = x->state;
    Ntr__Perfetto__TrackDescriptor track = NTR__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Ntr__Perfetto__ProcessDescriptor process = NTR__PERFETTO__PROCESS_DESCRIPTOR__INIT;

    process.has_pid = 1;
    process.pid = (int32_t)task->tgid;
    process.process_name = (char *)(uintptr_t)last_of(x, task, task->tgid)->name;
    track.process = &process;
    p->process = ++p->track;
    put_track(x, &track, p->process);
}

/* A thread's functions are on the track of the thread, its traps on one below the process. */
static void begin_thread_track(ntr_export *x, const ntr_timeslice *slice) {
    struct perfetto *p = x->state;
    Ntr__Perfetto__TrackDescriptor track = NTR__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Ntr__Perfetto__ThreadDescriptor thread = NTR__PERFETTO__THREAD_DESCRIPTOR__INIT;
    const ntr_task *last = last_of(x, slice->task, slice->task->pid);
    char name[96];

    if (!p->task || p->task->tgid != slice->task->tgid || !slice->task->tgid) begin_system_process(x, slice->task);
    p->task = slice->task;
    p->track++;
    snprintf(name, sizeof name, slice->kind == NTR_SLICE_TRAP ? "%.64s: system calls and traps" : "%.64s", last->name);
    if (slice->kind == NTR_SLICE_FUNCTION) {
        thread.has_pid = thread.has_tid = 1;
        thread.pid = (int32_t)slice->task->tgid;
        thread.tid = (int32_t)slice->task->pid;
        thread.thread_name = name;
        track.thread = &thread;
    } else {
        track.has_parent_uuid = track.has_sibling_merge_behavior = 1;
        track.parent_uuid = p->process;
        track.sibling_merge_behavior = MERGE_NONE;
        track.name = name;
    }
    put_track(x, &track, p->track);
}

/* ---- harts */

/* The functions of a hart's first context are on the track of its thread. All other slices have tracks of their own. */
static void begin_track(ntr_export *x, const ntr_timeslice *slice, bool first_of_hart) {
    static const char *const kinds[] = {"functions", "traps", "contexts", "gaps", "threads"};
    struct perfetto *p = x->state;
    Ntr__Perfetto__TrackDescriptor track = NTR__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Ntr__Perfetto__ThreadDescriptor thread = NTR__PERFETTO__THREAD_DESCRIPTOR__INIT;
    char name[64];

    p->track++;
    snprintf(name, sizeof name, slice->context ? "hart %u %s, context 0x%llx" : "hart %u %s", slice->src,
             kinds[slice->kind], (unsigned long long)slice->context);
    if (first_of_hart && slice->kind == NTR_SLICE_FUNCTION) {
        thread.has_pid = thread.has_tid = 1;
        thread.pid = pid_of_harts(p);
        thread.tid = slice->src + 2;
        thread.thread_name = name;
        track.thread = &thread;
    } else {
        track.has_parent_uuid = track.has_sibling_merge_behavior = 1;
        track.parent_uuid = PROCESS_UUID;
        track.sibling_merge_behavior = MERGE_NONE;
        track.name = name;
    }
    put_track(x, &track, p->track);
}

static bool is_of_thread(const ntr_timeslice *s) {
    return s->task && (s->kind == NTR_SLICE_FUNCTION || s->kind == NTR_SLICE_TRAP);
}

static ntr_status put_slices(ntr_export *x) {
    size_t count;
    struct perfetto *p = x->state;
    const ntr_timeslice *slices = ntr_timeline_slices(p->timeline, &count), *before = NULL;
    ntr_status status = NTR_OK;

    for (size_t i = 0; i < count && !status; before = &slices[i++]) {
        const ntr_timeslice *s = &slices[i];
        if (!before || !ntr_timeslice_same_track(before, s)) {
            end_until(x, UINT64_MAX);
            if (is_of_thread(s))
                begin_thread_track(x, s);
            else
                begin_track(x, s, !before || before->src != s->src);
        }
        status = begin_slice(x, s);
    }
    end_until(x, UINT64_MAX);
    return status ? status : x->out.status;
}

/* ---- moments */

static void begin_point_track(ntr_export *x, const ntr_moment *point) {
    static const char *const kinds[] = {[NTR_MOMENT_ACCESS] = "loads and stores",
                                        [NTR_MOMENT_WATCHPOINT] = "watchpoints",
                                        [NTR_MOMENT_ACQUISITION] = "data acquisition"};
    struct perfetto *p = x->state;
    Ntr__Perfetto__TrackDescriptor track = NTR__PERFETTO__TRACK_DESCRIPTOR__INIT;
    char name[96];

    if (p->points.left_out)
        snprintf(name, sizeof name, "hart %u %s (%llu later ones are left out)", point->src, kinds[point->kind],
                 (unsigned long long)p->points.left_out);
    else
        snprintf(name, sizeof name, "hart %u %s", point->src, kinds[point->kind]);
    track.has_parent_uuid = track.has_sibling_merge_behavior = 1;
    track.parent_uuid = PROCESS_UUID;
    track.sibling_merge_behavior = MERGE_NONE;
    track.name = name;
    put_track(x, &track, ++p->track);
}

static void put_point(ntr_export *x, const ntr_moment *point) {
    const struct perfetto *p = x->state;
    Ntr__Perfetto__TracePacket packet = NTR__PERFETTO__TRACE_PACKET__INIT;
    Ntr__Perfetto__TrackEvent event = NTR__PERFETTO__TRACK_EVENT__INIT;
    char name[192];

    ntr_moment_text(point, name, sizeof name);
    packet.has_timestamp = packet.has_sequence_flags = event.has_type = event.has_track_uuid = 1;
    packet.timestamp = nanoseconds(p, point->time);
    packet.sequence_flags = NEEDS_INTERNED;
    packet.track_event = &event;
    event.type = MOMENT;
    event.track_uuid = p->track;
    event.name = name;
    put(x, &packet);
}

static ntr_status put_points(ntr_export *x) {
    struct perfetto *p = x->state;
    const ntr_moment *before = NULL;

    ntr_moments_finish(&p->points);
    for (size_t i = 0; i < p->points.count && !x->out.status; before = &p->points.list[i++]) {
        const ntr_moment *point = &p->points.list[i];
        if (!before || before->src != point->src || before->kind != point->kind) begin_point_track(x, point);
        put_point(x, point);
    }
    return x->out.status;
}

/* ---- */

static ntr_status begin(ntr_export *x) {
    struct perfetto *p = x->state;

    p->timeline = ntr_timeline_new(x->analysis.functions, 0, x->allocator);
    p->track = PROCESS_UUID;
    p->per_second = x->analysis.ticks_per_second;
    p->has_tasks = ntr_functions_tasks(x->analysis.functions) != NULL;
    if (!p->timeline || ntr_moments_init(&p->points, x->analysis.program, x->allocator) != NTR_OK) return NTR_E_MEMORY;
    if (!x->analysis.has_stacks) return NTR_OK;
    const ntr_follower timeline = ntr_timeline_follower(p->timeline), moments = ntr_moments_follower(&p->points);
    p->follows = ntr_calltree_follow(x->analysis.tree, &timeline) && ntr_calltree_follow(x->analysis.tree, &moments);
    return p->follows ? NTR_OK : NTR_E_INVALID;
}

static ntr_status events(ntr_export *x, const ntr_event *list, size_t count) {
    struct perfetto *p = x->state;

    if (p->follows) return p->points.failed;
    ntr_status status = ntr_timeline_feed(p->timeline, list, count);
    return status ? status : ntr_moments_feed(&p->points, list, count);
}

static ntr_status end(ntr_export *x) {
    struct perfetto *p = x->state;

    if (p->follows) ntr_calltree_end_following(x->analysis.tree, true);
    p->follows = false;
    ntr_status status = ntr_timeline_finish(p->timeline);

    if (!status) status = put_names(x);
    if (status) return status;
    put_process(x);
    status = put_slices(x);
    return status ? status : put_points(x);
}

static void release(ntr_export *x) {
    struct perfetto *p = x->state;

    if (p->follows) ntr_calltree_end_following(x->analysis.tree, false);
    ntr_timeline_free(p->timeline);
    ntr_moments_release(&p->points);
    free(p->open);
}

static bool follows(const ntr_export *x) {
    const struct perfetto *p = x->state;

    return p->follows;
}

const ntr_exporter ntr_exporter_perfetto = {
    .name = "perfetto",
    .family = "timeline",
    .summary = "Perfetto's trace format (ui.perfetto.dev)",
    .aliases = {"pftrace"},
    .needs = NTR_NEEDS_EVENTS | NTR_NEEDS_CALLS | NTR_NEEDS_STACKS,
    .state_size = sizeof(struct perfetto),
    .begin = begin,
    .events = events,
    .end = end,
    .release = release,
    .follows = follows,
};
