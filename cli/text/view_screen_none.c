/* Built without ncurses. */
#include "text/view_screen.h"

bool cli_view_run(struct cli_view *view, const char **why) {
    (void)view;
    *why = "this ntrace was built without ncurses";
    return false;
}
