#include <ntrace/interrupts.h>

/* Buckets: one for each value below EXACT, then STEPS for each power of two. */
enum { EXACT = 64, EXACT_BITS = 6, STEPS = 32, STEP_BITS = 5 };
_Static_assert(NTR_HISTOGRAM_BUCKETS == EXACT + (64 - EXACT_BITS) * STEPS, "every value has a bucket");

static unsigned bucket_of(uint64_t value) {
    if (value < EXACT) return (unsigned)value;
    unsigned power = 63 - (unsigned)__builtin_clzll(value);
    return EXACT + (power - EXACT_BITS) * STEPS + (unsigned)(value >> (power - STEP_BITS) & (STEPS - 1));
}

/* Returns the highest value of a bucket. */
static uint64_t top_of(unsigned bucket) {
    if (bucket < EXACT) return bucket;
    unsigned shift = (bucket - EXACT) / STEPS + EXACT_BITS - STEP_BITS;
    uint64_t low = (uint64_t)(STEPS + (bucket - EXACT) % STEPS) << shift;
    return low + (((uint64_t)1 << shift) - 1);
}

void ntr_histogram_add(ntr_histogram *s, uint64_t value) {
    if (s->count == 0 || value < s->least) s->least = value;
    if (value > s->most) s->most = value;
    s->count++;
    if (__builtin_add_overflow(s->sum, value, &s->sum)) s->sum = UINT64_MAX;
    s->buckets[bucket_of(value)]++;
}

uint64_t ntr_histogram_percentile(const ntr_histogram *s, unsigned percent) {
    uint64_t rank = s->count / 100 * percent + (s->count % 100 * percent + 99) / 100, seen = 0;
    for (unsigned i = 0; i < NTR_HISTOGRAM_BUCKETS && s->count; i++) {
        seen += s->buckets[i];
        if (seen >= rank) return top_of(i) < s->most ? top_of(i) : s->most;
    }
    return s->most;
}

uint64_t ntr_histogram_octave(const ntr_histogram *s, unsigned power) {
    uint64_t low = power ? (uint64_t)1 << power : 0, count = 0;
    unsigned last = bucket_of(((uint64_t)2 << power) - 1); /* for power 63: UINT64_MAX */
    for (unsigned i = bucket_of(low); i <= last; i++) count += s->buckets[i];
    return count;
}
