#define NTR_VARIANT      ntr_quick_native
#define NTR_VARIANT_NAME "native"
#include "message/quick.h"

#include "message/quick_variant.h"

#undef NTR_VARIANT
#undef NTR_VARIANT_NAME
