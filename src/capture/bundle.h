/* What is recorded about a capture beside its stream: the program files, code bytes that no file holds, sources,
 * losses, and how the stream came to be (capture.json). */
#ifndef NTR_CAPTURE_BUNDLE_H
#define NTR_CAPTURE_BUNDLE_H

#include "capture/guest.h"
#include "capture/state.h"

#include <ntrace/bundle.h>

enum { NTR_CAPTURE_LOSSES = 300 }; /* more than a modelled system lists, and those of the engine */

/* Lines that live as long as the system, or forever. */
struct ntr_capture_losses {
    ntr_bundle_loss items[NTR_CAPTURE_LOSSES];
    size_t count;
};

struct ntr_capture_report {
    const ntr_capture_config *config;
    const struct ntr_capture_harts *harts; /* finished, also their code */
    const struct ntr_capture_guest *guest; /* reaped */
    const char *stream;                    /* file in the bundle */
    unsigned xlen;
};

/* Copy the files, describe everything and complete the bundle. *losses is filled in also when this fails later. */
ntr_status ntr_capture_bundle_finish(ntr_bundle *bundle, const struct ntr_capture_report *report,
                                     struct ntr_capture_losses *losses, struct ntr_capture_reason *reason);

#endif
