/* The window: which part of the execution is traced. It opens when `skip` instructions have retired and an instruction
 * at one of the addresses of `start` is reached, and closes for ever when it then reaches one of `stop`.
 *
 * Words of a lane are looked at before they are encoded. Before the window opens they are only counted; a hart that
 * begins inside of a block begins with a part of it (hart->tail). All harts share the window: it opens and closes for
 * the others with the words that are read next, because there is no common order of the words of different lanes. */
#ifndef NTR_CAPTURE_WINDOW_H
#define NTR_CAPTURE_WINDOW_H

#include "capture/state.h"

#include <ntrace/capture.h>

/* Is the address of the place known? The program's files are looked at again when there are more of them. */
bool ntr_capture_window_find(struct ntr_capture_harts *harts, struct ntr_capture_place *place);

/* Does all of it belong to the window? Then the functions below need not be called. */
static inline bool ntr_capture_window_is_whole(const struct ntr_capture_harts *harts) {
    return harts->window.state == NTR_CAPTURE_WINDOW_OPEN && !harts->window.stop.given;
}

/* Pass over words that are not traced. Returns the first word that is, or `end`. */
const uint32_t *ntr_capture_window_pass(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                                        const uint32_t *words, const uint32_t *end);

/* The window is open: the first word at which it closes, or `end`. */
const uint32_t *ntr_capture_window_limit(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart,
                                         const uint32_t *words, const uint32_t *end);

/* Close the window at this word, from ntr_capture_window_limit. */
void ntr_capture_window_close(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, const uint32_t *word);

/* Does the window close in block `number`? */
bool ntr_capture_window_stops_in(struct ntr_capture_harts *harts, uint32_t number);

/* ---- Which loads and stores are traced: all, those of a range of addresses, or those of an object. */

/* Before the program starts: what the plugin reports. Where an object is becomes known when its file is mapped; until
 * then the plugin reports all accesses. */
void ntr_capture_watch_begin(struct ntr_capture_harts *harts, const ntr_capture_config *config);

/* Is it known where the object is? The objects of a machine are known from the beginning. */
bool ntr_capture_watch_find(struct ntr_capture_harts *harts);

/* Is the access at this address traced? When the object has been found, the plugin leaves out all others. */
bool ntr_capture_watches(struct ntr_capture_harts *harts, uint64_t address);

#endif
