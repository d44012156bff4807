/* `ntrace run`: what the trace says about a program that a signal ended. */
#ifndef CLI_COMMANDS_RUN_CRASH_H
#define CLI_COMMANDS_RUN_CRASH_H

#include <ntrace/capture.h>

/* Reports the signal, the instruction and its source line, and the call stack at the end of the trace, if the signal is
 * one of a fault. Does nothing for a program that no signal ended. */
void cli_run_crash(const ntr_capture_result *result);

#endif
