/* The screen of `ntrace view`: source on the left, disassembly and call stack on the right, the place in the last line.
 */
#ifndef CLI_TEXT_VIEW_SCREEN_H
#define CLI_TEXT_VIEW_SCREEN_H

#include "io/source_text.h"
#include "text/disasm.h"

#include <ntrace/line_walk.h>

struct cli_view {
    ntr_line_walk *walk;
    struct cli_source_text *source;
    struct cli_disasm *disasm; /* NULL: not available */
    uint64_t total; /* instructions of the trace */
    char note[160]; /* shown instead of the keys until the next key */
};

/* Shows the trace until the user quits. Returns false, with a reason in *why, when the terminal cannot be used. */
bool cli_view_run(struct cli_view *view, const char **why);

#endif
