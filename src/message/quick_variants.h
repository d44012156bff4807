#ifndef NTR_MESSAGE_QUICK_VARIANTS_H
#define NTR_MESSAGE_QUICK_VARIANTS_H

#include "message/quick.h"

extern const ntr_quick ntr_quick_portable, ntr_quick_native;

/* Built where the compiler can (NTR_HAVE_WIDE). */
extern const ntr_quick ntr_quick_wide;

#endif
