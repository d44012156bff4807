/* Faults of plain accesses. In user mode the guest's memory is QEMU's own: an access that must not be made raises a
 * signal in QEMU itself, whose handler leaves the block for good when the fault is the guest's, and comes back when it
 * was QEMU's own doing (a page of translated code is protected until it is written). */
#include "plugin.h"

#include <signal.h>

static const int signals[] = {SIGSEGV, SIGBUS};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static struct sigaction qemus[SIGNALS];

static void on_fault(int signal, siginfo_t *info, void *context) {
    atomic_store(&channel->head.faulted, 1);
    qemus[signal == SIGBUS].sa_sigaction(signal, info, context);
    atomic_store(&channel->head.faulted, 0);
}

static bool watch(void) {
    for (unsigned i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &qemus[i]) || !(qemus[i].sa_flags & SA_SIGINFO)) return false;
    for (unsigned i = 0; i < SIGNALS; i++) {
        struct sigaction ours = qemus[i];
        ours.sa_sigaction = on_fault;
        if (sigaction(signals[i], &ours, NULL)) return false;
    }
    return true;
}

bool faults_are_seen(void) {
    static enum { NOT_ASKED, NO, YES } seen;

    if (seen == NOT_ASKED) seen = watch() ? YES : NO;
    return seen == YES;
}
