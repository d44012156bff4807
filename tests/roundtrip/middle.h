/* Decoding from the middle of a stream, by an index, tells what decoding all of it tells there. */
#ifndef NTRACE_TESTS_MIDDLE_H
#define NTRACE_TESTS_MIDDLE_H

#include "judge.h"

verdict judge_middle(const ntr_params *params, const ntr_program *program, ntr_bytes stream, prng *random);

#endif
