/* Processed profile of the Firefox Profiler (profiler.firefox.com), version 48, which later ones upgrade.
 *
 * Functions of a track are the samples of a thread: a sample for each time in which the call stack does not change,
 * with that time as its weight (instructions, when the trace has no time). All other tracks are threads with markers.
 * Tables are lists by column, so that a track is collected before it is written. */
#include "export/tracks.h"

#include "base/allocator.h"

#include <string.h>

#define NO_STACK UINT32_MAX

enum { PROFILE_VERSION = 48, GECKO_VERSION = 29, PHASE_INSTANT = 0, PHASE_INTERVAL = 1 };

typedef struct stack_node {
    uint32_t function, prefix;   /* prefix: a node, or NO_STACK */
    uint32_t child, sibling;     /* NO_STACK ends a list */
} stack_node;

typedef struct profile_sample {
    uint64_t time, weight;
    uint32_t stack;
} profile_sample;

typedef struct profile_marker {
    uint64_t begin, end;
    char *name;
    bool moment;
} profile_marker;

typedef struct firefox_state {
    ntr_tracks tracks;
    ntr_track track; /* number 0: none yet */
    stack_node *nodes;
    size_t node_count, node_capacity;
    uint32_t roots, current; /* nodes */
    uint64_t last;           /* time of the last change of the stack */
    profile_sample *samples;
    size_t sample_count, sample_capacity;
    profile_marker *markers;
    size_t marker_count, marker_capacity;
    uint32_t *functions; /* of the track: numbers of functions in the order of their first use */
    size_t function_count, function_capacity;
    uint32_t *local; /* by number of the function: its index in `functions`, plus 1; else 0 */
    size_t local_count;
    bool written; /* a thread was written */
    ntr_status failed;
} firefox_state;

static bool reserve(ntr_export *x, void *items, size_t *capacity, size_t count, size_t size) {
    firefox_state *f = x->state;
    if (!f->failed && ntr_reserve(x->allocator, items, capacity, count, size)) f->failed = NTR_E_MEMORY;
    return !f->failed;
}

/* ---- collecting a track */

static void use_function(ntr_export *x, uint32_t function) {
    firefox_state *f = x->state;
    if (f->failed || function >= f->local_count || f->local[function]) return;
    if (!reserve(x, &f->functions, &f->function_capacity, f->function_count + 1, sizeof *f->functions)) return;
    f->functions[f->function_count++] = function;
    f->local[function] = (uint32_t)f->function_count;
}

/* Returns the stack of `prefix` and a function. */
static uint32_t stack_of(ntr_export *x, uint32_t prefix, uint32_t function) {
    firefox_state *f = x->state;
    for (uint32_t at = prefix == NO_STACK ? f->roots : f->nodes[prefix].child; at != NO_STACK;
         at = f->nodes[at].sibling)
        if (f->nodes[at].function == function) return at;
    if (!reserve(x, &f->nodes, &f->node_capacity, f->node_count + 1, sizeof *f->nodes)) return NO_STACK;
    use_function(x, function);
    const uint32_t added = (uint32_t)f->node_count++;
    uint32_t *list = prefix == NO_STACK ? &f->roots : &f->nodes[prefix].child;
    f->nodes[added] = (stack_node){function, prefix, NO_STACK, *list};
    *list = added;
    return added;
}

static void add_sample(ntr_export *x, uint64_t time) {
    firefox_state *f = x->state;
    if (f->current != NO_STACK && time > f->last &&
        reserve(x, &f->samples, &f->sample_capacity, f->sample_count + 1, sizeof *f->samples))
        f->samples[f->sample_count++] = (profile_sample){f->last, time - f->last, f->current};
    f->last = time;
}

static void add_marker(ntr_export *x, uint64_t begin, uint64_t end, const char *name, bool moment) {
    firefox_state *f = x->state;
    if (!reserve(x, &f->markers, &f->marker_capacity, f->marker_count + 1, sizeof *f->markers)) return;
    char *copy = ntr_alloc(x->allocator, strlen(name) + 1, 1);
    if (!copy) {
        f->failed = NTR_E_MEMORY;
        return;
    }
    memcpy(copy, name, strlen(name) + 1);
    f->markers[f->marker_count++] = (profile_marker){begin, end, copy, moment};
}

