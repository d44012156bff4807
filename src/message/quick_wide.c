/* Compiled with -mavx2 -mbmi -mbmi2; nothing of this file runs where the processor has them not. */
#define NTR_VARIANT ntr_quick_wide
#define NTR_VARIANT_NAME "avx2+bmi2"
#include "message/quick.h"

#include "message/quick_variant.h"
