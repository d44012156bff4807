/* Trace event format of Chrome (chrome://tracing, Perfetto, Speedscope): each track of the timeline is a thread, a
 * slice is an event of phase B and one of phase E, in order. Times are microseconds with three decimals. */
#include "export/tracks.h"

typedef struct chrome_state {
    ntr_tracks tracks;
    uint32_t pid, tid; /* of the track */
    uint32_t named;    /* the last process whose name was written */
    bool begun;
} chrome_state;

/* The thread of a system has its own number, any other track one that no thread has. */
enum { OTHER_TRACKS = 0x40000000 };

static void begin_event(ntr_export *x, const char *phase) {
    chrome_state *c = x->state;
    ntr_out_text(&x->out, c->begun ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    c->begun = true;
    ntr_out_text(&x->out, phase);
    ntr_out_format(&x->out, "\",\"pid\":%u,\"tid\":%u", c->pid, c->tid);
}

static void write_time(ntr_export *x, uint64_t time) {
    ntr_out_format(&x->out, ",\"ts\":%llu.%03u", (unsigned long long)(time / 1000), (unsigned)(time % 1000));
}

static void name_thing(ntr_export *x, const char *thing, const char *name) {
    begin_event(x, "M");
    ntr_out_format(&x->out, ",\"name\":\"%s\",\"args\":{\"name\":", thing);
    ntr_out_json(&x->out, name);
    ntr_out_text(&x->out, "}}");
}

static void begin_track(ntr_export *x, const ntr_track *track) {
    chrome_state *c = x->state;
    c->pid = track->pid;
    c->tid = track->thread ? track->tid : OTHER_TRACKS + track->number;
    if (c->named != c->pid + 1) name_thing(x, "process_name", track->process);
    c->named = c->pid + 1;
    name_thing(x, "thread_name", track->name);
    begin_event(x, "M");
    ntr_out_format(&x->out, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}", track->number);
}

static void begin_slice(ntr_export *x, uint64_t time, const ntr_timeslice *slice) {
    char buffer[NTR_TRACK_NAME];
    begin_event(x, "B");
    write_time(x, time);
    ntr_out_format(&x->out, ",\"cat\":\"%s\",\"name\":", ntr_slice_kind(slice));
    ntr_out_json(&x->out, ntr_slice_name(x, slice, buffer));
    ntr_out_char(&x->out, '}');
}

static void end_slice(ntr_export *x, uint64_t time, const ntr_timeslice *slice) {
    (void)slice;
    begin_event(x, "E");
    write_time(x, time);
    ntr_out_char(&x->out, '}');
}

static void write_moment(ntr_export *x, uint64_t time, const char *text) {
    begin_event(x, "i");
    write_time(x, time);
    ntr_out_text(&x->out, ",\"s\":\"t\",\"name\":");
    ntr_out_json(&x->out, text);
    ntr_out_char(&x->out, '}');
}

static ntr_status end(ntr_export *x) {
    static const ntr_track_visitor visitor = {begin_track, begin_slice, end_slice, write_moment};
    char about[160];
    ntr_status status = ntr_tracks_finish(x);
    if (status) return status;
    ntr_tracks_about(x, about, sizeof about);
    ntr_out_text(&x->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"about\":");
    ntr_out_json(&x->out, about);
    ntr_out_text(&x->out, "},\n\"traceEvents\":[");
    status = ntr_tracks_walk(x, &visitor);
    ntr_out_text(&x->out, "]}\n");
    return status;
}

const ntr_exporter ntr_exporter_chrome = {
    .name = "chrome",
    .family = "timeline",
    .summary = "Chrome's trace event format (chrome://tracing, Perfetto)",
    .aliases = {"chrome-json"},
    .needs = NTR_TRACKS_NEEDS,
    .state_size = sizeof(chrome_state),
    .begin = ntr_tracks_begin,
    .events = ntr_tracks_events,
    .end = end,
    .release = ntr_tracks_release,
    .follows = ntr_tracks_follows,
};