static void begin_slice(ntr_export *x, uint64_t time, const ntr_timeslice *slice) {
    firefox_state *f = x->state;
    if (slice->kind != NTR_SLICE_FUNCTION || f->failed) return;
    add_sample(x, time);
    f->current = stack_of(x, f->current, (uint32_t)slice->value);
}

static void end_slice(ntr_export *x, uint64_t time, const ntr_timeslice *slice) {
    firefox_state *f = x->state;
    char buffer[NTR_TRACK_NAME];
    if (f->failed) return;
    if (slice->kind == NTR_SLICE_FUNCTION) {
        add_sample(x, time);
        if (f->current != NO_STACK) f->current = f->nodes[f->current].prefix;
        return;
    }
    add_marker(x, ntr_tracks_time(x, slice->begin), time, ntr_slice_name(x, slice, buffer), false);
}

static void take_moment(ntr_export *x, uint64_t time, const char *text) {
    add_marker(x, time, time, text, true);
}

/* ---- writing a thread */

static void write_ms(ntr_export *x, uint64_t time) {
    ntr_out_format(&x->out, "%llu.%06u", (unsigned long long)(time / 1000000), (unsigned)(time % 1000000));
}

/* Writes "name":[...] with `count` elements, each by `write`. */
#define COLUMN(name, count, write)                                                                                     \
    do {                                                                                                               \
        ntr_out_text(&x->out, "\"" name "\":[");                                                                       \
        for (size_t i = 0; i < (count); i++) {                                                                         \
            if (i) ntr_out_char(&x->out, ',');                                                                         \
            write;                                                                                                     \
        }                                                                                                              \
        ntr_out_char(&x->out, ']');                                                                                    \
    } while (0)

#define ADD_TEXT(text)    ntr_out_text(&x->out, text)
#define ADD_NUMBER(value) ntr_out_dec(&x->out, value)

static const ntr_function *function_at(const ntr_export *x, size_t index) {
    const firefox_state *f = x->state;
    return ntr_functions_get(x->analysis.functions, f->functions[index]);
}

static void write_samples(ntr_export *x) {
    const firefox_state *f = x->state;
    const bool timed = ntr_tracks_timed(x);
    ADD_TEXT("\"samples\":{");
    COLUMN("stack", f->sample_count, ADD_NUMBER(f->samples[i].stack));
    ADD_TEXT(",");
    COLUMN("time", f->sample_count, write_ms(x, f->samples[i].time));
    ADD_TEXT(",");
    COLUMN("weight", f->sample_count, {
        if (timed)
            write_ms(x, f->samples[i].weight);
        else
            ADD_NUMBER(f->samples[i].weight);
    });
    ntr_out_format(&x->out, ",\"weightType\":\"%s\",\"length\":%zu},\n", timed ? "tracing-ms" : "samples",
                   f->sample_count);
}

static void write_markers(ntr_export *x) {
    const firefox_state *f = x->state;
    const size_t count = f->marker_count;
    ADD_TEXT("\"markers\":{");
    COLUMN("data", count, ADD_TEXT("null"));
    ADD_TEXT(",");
    COLUMN("name", count, ADD_NUMBER(2 * f->function_count + i)); /* after the strings of functions */
    ADD_TEXT(",");
    COLUMN("startTime", count, write_ms(x, f->markers[i].begin));
    ADD_TEXT(",");
    COLUMN("endTime", count, {
        if (f->markers[i].moment)
            ADD_TEXT("null");
        else
            write_ms(x, f->markers[i].end);
    });
    ADD_TEXT(",");
    COLUMN("phase", count, ADD_NUMBER(f->markers[i].moment ? PHASE_INSTANT : PHASE_INTERVAL));
    ADD_TEXT(",");
    COLUMN("category", count, ADD_TEXT("0"));
    ntr_out_format(&x->out, ",\"length\":%zu},\n", count);
}

