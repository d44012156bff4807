/* Moving through a replay by source lines, for one hart. */
#ifndef CLI_IO_WALK_H
#define CLI_IO_WALK_H

#include <ntrace/debug_info.h>
#include <ntrace/replay.h>

struct cli_walk {
    ntr_replay *replay;
    ntr_debug_info *debug;
    const ntr_program *program;
    uint16_t src;
    ntr_replay_hart hart; /* at the position */
    ntr_frame line;       /* innermost frame of the debug information there; function NULL: not known */
    size_t depth;         /* of the call stack */
    bool behind_gap;      /* `gap` is directly before the position */
    ntr_event gap;
};

/* Reads the state at the position of the replay. */
void cli_walk_arrive(struct cli_walk *walk);

/* Moves by one instruction, to another line (`step`), to another line of this function or its caller (`next`), or out
 * of the function (`finish`). Backward: the same in the other direction; `finish` then goes to the call. Returns false
 * at an end of the trace, and when interrupted. */
enum cli_walk_move { CLI_WALK_INSTRUCTION, CLI_WALK_STEP, CLI_WALK_NEXT, CLI_WALK_FINISH };
bool cli_walk_move(struct cli_walk *walk, enum cli_walk_move move, bool backward);

/* Goes to the next or previous place where execution is missing. Returns NULL, or why this is not possible. */
const char *cli_walk_gap(struct cli_walk *walk, bool backward);

/* Goes to the next or previous place: #MESSAGE, @OFFSET, t:TIME, N%, an address, LINE or FILE:LINE, a function. Returns
 * NULL, or why this is not possible; the position is then unchanged. */
const char *cli_walk_search(struct cli_walk *walk, const char *what, bool backward);

#endif
