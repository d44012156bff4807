#include <ntrace/limits.h>

uint64_t ntr_limits_get(const ntr_limits *limits, ntr_limit limit) {
    static const struct {
        uint64_t value, highest;
    } rows[] = {
#define NTR_LIMIT(constant, name, value, highest, what) {value, highest},
#include <ntrace/limits.def>
#undef NTR_LIMIT
    };

    if ((unsigned)limit >= NTR_LIMIT_COUNT) return 0;
    const uint64_t given = limits ? limits->values[limit] : 0;
    if (!given) return rows[limit].value;
    return given < rows[limit].highest ? given : rows[limit].highest;
}
