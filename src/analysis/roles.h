/* What a function does in an operating system, by its name (roles.def), and the names of causes of traps (causes.def).
 */
#ifndef NTR_ANALYSIS_ROLES_H
#define NTR_ANALYSIS_ROLES_H

#include <stdbool.h>
#include <stdint.h>

#define NTR_CAUSE_NONE 0xff

typedef enum ntr_os_role {
    NTR_OS_NONE,
    NTR_OS_SWITCH,
    NTR_OS_SWAP,
    NTR_OS_SET,
    NTR_OS_GOGO,
    NTR_OS_EXECUTE,
    NTR_OS_MCALL,
    NTR_OS_GOEXIT,
    NTR_OS_FIBER,
    NTR_OS_PERFORM,
    NTR_OS_REPERFORM,
    NTR_OS_RESUME,
    NTR_OS_C_CALL,
    NTR_OS_LINKS,
    NTR_OS_EXIT,
    NTR_OS_EXEC,
    NTR_OS_EXCEPTION,
    NTR_OS_SYSCALL,
    NTR_OS_INTERRUPT,
    NTR_OS_DISPATCH,
    NTR_OS_CONTROLLER,
    NTR_OS_INITCALLS,
    NTR_OS_PHASE,
} ntr_os_role;

typedef struct ntr_role_info {
    uint8_t role;      /* ntr_os_role */
    uint8_t cause;     /* or NTR_CAUSE_NONE */
    const char *shown; /* name of the trap or the system call: static storage, or inside `function` */
} ntr_role_info;

ntr_role_info ntr_role_of(const char *function);

/* Returns whether this is the function of Linux that switches threads by NTR_OS_SWITCH. */
bool ntr_role_calls_switch(const char *function);

static inline bool ntr_cause_is_ecall(unsigned exception) {
    enum { ECALL_FIRST = 8, ECALL_LAST = 11 };
    return exception >= ECALL_FIRST && exception <= ECALL_LAST;
}

/* NULL: reserved, or not known. */
const char *ntr_cause_name(bool interrupt, unsigned cause);

#endif
