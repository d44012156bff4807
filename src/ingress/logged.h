/* Instructions of the logs of simulators and cores: an address and an opcode each, which no image needs to have. */
#ifndef NTR_INGRESS_LOGGED_H
#define NTR_INGRESS_LOGGED_H

#include <ntrace/ingress.h>

/* Enters a retired instruction. The log has its bytes; the program of the classifier, if there is one, has its ISA and
 * the table of its jump. `xlen` applies without a program. Stores the kind of its flow in *flow (NULL: not).
 * Errors: NTR_E_SYNTAX (*why says what is wrong), those of the classifier. */
ntr_status ntr_logged_retire(ntr_classifier *classifier, unsigned xlen, uint64_t pc, uint64_t opcode, uint8_t *flow,
                             const char **why);

#endif
