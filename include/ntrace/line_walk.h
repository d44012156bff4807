/* Moving through a replay by source lines, for one hart. */
#ifndef NTRACE_LINE_WALK_H
#define NTRACE_LINE_WALK_H

#include <ntrace/debug_info.h>
#include <ntrace/replay.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The caller sets the first four members, which must outlive the walk; the others are read. */
typedef struct ntr_line_walk {
    ntr_replay *replay;
    ntr_debug_info *debug;
    const ntr_program *program;
    uint16_t src;
    ntr_replay_hart hart; /* at the position */
    ntr_frame line;       /* innermost frame of the debug information there; function NULL: not known */
    size_t depth;         /* of the call stack */
    bool behind_gap;      /* `gap` is directly before the position */
    ntr_event gap;
} ntr_line_walk;

/* Reads the state at the position of the replay. */
NTR_LAB_API void ntr_line_walk_arrive(ntr_line_walk *walk);

/* Moves by one instruction, to another line (`step`), to another line of this function or its caller (`next`), or out
 * of the function (`finish`). Backward: the same in the other direction; `finish` then goes to the call. Returns false
 * at an end of the trace, and when interrupted. */
typedef enum ntr_line_move { NTR_LINE_INSTRUCTION, NTR_LINE_STEP, NTR_LINE_NEXT, NTR_LINE_FINISH } ntr_line_move;
NTR_LAB_API bool ntr_line_walk_move(ntr_line_walk *walk, ntr_line_move move, bool backward);

/* Goes to the next or previous place where execution is missing. Returns NULL, or why this is not possible. */
NTR_LAB_API const char *ntr_line_walk_gap(ntr_line_walk *walk, bool backward);

/* Goes to the next or previous place: #MESSAGE, @OFFSET, t:TIME, N%, an address, LINE or FILE:LINE, a function. Returns
 * NULL, or why this is not possible; the position is then unchanged. */
NTR_LAB_API const char *ntr_line_walk_search(ntr_line_walk *walk, const char *what, bool backward);

#ifdef __cplusplus
}
#endif
#endif
