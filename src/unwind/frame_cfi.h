/* Frame rules from the call frame information of ELF files (.eh_frame, .debug_frame), read with libdw. */
#ifndef NTR_UNWIND_FRAME_CFI_H
#define NTR_UNWIND_FRAME_CFI_H

#include "unwind/frame_rule.h"

typedef struct ntr_frame_cfi ntr_frame_cfi;

/* Opens the file of an image. Returns NULL when it has no CFI, when it cannot be read, and without libdw. */
ntr_frame_cfi *ntr_frame_cfi_open(const ntr_image_info *image, const char *debug_path, const ntr_allocator *allocator);
void ntr_frame_cfi_close(ntr_frame_cfi *cfi);

/* Stores the rule at an address of the image. Returns false when the CFI has none, or one that is no register with an
 * offset. */
bool ntr_frame_cfi_rule(const ntr_frame_cfi *cfi, uint64_t address, ntr_frame_rule *rule);

#endif
