/* The index of the explorer, kept in a folder for the next start: --cache. */
#ifndef CLI_COMMANDS_EXPLORE_INDEX_H
#define CLI_COMMANDS_EXPLORE_INDEX_H

#include "commands/explore/session.h"

/* Takes the index of an earlier start, if there is one. Nothing is reported: otherwise the index is made. */
void explore_index_load(struct explore_session *session, const struct explore_options *options);

/* Keeps the complete index, if it was not loaded and took long, or if --cache was given. Reports an error only in the
 * second case. */
void explore_index_keep(struct explore_session *session, const struct explore_options *options);

#endif
