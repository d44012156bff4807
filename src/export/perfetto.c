/* Trace format of Perfetto: one process with one thread per hart. Functions are slices of the thread; traps, contexts,
 * gaps and which thread ran have tracks of their own, and so have loads and stores, watchpoints and data acquisition.
 * Threads of a system that are known have processes of their own, with functions and traps. A slice is a packet for its
 * begin and one for its end, nested within its track. */
#include "base/text.h"
#include "export/export.h"
#include "export/tracks.h"

#include "perfetto.pb-c.h"

#include <stdio.h>
#include <stdlib.h>

#define SEQUENCE     1 /* one packet sequence for the whole file */
#define PROCESS_UUID 1
enum { BEGIN = 1, END = 2, MOMENT = 3 };  /* TrackEvent.type */
enum { CLEARED = 1, NEEDS_INTERNED = 2 }; /* TracePacket.sequence_flags */
enum { MERGE_NONE = 2 };

struct perfetto {
    ntr_tracks tracks;
    uint64_t track;       /* UUID of the last track; 1 is the process of the harts */
    uint64_t process;     /* UUID of the last process of the system */
    const ntr_task *task; /* of the last track of a thread, or NULL */
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

/* Names of threads and of the trace come from inputs. */
static void clean(char **name, char room[NTR_NAME_CLEANED_MAX + 1]) {
    if (!*name || ntr_name_is_clean(*name)) return;
    ntr_name_clean(*name, room);
    *name = room;
}

static void put_track(ntr_export *x, const Ntr__Perfetto__TrackDescriptor *track, uint64_t uuid) {
    Ntr__Perfetto__TracePacket packet = NTR__PERFETTO__TRACE_PACKET__INIT;
    Ntr__Perfetto__ProcessDescriptor process = NTR__PERFETTO__PROCESS_DESCRIPTOR__INIT;
    Ntr__Perfetto__ThreadDescriptor thread = NTR__PERFETTO__THREAD_DESCRIPTOR__INIT;
    Ntr__Perfetto__TrackDescriptor cleaned = *track;
    char rooms[3][NTR_NAME_CLEANED_MAX + 1];

    clean(&cleaned.name, rooms[0]);
    if (track->process) {
        process = *track->process;
        clean(&process.process_name, rooms[1]);
        cleaned.process = &process;
    }
    if (track->thread) {
        thread = *track->thread;
        clean(&thread.thread_name, rooms[2]);
        cleaned.thread = &thread;
    }
    cleaned.has_uuid = 1;
    cleaned.uuid = uuid;
    packet.track_descriptor = &cleaned;
    put(x, &packet);
}

static void put_process(ntr_export *x) {
    Ntr__Perfetto__TrackDescriptor track = NTR__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Ntr__Perfetto__ProcessDescriptor process = NTR__PERFETTO__PROCESS_DESCRIPTOR__INIT;
    char about[160];

    ntr_tracks_about(x, about, sizeof about);
    process.has_pid = 1;
    process.pid = (int32_t)ntr_tracks_harts_pid(x);
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

static void put_event(ntr_export *x, int type, uint64_t time, const ntr_timeslice *slice, const char *text) {
    const struct perfetto *p = x->state;
    Ntr__Perfetto__TracePacket packet = NTR__PERFETTO__TRACE_PACKET__INIT;
    Ntr__Perfetto__TrackEvent event = NTR__PERFETTO__TRACK_EVENT__INIT;
    char name[NTR_TRACK_NAME];

    packet.has_timestamp = packet.has_sequence_flags = event.has_type = event.has_track_uuid = 1;
    packet.timestamp = time;
    packet.sequence_flags = NEEDS_INTERNED;
    packet.track_event = &event;
    event.type = type;
    event.track_uuid = p->track;
    if (type == MOMENT) {
        event.name = (char *)(uintptr_t)text;
    } else if (type == BEGIN && (slice->kind == NTR_SLICE_FUNCTION || slice->kind == NTR_SLICE_TRAP)) {
        event.has_name_iid = 1;
        event.name_iid = slice->value + 1;
    } else if (type == BEGIN) {
        event.name = (char *)(uintptr_t)ntr_slice_name(x, slice, name);
    }
    put(x, &packet);
}

static void put_begin(ntr_export *x, uint64_t time, const ntr_timeslice *slice) {
    put_event(x, BEGIN, time, slice, NULL);
}

static void put_end(ntr_export *x, uint64_t time, const ntr_timeslice *slice) {
    put_event(x, END, time, slice, NULL);
}

static void put_moment(ntr_export *x, uint64_t time, const char *text) {
    put_event(x, MOMENT, time, NULL, text);
}

/* ---- tracks */

static void begin_system_process(ntr_export *x, const ntr_track *of) {
    struct perfetto *p = x->state;
    Ntr__Perfetto__TrackDescriptor track = NTR__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Ntr__Perfetto__ProcessDescriptor process = NTR__PERFETTO__PROCESS_DESCRIPTOR__INIT;

    process.has_pid = 1;
    process.pid = (int32_t)of->pid;
    process.process_name = (char *)(uintptr_t)of->process;
    track.process = &process;
    p->process = ++p->track;
    put_track(x, &track, p->process);
}

/* The functions of a thread, and of a hart's first context, are on the track of the thread; all else has tracks of its
 * own below the process. */
static void begin_track(ntr_export *x, const ntr_track *of) {
    struct perfetto *p = x->state;
    Ntr__Perfetto__TrackDescriptor track = NTR__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Ntr__Perfetto__ThreadDescriptor thread = NTR__PERFETTO__THREAD_DESCRIPTOR__INIT;

    if (of->task && (!p->task || p->task->tgid != of->pid || !of->pid)) begin_system_process(x, of);
    if (of->task) p->task = of->task;
    p->track++;
    if (of->thread) {
        thread.has_pid = thread.has_tid = 1;
        thread.pid = (int32_t)of->pid;
        thread.tid = (int32_t)of->tid;
        thread.thread_name = (char *)(uintptr_t)of->name;
        track.thread = &thread;
    } else {
        track.has_parent_uuid = track.has_sibling_merge_behavior = 1;
        track.parent_uuid = of->task ? p->process : PROCESS_UUID;
        track.sibling_merge_behavior = MERGE_NONE;
        track.name = (char *)(uintptr_t)of->name;
    }
    put_track(x, &track, p->track);
}

static ntr_status end(ntr_export *x) {
    static const ntr_track_visitor visitor = {begin_track, put_begin, put_end, put_moment};
    struct perfetto *p = x->state;
    ntr_status status = ntr_tracks_finish(x);

    p->track = PROCESS_UUID;
    if (!status) status = put_names(x);
    if (status) return status;
    put_process(x);
    return ntr_tracks_walk(x, &visitor);
}

const ntr_exporter ntr_exporter_perfetto = {
    .name = "perfetto",
    .family = "timeline",
    .summary = "Perfetto's trace format (ui.perfetto.dev)",
    .aliases = {"pftrace"},
    .needs = NTR_TRACKS_NEEDS,
    .state_size = sizeof(struct perfetto),
    .begin = ntr_tracks_begin,
    .events = ntr_tracks_events,
    .end = end,
    .release = ntr_tracks_release,
    .follows = ntr_tracks_follows,
};
