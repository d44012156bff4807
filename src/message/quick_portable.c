#define NTR_PORTABLE
#define NTR_VARIANT      ntr_quick_portable
#define NTR_VARIANT_NAME "portable"
#include "message/quick.h"

#include "message/quick_variant.h"

#undef NTR_VARIANT
#undef NTR_VARIANT_NAME
