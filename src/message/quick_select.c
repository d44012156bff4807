#include "message/quick.h"

#if defined(NTR_HAVE_WIDE)
/* On AMD processors before Zen 3 PEXT is implemented in microcode and slower than the portable code. */
static const ntr_quick *wide(void) {
    __builtin_cpu_init();
    bool slow = __builtin_cpu_is("znver1") || __builtin_cpu_is("znver2");
    bool able = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    return able && !slow ? &ntr_quick_wide : NULL;
}
#else
static const ntr_quick *wide(void) {
    return NULL;
}
#endif

const ntr_quick *ntr_quick_at(unsigned index) {
    switch (index) {
    case 0: return &ntr_quick_portable;
    case 1: return &ntr_quick_native;
    case 2: return wide();
    default: return NULL;
    }
}

const ntr_quick *ntr_quick_best(void) {
    const ntr_quick *best = wide();
    return best ? best : &ntr_quick_native;
}
