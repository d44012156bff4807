/* Common Trace Format 1.8 (babeltrace2, Trace Compass): a folder with `metadata`, which is the same for every trace,
 * and one stream of all tracks in the order of time.
 *
 * An event is its number and time, and
 *
 *   track   number of the track, numbers of process and thread, names of both
 *   begin   number of the track, depth, kind and name of the slice
 *   end     number of the track, depth, kind and name of the slice
 *   moment  number of the track, text */
#include "export/tracks.h"

#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

#define CTF_MAGIC 0xc1fc1fc1u
enum { CTF_TRACK, CTF_BEGIN, CTF_END, CTF_MOMENT };

/* What happened, until all tracks are sorted. */
typedef struct ctf_event {
    uint64_t time;
    uint32_t track, depth;
    uint32_t order; /* in the walk */
    uint8_t kind;
    const ntr_timeslice *slice;
    const char *text; /* owned: of a moment */
} ctf_event;

typedef struct ctf_state {
    ntr_tracks tracks;
    ctf_event *events;
    size_t count, capacity;
    ntr_track *list;
    size_t track_count, track_capacity;
    uint32_t depth;
    ntr_status failed;
} ctf_state;

static void add(ntr_export *x, ctf_event event) {
    ctf_state *c = x->state;
    if (c->failed || c->count >= UINT32_MAX ||
        ntr_reserve(x->allocator, (void **)&c->events, &c->capacity, c->count + 1, sizeof *c->events)) {
        ntr_dealloc(x->allocator, (void *)(uintptr_t)event.text);
        if (!c->failed) c->failed = NTR_E_MEMORY;
        return;
    }
    event.track = (uint32_t)c->track_count;
    event.order = (uint32_t)c->count;
    c->events[c->count++] = event;
}

static void add_track(ntr_export *x, const ntr_track *track) {
    ctf_state *c = x->state;
    c->depth = 0;
    if (ntr_reserve(x->allocator, (void **)&c->list, &c->track_capacity, c->track_count + 1, sizeof *c->list)) {
        c->failed = NTR_E_MEMORY;
        return;
    }
    c->list[c->track_count++] = *track;
    add(x, (ctf_event){.kind = CTF_TRACK});
}

static void add_begin(ntr_export *x, uint64_t time, const ntr_timeslice *slice) {
    ctf_state *c = x->state;
    add(x, (ctf_event){.time = time, .kind = CTF_BEGIN, .slice = slice, .depth = c->depth++});
}

static void add_end(ntr_export *x, uint64_t time, const ntr_timeslice *slice) {
    ctf_state *c = x->state;
    add(x, (ctf_event){.time = time, .kind = CTF_END, .slice = slice, .depth = --c->depth});
}

static void add_moment(ntr_export *x, uint64_t time, const char *text) {
    ctf_state *c = x->state;
    char *copy = ntr_alloc(x->allocator, strlen(text) + 1, 1);
    if (copy)
        memcpy(copy, text, strlen(text) + 1);
    else
        c->failed = NTR_E_MEMORY;
    add(x, (ctf_event){.time = time, .kind = CTF_MOMENT, .text = copy});
}

static int by_time(const void *a, const void *b) {
    const ctf_event *x = a, *y = b;
    if (x->kind == CTF_TRACK || y->kind == CTF_TRACK) {
        if (x->kind != y->kind) return x->kind == CTF_TRACK ? -1 : 1;
    } else if (x->time != y->time) {
        return x->time < y->time ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

/* ---- the stream; little endian, aligned to bytes */

static void write_number(ntr_export *x, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++) ntr_out_char(&x->out, (char)(value >> 8 * i));
}

static void write_string(ntr_export *x, const char *text) {
    ntr_out_line(&x->out, text);
    ntr_out_char(&x->out, '\0');
}

static void write_event(ntr_export *x, const ctf_event *event) {
    const ctf_state *c = x->state;
    const ntr_track *track = &c->list[event->track - 1];
    char buffer[NTR_TRACK_NAME];
    write_number(x, event->kind, 1);
    write_number(x, event->time, 8);
    write_number(x, event->track, 4);
    switch (event->kind) {
    case CTF_TRACK:
        write_number(x, track->pid, 4);
        write_number(x, track->tid, 4);
        write_string(x, track->process);
        write_string(x, track->name);
        break;
    case CTF_MOMENT: write_string(x, event->text); break;
    default:
        write_number(x, event->depth, 4);
        write_string(x, ntr_slice_kind(event->slice));
        write_string(x, ntr_slice_name(x, event->slice, buffer));
        break;
    }
}

static ntr_status end(ntr_export *x) {
    static const ntr_track_visitor visitor = {add_track, add_begin, add_end, add_moment};
    ctf_state *c = x->state;
    ntr_status status = ntr_tracks_finish(x);
    if (!status) status = ntr_tracks_walk(x, &visitor);
    if (!status) status = c->failed;
    if (status) return status;
    if (c->count) qsort(c->events, c->count, sizeof *c->events, by_time);
    write_number(x, CTF_MAGIC, 4);
    for (size_t i = 0; i < c->count && !x->out.status; i++) write_event(x, &c->events[i]);
    return x->out.status;
}

static void release(ntr_export *x) {
    ctf_state *c = x->state;
    for (size_t i = 0; i < c->count; i++) ntr_dealloc(x->allocator, (void *)(uintptr_t)c->events[i].text);
    ntr_dealloc(x->allocator, c->events);
    ntr_dealloc(x->allocator, c->list);
    ntr_tracks_release(x);
}

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
    "typealias integer { size = 32; align = 8; signed = false; base = 16; } := x32;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { x32 magic; }; };\n"
    "clock { name = ntrace; freq = 1000000000; offset = 0; };\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.ntrace.value; } := stamp;\n"
    "stream { event.header := struct { u8 id; stamp timestamp; }; };\n"
    "event { name = \"track\"; id = 0; fields := struct { u32 track; u32 pid; u32 tid; string process; string name; }; };\n"
    "event { name = \"begin\"; id = 1; fields := struct { u32 track; u32 depth; string kind; string name; }; };\n"
    "event { name = \"end\"; id = 2; fields := struct { u32 track; u32 depth; string kind; string name; }; };\n"
    "event { name = \"moment\"; id = 3; fields := struct { u32 track; string text; }; };\n";

const ntr_exporter ntr_exporter_ctf = {
    .name = "ctf",
    .family = "timeline",
    .summary = "folder in the Common Trace Format 1.8 (babeltrace2, Trace Compass)",
    .needs = NTR_TRACKS_NEEDS | NTR_NEEDS_FOLDER,
    .state_size = sizeof(ctf_state),
    .begin = ntr_tracks_begin,
    .events = ntr_tracks_events,
    .end = end,
    .release = release,
    .follows = ntr_tracks_follows,
    .second_name = "metadata",
    .second_text = metadata,
};
