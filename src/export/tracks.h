/* The tracks of a timeline, for the formats that show what ran over time: functions of each hart and thread, traps,
 * contexts, gaps, threads, and moments (loads and stores, watchpoints, data acquisition).
 *
 * `ntr_tracks` is the first member of the state of such an exporter; ntr_tracks_begin, _events, _release and _follows
 * are functions of `ntr_exporter`, and its end calls ntr_tracks_walk. */
#ifndef NTR_EXPORT_TRACKS_H
#define NTR_EXPORT_TRACKS_H

#include "export/export.h"
#include "export/moments.h"

#include <ntrace/timeline.h>

typedef struct ntr_tracks {
    ntr_timeline *timeline;
    ntr_moments points;
    bool follows; /* the call stacks are those of the tree */
    uint64_t per_second;
} ntr_tracks;

enum { NTR_TRACKS_NEEDS = NTR_NEEDS_EVENTS | NTR_NEEDS_CALLS | NTR_NEEDS_STACKS };

enum { NTR_TRACK_NAME = 96 };

typedef struct ntr_track {
    uint32_t number; /* from 1 */
    const ntr_timeslice *first; /* NULL: moments */
    const ntr_task *task;       /* thread of an operating system; NULL: of a hart */
    bool thread;                /* the functions of a thread, or of the first context of a hart */
    uint32_t pid, tid;          /* `thread`: of a thread, or numbers of the process and the hart */
    const char *process;
    char name[NTR_TRACK_NAME];
} ntr_track;

/* What is done with the tracks. Times are nanoseconds, or instructions of the hart when the trace has no time; they do
 * not decrease within a track. Slices of a track are nested: `end` is of the slice that began last and has not ended.
 */
typedef struct ntr_track_visitor {
    void (*track)(ntr_export *x, const ntr_track *track); /* the following is of this track */
    void (*begin)(ntr_export *x, uint64_t time, const ntr_timeslice *slice);
    void (*end)(ntr_export *x, uint64_t time, const ntr_timeslice *slice);
    void (*moment)(ntr_export *x, uint64_t time, const char *text);
} ntr_track_visitor;

ntr_status ntr_tracks_begin(ntr_export *x);
ntr_status ntr_tracks_events(ntr_export *x, const ntr_event *list, size_t count);
void ntr_tracks_release(ntr_export *x);
bool ntr_tracks_follows(const ntr_export *x);

/* Ends the timeline. Errors: NTR_E_MEMORY. */
ntr_status ntr_tracks_finish(ntr_export *x);
/* Visits all tracks after ntr_tracks_finish. Errors: NTR_E_MEMORY, those of the output. */
ntr_status ntr_tracks_walk(ntr_export *x, const ntr_track_visitor *visitor);

/* Returns a time of a slice in the unit of the visitor. */
uint64_t ntr_tracks_time(const ntr_export *x, uint64_t time);
/* Returns the number of the process of the harts, which no process of the system has. */
uint32_t ntr_tracks_harts_pid(const ntr_export *x);
/* Returns whether times are of the trace's clock, not instructions. */
bool ntr_tracks_timed(const ntr_export *x);
/* Writes what the unit of time is, and which functions are left out. */
void ntr_tracks_about(const ntr_export *x, char *text, size_t size);

/* Returns the name of a slice, which may be in `buffer`. */
const char *ntr_slice_name(const ntr_export *x, const ntr_timeslice *slice, char buffer[NTR_TRACK_NAME]);
/* The word for the kind of a slice: "function", "trap", "context", "gap", "thread". */
const char *ntr_slice_kind(const ntr_timeslice *slice);

#endif
