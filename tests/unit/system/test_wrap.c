/* RAM sinks of every size, filled from nothing to many times over: what is in the buffer from its first
 * synchronization on is what was executed last. */
#include "../test.h"
#include "machine.h"
#include "topologies.h"

enum { RUNS = TEST_ROUNDS(2000), BUFFER = 65536 };

typedef struct buffer {
    uint8_t bytes[BUFFER];
    size_t size;
} buffer;

static ntr_status keep(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    buffer *b = user;
    (void)id;
    assert_true(b->size + size <= BUFFER);
    memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
    return NTR_OK;
}

/* System memory, in SMEM mode: anything outside is an error of the sink. */
typedef struct memory {
    uint64_t base;
    uint8_t bytes[BUFFER];
} memory;

static bool memory_write(void *user, uint64_t address, const uint8_t *bytes, size_t size) {
    memory *m = user;
    if (address < m->base || address - m->base > BUFFER - size) return false;
    memcpy(m->bytes + (address - m->base), bytes, size);
    return true;
}

static bool memory_read(void *user, uint64_t address, uint8_t *out, size_t size) {
    memory *m = user;
    if (address < m->base || address - m->base > BUFFER - size) return false;
    memcpy(out, m->bytes + (address - m->base), size);
    return true;
}

typedef struct plan {
    bool smem, stop;
    unsigned access, sram;
    uint64_t start, limit;
    unsigned instructions;
} plan;

static plan make_plan(uint64_t *random, memory *m) {
    plan p = {0};
    p.smem = random_below(random, 2);
    p.stop = random_below(random, 5) == 0;
    p.access = 4u << random_below(random, 3);
    p.sram = 64u << random_below(random, 11);
    const unsigned words = p.sram / p.access;
    p.limit = (uint64_t)p.access * (words / 2 + random_below(random, (words + 1) / 2));
    if (p.smem) {
        m->base = 0x100000000ull * random_below(random, 3) + 0x40000000;
        p.start = m->base;
        p.limit += m->base;
    }
    const unsigned most = 8 * p.sram, quick = 3000; /* the large ones only now and then */
    p.instructions = 20 + random_below(random, most > quick && random_below(random, 40) ? quick : most);
    return p;
}

static ntr_system *make_system(const plan *p, memory *m, unsigned seed) {
    char json[1024];
    ntr_system_config config = {.memory_read = memory_read, .memory_write = memory_write, .user = m};
    snprintf(
        json, sizeof json,
        "{\"components\":[{\"name\":\"te\",\"type\":\"encoder\",\"base\":0,\"hart\":0,\"to\":\"ram\","
        "\"set\":{\"trTeInstSyncMode\":3,\"trTeInstSyncMax\":%u,\"trTeInstMode\":%u,\"trTeInstEnRepeatedHistory\":%u}},"
        "{\"name\":\"ram\",\"type\":\"ram\",\"base\":4096,\"sram\":%u,\"smem\":true,\"address_bits\":40,\"access\":%u,"
        "\"start_align\":64,\"set\":{\"trRamMode\":%u,\"trRamStopOnWrap\":%u}}]}",
        seed % 7, seed & 1 ? 3u : 6u, seed >> 1 & 1, p->sram, p->access, p->smem, p->stop);
    return new_system(json, &config);
}

static void set_window(ntr_system *s, const plan *p) {
    write32(s, 4096 + 0x14, (uint32_t)(p->start >> 32));
    write32(s, 4096 + 0x10, (uint32_t)p->start);
    write32(s, 4096 + 0x1c, (uint32_t)(p->limit >> 32));
    write32(s, 4096 + 0x18, (uint32_t)p->limit);
    write32(s, 4096 + 0x24, (uint32_t)(p->start >> 32));
    write32(s, 4096 + 0x20, (uint32_t)p->start);
}

/* Bring up as ntr_system_start does, with the buffer's window in between. */
static void start(ntr_system *s, const plan *p) {
    assert_int_equal(ntr_system_start(s), NTR_OK);
    write32(s, 0, read32(s, 0) & ~6u);
    write32(s, 4096, read32(s, 4096) & ~2u);
    set_window(s, p);
    write32(s, 4096, read32(s, 4096) | 2);
    assert_int_equal(read32(s, 4096) & 2, 2);
    write32(s, 0, read32(s, 0) | 2);
    write32(s, 0, read32(s, 0) | 4);
}

/* Everything decoded must be a run of what was executed, up to its end unless the sink stopped when full. */
static void check(const plan *p, const decoded *d, const traced_hart *t, bool cut) {
    const size_t executed = t->hart.count;
    assert_true(d->count <= executed);
    if (!cut && p->stop) {
        assert_memory_equal(d->pcs, t->hart.pcs, d->count * sizeof d->pcs[0]);
        return;
    }
    if (!cut) assert_int_equal(d->count, executed);
    if (d->count) assert_memory_equal(d->pcs, t->hart.pcs + executed - d->count, d->count * sizeof d->pcs[0]);
}

/* CI-176 */
static void wrap(void **state) {
    static memory m;
    static buffer b;
    unsigned wrapped = 0, decoded_something = 0;
    (void)state;
    for (unsigned seed = 1; seed <= RUNS; seed++) {
        uint64_t random = seed * 7919;
        const plan p = make_plan(&random, &m);
        ntr_system *s = make_system(&p, &m, seed);
        traced_hart t;
        ntr_params params;
        bool cut;
        traced_init(&t, s, 0, seed, 4);
        start(s, &p);
        traced_run(&t, p.instructions, false);
        traced_halt(&t);
        const bool stopped = !(read32(s, 4096) & 2);
        assert_int_equal(ntr_system_stop(s), NTR_OK); /* a full sink discards what it has no room for */
        b.size = 0;
        assert_int_equal(ntr_system_read_ram(s, 1, keep, &b, &cut), NTR_OK);
        assert_int_equal(ntr_system_params(s, 0, &params), NTR_OK);
        if (cut) assert_int_equal(b.size, p.limit - p.start + p.access);
        if (stopped) assert_true(!cut && b.size == p.limit - p.start + p.access);
        decoded d = decode(b.bytes, b.size, &params, t.hart.program, 0, cut);
        check(&p, &d, &t, cut);
        wrapped += cut;
        decoded_something += d.count > 0;
        free(d.pcs);
        traced_release(&t);
        ntr_system_free(s);
    }
    assert_true(wrapped > RUNS / 5 && wrapped < RUNS * 4 / 5);
    assert_true(decoded_something > RUNS * 3 / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(wrap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
