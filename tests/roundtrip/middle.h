/* Decoding from the middle of a stream by an index gives the same events as decoding the whole stream. */
#ifndef NTRACE_TESTS_MIDDLE_H
#define NTRACE_TESTS_MIDDLE_H

#include "judge.h"

verdict judge_middle(const ntr_params *params, const ntr_program *program, ntr_bytes stream, prng *random);

#endif