static void write_stacks(ntr_export *x) {
    const firefox_state *f = x->state;
    const size_t count = f->node_count;
    ADD_TEXT("\"stackTable\":{");
    COLUMN("frame", count, ADD_NUMBER(f->local[f->nodes[i].function] - 1));
    ADD_TEXT(",");
    COLUMN("category", count, ADD_TEXT("0"));
    ADD_TEXT(",");
    COLUMN("subcategory", count, ADD_TEXT("0"));
    ADD_TEXT(",");
    COLUMN("prefix", count, {
        if (f->nodes[i].prefix == NO_STACK)
            ADD_TEXT("null");
        else
            ADD_NUMBER(f->nodes[i].prefix);
    });
    ntr_out_format(&x->out, ",\"length\":%zu},\n", count);
}

/* A frame for each function. */
static void write_frames(ntr_export *x) {
    static const char *const nothing[] = {"nativeSymbol", "implementation", "line", "column"};
    const firefox_state *f = x->state;
    const size_t count = f->function_count;
    ADD_TEXT("\"frameTable\":{");
    COLUMN("address", count, ADD_TEXT("-1"));
    ADD_TEXT(",");
    COLUMN("inlineDepth", count, ADD_TEXT("0"));
    ADD_TEXT(",");
    COLUMN("category", count, ADD_TEXT("0"));
    ADD_TEXT(",");
    COLUMN("subcategory", count, ADD_TEXT("0"));
    ADD_TEXT(",");
    COLUMN("func", count, ADD_NUMBER(i));
    ADD_TEXT(",");
    COLUMN("innerWindowID", count, ADD_TEXT("0"));
    for (size_t k = 0; k < sizeof nothing / sizeof nothing[0]; k++) {
        ntr_out_format(&x->out, ",\"%s\":", nothing[k]);
        for (size_t i = 0; i < count; i++) ADD_TEXT(i ? ",null" : "[null");
        ADD_TEXT(count ? "]" : "[]");
    }
    ntr_out_format(&x->out, ",\"length\":%zu},\n", count);
}

/* String 2 * i is the name of function i, 2 * i + 1 its file. */
static void write_functions(ntr_export *x) {
    const firefox_state *f = x->state;
    const size_t count = f->function_count;
    ADD_TEXT("\"funcTable\":{");
    COLUMN("name", count, ADD_NUMBER(2 * i));
    ADD_TEXT(",");
    COLUMN("isJS", count, ADD_TEXT("false"));
    ADD_TEXT(",");
    COLUMN("relevantForJS", count, ADD_TEXT("false"));
    ADD_TEXT(",");
    COLUMN("resource", count, ADD_TEXT("-1"));
    ADD_TEXT(",");
    COLUMN("fileName", count, {
        if (function_at(x, i)->file)
            ADD_NUMBER(2 * i + 1);
        else
            ADD_TEXT("null");
    });
    ADD_TEXT(",");
    COLUMN("lineNumber", count, {
        if (function_at(x, i)->file)
            ADD_NUMBER(function_at(x, i)->line);
        else
            ADD_TEXT("null");
    });
    ADD_TEXT(",");
    COLUMN("columnNumber", count, ADD_TEXT("null"));
    ntr_out_format(&x->out, ",\"length\":%zu},\n", count);
}

static void write_strings(ntr_export *x) {
    const firefox_state *f = x->state;
    ADD_TEXT("\"stringArray\":[");
    for (size_t i = 0; i < f->function_count; i++) {
        const ntr_function *function = function_at(x, i);
        if (i) ADD_TEXT(",");
        ntr_out_json(&x->out, function->name);
        ADD_TEXT(",");
        ntr_out_json(&x->out, function->file ? function->file : "");
    }
    for (size_t i = 0; i < f->marker_count; i++) {
        if (i || f->function_count) ADD_TEXT(",");
        ntr_out_json(&x->out, f->markers[i].name);
    }
    ADD_TEXT("],\n");
}

