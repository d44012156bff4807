/* Instructions of the logs of simulators and cores: an address and an opcode each, which no image needs to have. */
#ifndef NTR_INGRESS_LOGGED_H
#define NTR_INGRESS_LOGGED_H

#include <ntrace/ingress.h>

/* Whether a log has addresses of RV64, where nobody but the number of their digits says it. */
typedef struct ntr_logged_width {
    bool found; /* the digits are those of RV64 */
    bool low;   /* code of RV64 from 0x80000000 was seen */
} ntr_logged_width;

#define NTR_LOGGED_WIDTH_WHY                                                                                           \
    "expected --xlen or a program (-e): this address is one of RV64, or one of RV32 that is sign-extended"

/* Takes the next address. Returns false if it may be one of RV32 as well: the kernels of RV64 are there, and all code
 * of RV32 from 0x80000000. */
bool ntr_logged_width_take(ntr_logged_width *width, uint64_t pc);

/* Enters a retired instruction. The log has its bytes; the program of the classifier, if there is one, has its ISA and
 * the table of its jump. `xlen` applies without a program. Stores the kind of its flow in *flow (NULL: not).
 * Errors: NTR_E_SYNTAX (*why says what is wrong), those of the classifier. */
ntr_status ntr_logged_retire(ntr_classifier *classifier, unsigned xlen, uint64_t pc, uint64_t opcode, uint8_t *flow,
                             const char **why);

#endif
