/* Functions that are inlined in ways.cc. The counts of their lines are others than gcov's (docs/coverage-rules.md). */
#define INLINE inline __attribute__((always_inline))
struct slice {
    const char *text;
    int n;
    INLINE slice(const char *s, int c) : text(s), n(c) {}
};
static INLINE int copied(int n) {
    total += n;
    return total;
}
