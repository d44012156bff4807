/* Faults of plain accesses. In user mode the guest's memory is part of QEMU's: a forbidden access raises a signal in
 * QEMU itself. QEMU's handler does not return when the guest is to get the signal. It returns when QEMU had protected
 * the page itself, because it held translated code. */
#include "state.h"

#include <signal.h>

static const int signals[] = {SIGSEGV, SIGBUS};
enum { FAULT_SIGNALS = sizeof signals / sizeof signals[0] };

static struct sigaction qemus[FAULT_SIGNALS];

static void on_fault(int signal, siginfo_t *info, void *context) {
    struct channel_lane *lane = &channel->lanes[syscalls_vcpu()];

    atomic_store(&channel->head.faulted, 1);
    if (frames_are_known()) atomic_store(&lane->reached, 0); /* stays if the fault ends the guest */
    qemus[signal == SIGBUS].sa_sigaction(signal, info, context);
    atomic_store(&channel->head.faulted, 0);
    if (frames_are_known()) atomic_store(&lane->reached, UINT32_MAX);
}

static bool watch(void) {
    for (unsigned i = 0; i < FAULT_SIGNALS; i++)
        if (sigaction(signals[i], NULL, &qemus[i]) || !(qemus[i].sa_flags & SA_SIGINFO)) return false;
    for (unsigned i = 0; i < FAULT_SIGNALS; i++) {
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