static void write_thread(ntr_export *x) {
    firefox_state *f = x->state;
    if (!f->track.number || f->failed) return;
    ntr_out_text(&x->out, f->written ? ",\n{" : "\n{");
    f->written = true;
    ADD_TEXT("\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,"
             "\"unregisterTime\":null,\"pausedRanges\":[],\"name\":");
    ntr_out_json(&x->out, f->track.name);
    ADD_TEXT(",\"processName\":");
    ntr_out_json(&x->out, f->track.process);
    ntr_out_format(&x->out, ",\"isMainThread\":%s,\"pid\":\"%u\",\"tid\":%u,\n",
                   f->track.thread && (!f->track.task || f->track.tid == f->track.pid) ? "true" : "false", f->track.pid,
                   f->track.thread ? f->track.tid : 0x40000000u + f->track.number);
    write_samples(x);
    write_markers(x);
    write_stacks(x);
    write_frames(x);
    write_functions(x);
    write_strings(x);
    ADD_TEXT("\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},\n"
             "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0}}");
}

static void begin_track(ntr_export *x, const ntr_track *track) {
    firefox_state *f = x->state;
    write_thread(x);
    for (size_t i = 0; i < f->function_count; i++) f->local[f->functions[i]] = 0;
    for (size_t i = 0; i < f->marker_count; i++) ntr_dealloc(x->allocator, f->markers[i].name);
    f->node_count = f->sample_count = f->marker_count = f->function_count = 0;
    f->roots = f->current = NO_STACK;
    f->last = 0;
    if (track) f->track = *track;
}

static ntr_status end(ntr_export *x) {
    static const ntr_track_visitor visitor = {begin_track, begin_slice, end_slice, take_moment};
    firefox_state *f = x->state;
    char about[160];
    ntr_status status = ntr_tracks_finish(x);
    while (ntr_functions_get(x->analysis.functions, (uint32_t)f->local_count)) f->local_count++;
    f->local = ntr_alloc(x->allocator, f->local_count + 1, sizeof *f->local);
    if (!status && !f->local) status = NTR_E_MEMORY;
    if (status) return status;
    ntr_tracks_about(x, about, sizeof about);
    ntr_out_format(&x->out,
                   "{\"meta\":{\"preprocessedProfileVersion\":%d,\"version\":%d,\"interval\":0.000001,\"startTime\":0,"
                   "\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
                   "\"importedFrom\":\"ntrace\",\"product\":",
                   PROFILE_VERSION, GECKO_VERSION);
    ntr_out_json(&x->out, x->analysis.title ? x->analysis.title : "trace");
    ADD_TEXT(",\"extra\":[{\"label\":\"Trace\",\"entries\":[{\"label\":\"Time\",\"format\":\"string\",\"value\":");
    ntr_out_json(&x->out, about);
    ADD_TEXT("}]}],\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}],"
             "\"markerSchema\":[]},\n\"libs\":[],\"pages\":[],\"threads\":[");
    status = ntr_tracks_walk(x, &visitor);
    begin_track(x, NULL);
    ADD_TEXT("]}\n");
    return status ? status : f->failed;
}

static void release(ntr_export *x) {
    firefox_state *f = x->state;
    for (size_t i = 0; i < f->marker_count; i++) ntr_dealloc(x->allocator, f->markers[i].name);
    void *const lists[] = {f->nodes, f->samples, f->markers, f->functions, f->local};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) ntr_dealloc(x->allocator, lists[i]);
    ntr_tracks_release(x);
}

const ntr_exporter ntr_exporter_firefox = {
    .name = "firefox",
    .family = "timeline",
    .summary = "profile of the Firefox Profiler (profiler.firefox.com)",
    .aliases = {"gecko"},
    .needs = NTR_TRACKS_NEEDS,
    .state_size = sizeof(firefox_state),
    .begin = ntr_tracks_begin,
    .events = ntr_tracks_events,
    .end = end,
    .release = release,
    .follows = ntr_tracks_follows,
};
