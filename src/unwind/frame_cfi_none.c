/* Built without libdw. */
#include "unwind/frame_rules.h"

ntr_frame_cfi *ntr_frame_cfi_open(const ntr_image_info *image, const char *debug_path, const ntr_limits *limits,
                                  const ntr_allocator *allocator) {
    (void)image, (void)debug_path, (void)limits, (void)allocator;
    return NULL;
}

void ntr_frame_cfi_close(ntr_frame_cfi *cfi) {
    (void)cfi;
}

bool ntr_frame_cfi_rule(const ntr_frame_cfi *cfi, uint64_t address, ntr_frame_rule *rule) {
    (void)cfi, (void)address, (void)rule;
    return false;
}
