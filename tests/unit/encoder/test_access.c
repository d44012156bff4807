/* Data messages: bytes that are typed from the layout (docs/dialects.md section 5), and what the decoder makes of them.
 */
#include "rig.h"

#include <ntrace/decoder.h>
#include <ntrace/reader.h>

static void open_data(rig *r, const char *options) {
    memset(r, 0, sizeof *r);
    ntr_encoder_config_init(&r->config);
    r->config.start_sync = NTR_SYNC_DEBUG_EXIT;
    r->config.params.dialect = ntr_dialect_find("nexus-data");
    r->config.sink = rig_sink;
    r->config.sink_user = r;
    rig_options(r, options);
    ntr_encoder_new(&r->config, &r->encoder);
    assert_non_null(r->encoder);
    r->block = (ntr_ingress){.cycle = true, .priv = NTR_PRIV_M};
}

static void access_data(rig *r, unsigned access, unsigned bytes, uint64_t address, uint64_t data) {
    const ntr_data_record record = {(uint8_t)access, (uint8_t)bytes, address, data};
    assert_int_equal(ntr_encoder_access(r->encoder, &record), NTR_OK);
}

static void full_address_then_differences(void **state) {
    (void)state;
    rig r;
    open_data(&r, "");
    rig_insn(&r, 0x1000, 4, NTR_ITYPE_NONE);
    access_data(&r, NTR_DATA_WRITE, 4, 0x1000, 0x12345678);
    access_data(&r, NTR_DATA_READ, 1, 0x1008, 0xabff);
    /* 13 | 4 << 6 | 0x1000 << 13, data; 6 | 1 << 6 | 8 << 13, data */
    assert_non_null(strstr(r.text, "34 10 00 00 09 E0 64 14 34 4B, 18 04 41 FC 0F"));
    rig_close(&r);
}

/* What the decoder reads of the stream is what was pushed. */
static void accesses_come_back(void **state) {
    (void)state;
    enum { COUNT = 80 };
    for (unsigned form = 0; form < 3; form++) {
        static const char *const options[] = {"", "sync-mode=messages sync-max=0", "timestamps"};
        rig r;
        ntr_data_record pushed[COUNT];
        uint64_t seed = 12345 + form;
        open_data(&r, options[form]);
        for (unsigned i = 0; i < COUNT; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            pushed[i] = (ntr_data_record){seed >> 60 & 1, (uint8_t)(1u << (seed >> 61 & 3)), seed >> 20, seed * 31};
            r.block.time = i;
            rig_block(&r, 0x1000, 2, 4, NTR_ITYPE_INDIRECT_JUMP);
            access_data(&r, pushed[i].access, pushed[i].bytes, pushed[i].address, pushed[i].data);
        }
        ntr_decoder_config config;
        ntr_decoder_config_init(&config);
        config.params = r.config.params;
        ntr_program *program;
        ntr_program_new(NULL, &program);
        config.program = program;
        ntr_decoder *decoder;
        ntr_decoder_new(&config, &decoder);
        ntr_event events[64];
        size_t count, seen = 0;
        ntr_decoder_feed(decoder, r.stream, r.size, true);
        for (ntr_status status = NTR_OK; status != NTR_END;) {
            status = ntr_decoder_read(decoder, events, 64, &count);
            for (size_t i = 0; i < count; i++) {
                if (events[i].kind != NTR_EVENT_ACCESS) continue;
                assert_true(seen < COUNT);
                const ntr_data_record *p = &pushed[seen++];
                uint64_t mask = p->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * p->bytes) - 1;
                assert_false(events[i].flags & NTR_EVENT_ADDRESS_UNKNOWN);
                assert_int_equal(events[i].code, p->access);
                assert_int_equal(events[i].data_size, p->bytes);
                assert_int_equal(events[i].data_address, p->address);
                assert_int_equal(events[i].data, p->data & mask);
            }
        }
        assert_int_equal(seen, COUNT);
        ntr_decoder_free(decoder);
        ntr_program_free(program);
        rig_close(&r);
    }
}

static void nothing_outside_of_a_window(void **state) {
    (void)state;
    rig r;
    open_data(&r, "");
    access_data(&r, NTR_DATA_WRITE, 4, 0x1000, 1);
    assert_int_equal(r.size, 0);
    const ntr_data_record wide = {NTR_DATA_WRITE, 9, 0, 0};
    assert_int_equal(ntr_encoder_access(r.encoder, &wide), NTR_E_RANGE);
    rig_close(&r);
    rig_open(&r, "");
    const ntr_data_record record = {NTR_DATA_WRITE, 4, 0, 0};
    assert_int_equal(ntr_encoder_access(r.encoder, &record), NTR_E_STATE);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_address_then_differences),
        cmocka_unit_test(accesses_come_back),
        cmocka_unit_test(nothing_outside_of_a_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
