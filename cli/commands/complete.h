/* Completion of command lines. */
#ifndef CLI_COMMANDS_COMPLETE_H
#define CLI_COMMANDS_COMPLETE_H

/* Prints what the last of the words can be: the command, options, values, sources and functions of the trace that the
 * words name. `words` ends with NULL. Returns CLI_DEFECTS if there is none: the word is a file. */
int cli_complete(char **words);

#endif
