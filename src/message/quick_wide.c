/* Compiled with -mavx2 -mbmi -mbmi2; quick_select.c uses it only on processors that have these. */
#define NTR_VARIANT      ntr_quick_wide
#define NTR_VARIANT_NAME "avx2+bmi2"
#include "message/quick.h"

#include "message/quick_variant.h"

#undef NTR_VARIANT
#undef NTR_VARIANT_NAME
