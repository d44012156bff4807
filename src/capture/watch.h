/* Which loads and stores are traced: all, those of a range of addresses, or those of an object. */
#ifndef NTR_CAPTURE_WATCH_H
#define NTR_CAPTURE_WATCH_H

#include "capture/state.h"

#include <ntrace/capture.h>

/* Before the program starts: what the plugin reports. Where an object is becomes known when its file is mapped; until
 * then the plugin reports all accesses. */
void ntr_capture_watch_begin(struct ntr_capture_harts *harts, const ntr_capture_config *config);

/* Is it known where the object is? The objects of a machine are known from the beginning. */
bool ntr_capture_watch_find(struct ntr_capture_harts *harts);

/* Is the access at this address traced? When the object has been found, the plugin leaves out all others. */
bool ntr_capture_watches(struct ntr_capture_harts *harts, uint64_t address);

#endif
