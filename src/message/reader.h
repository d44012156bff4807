/* Reader: what other parts of the library use besides ntrace/reader.h. */
#ifndef NTR_MESSAGE_READER_H
#define NTR_MESSAGE_READER_H

#include <ntrace/reader.h>

/* Passes over messages of these TCODEs, whose fields are not checked, as far as it is quick. `tcodes`: a set for each source (bit i:
 * TCODE i). */
void ntr_reader_pass(ntr_reader *reader, const uint64_t *tcodes);

#endif
