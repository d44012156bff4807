/* Software that knows only addresses and the register page brings up four harts, a funnel and a RAM sink. Offsets
 * and bits are written here as numbers: this test shares nothing with the register table. */
#include "../test.h"
#include "machine.h"
#include "topologies.h"

enum { HARTS = 4, TE = 0x10000000, FUNNEL = 0x10010000, RAM = 0x10020000 };

static const char topology[] =
    "{\"about\": \"four harts, one funnel, one RAM sink\", \"components\": ["
    "{\"name\": \"te0\", \"type\": \"encoder\", \"base\": \"0x10000000\", \"hart\": 0, \"to\": \"f:0\"},"
    "{\"name\": \"te1\", \"type\": \"encoder\", \"base\": \"0x10001000\", \"hart\": 1, \"to\": \"f:1\"},"
    "{\"name\": \"te2\", \"type\": \"encoder\", \"base\": \"0x10002000\", \"hart\": 2, \"to\": \"f:2\"},"
    "{\"name\": \"te3\", \"type\": \"encoder\", \"base\": \"0x10003000\", \"hart\": 3, \"to\": \"f:7\"},"
    "{\"name\": \"f\", \"type\": \"funnel\", \"base\": \"0x10010000\", \"to\": \"ram\"},"
    "{\"name\": \"ram\", \"type\": \"ram\", \"base\": \"0x10020000\", \"sram\": 65536}]}";

static void wait_for(ntr_system *s, uint64_t address, uint32_t mask, uint32_t value) {
    for (unsigned tries = 0; tries < 1000; tries++) {
        if ((read32(s, address) & mask) == value) return;
        ntr_system_step(s, 1);
    }
    fail_msg("0x%llx stays 0x%x", (unsigned long long)address, read32(s, address));
}

static void activate(ntr_system *s, uint64_t base, unsigned type) {
    write32(s, base, 0);
    wait_for(s, base, 1, 0);
    write32(s, base, 1);
    wait_for(s, base, 1, 1);
    assert_int_equal(read32(s, base + 4) & 0xfff, 0x001 | type << 8);
}

static void bring_up(ntr_system *s) {
    activate(s, RAM, 9);
    activate(s, FUNNEL, 8);
    for (unsigned h = 0; h < HARTS; h++) activate(s, TE + 0x1000 * h, 1);

    /* RAM: SRAM mode, whole memory, empty */
    write32(s, RAM, 0x1);
    assert_int_equal(read32(s, RAM) & 0x10, 0);
    write32(s, RAM + 0x18, 0xffffffff);
    assert_int_equal(read32(s, RAM + 0x18), 0xfffc);
    write32(s, RAM + 0x20, 0);
    write32(s, RAM, 0x3);
    wait_for(s, RAM, 2, 2);

    write32(s, FUNNEL + 8, 0);
    write32(s, FUNNEL, 0x3);
    wait_for(s, FUNNEL, 2, 2);

    for (unsigned h = 0; h < HARTS; h++) {
        const uint64_t te = TE + 0x1000 * h;
        write32(s, te + 0xc, 0);
        write32(s, te + 8, 2u << 28 | h << 16 | 1u << 3 | 3u << 6 | 1u << 8); /* SRC, implicit return, repeats */
        write32(s, te, 6u << 4 | 3u << 16 | 8u << 20 | 1u << 24 | 1);
        assert_int_equal(read32(s, te) >> 4 & 7, 6);
        write32(s, te, read32(s, te) | 2);
        wait_for(s, te, 2, 2);
        write32(s, te, read32(s, te) | 4);
    }
}

static void flush(ntr_system *s) {
    for (unsigned h = 0; h < HARTS; h++) {
        write32(s, TE + 0x1000 * h, read32(s, TE + 0x1000 * h) & ~2u);
        wait_for(s, TE + 0x1000 * h, 0xa, 8);
    }
    write32(s, FUNNEL, read32(s, FUNNEL) & ~2u);
    wait_for(s, FUNNEL, 0xa, 8);
    write32(s, RAM, read32(s, RAM) & ~2u);
    wait_for(s, RAM, 0xa, 8);
}

static size_t read_buffer(ntr_system *s, uint8_t *out) {
    const uint32_t wp = read32(s, RAM + 0x20);
    assert_int_equal(wp & 1, 0); /* not wrapped */
    write32(s, RAM + 0x28, 0);
    for (uint32_t at = 0; at < wp; at += 4) {
        const uint32_t word = read32(s, RAM + 0x40);
        for (unsigned byte = 0; byte < 4; byte++) out[at + byte] = (uint8_t)(word >> 8 * byte);
    }
    assert_int_equal(read32(s, RAM + 0x28), wp);
    return wp;
}

static void four_harts(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        ntr_system_config config = {0};
        ntr_system *s = new_system(topology, &config);
        traced_hart harts[HARTS];
        static uint8_t buffer[65536];
        bring_up(s);
        for (unsigned h = 0; h < HARTS; h++) traced_init(&harts[h], s, h, seed * 100 + h, 4);
        for (unsigned turn = 0; turn < 500; turn++)
            for (unsigned h = 0; h < HARTS; h++) traced_run(&harts[h], 1 + turn % 17, false);
        for (unsigned h = 0; h < HARTS; h++) traced_halt(&harts[h]);
        flush(s);
        const size_t size = read_buffer(s, buffer);
        assert_true(size > 1000);

        ntr_params params;
        ntr_params_init(&params, NULL);
        params.src_bits = 2;
        params.implicit_return = NTR_RETURN_FULL;
        for (unsigned h = 0; h < HARTS; h++) {
            decoded d = decode(buffer, size, &params, harts[h].hart.program, h, false);
            assert_int_equal(d.gaps, 0);
            assert_int_equal(d.stops, 2); /* the halt, and tracing switched off while halted (section 9, case 3) */
            assert_int_equal(d.count, harts[h].hart.count);
            assert_memory_equal(d.pcs, harts[h].hart.pcs, d.count * sizeof d.pcs[0]);
            free(d.pcs);
            traced_release(&harts[h]);
        }
        ntr_system_free(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(four_harts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
