/* A rig for encoder tests: ingress in shorthand, the stream as hex text. */
#ifndef NTR_ENCODER_RIG_H
#define NTR_ENCODER_RIG_H

#include "../test.h"

#include <ntrace/encoder.h>
#include <ntrace/message.h>
#include <stdio.h>
#include <string.h>

typedef struct rig {
    ntr_encoder_config config;
    ntr_encoder *encoder;
    ntr_ingress block;     /* template: what the shorthand leaves alone */
    char text[8192];       /* "24 0D 00 0B, 0C 0F" */
    size_t length;
    uint8_t stream[4096];
    size_t size;
    ntr_status refuse;     /* what the sink says */
} rig;

static ntr_status rig_sink(void *user, const uint8_t *bytes, size_t size) {
    rig *r = user;
    if (r->refuse != NTR_OK) return r->refuse;
    assert_true(r->length + 3 * size + 3 < sizeof r->text && r->size + size < sizeof r->stream);
    memcpy(r->stream + r->size, bytes, size);
    r->size += size;
    if (r->length) r->length += (size_t)snprintf(r->text + r->length, 3, ", ");
    for (size_t i = 0; i < size; i++)
        r->length += (size_t)snprintf(r->text + r->length, 4, i ? " %02X" : "%02X", bytes[i]);
    return NTR_OK;
}

/* Options as "name=value name name=value". */
static inline void rig_options(rig *r, const char *options) {
    char copy[512], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", options);
    while ((word = strsep(&rest, " "))) {
        if (!*word) continue;
        char *value = strchr(word, '=');
        if (value) *value++ = 0;
        assert_int_equal(ntr_encoder_option_set(&r->config, word, value), NTR_OK);
    }
}

static inline void rig_open(rig *r, const char *options) {
    memset(r, 0, sizeof *r);
    ntr_encoder_config_init(&r->config);
    r->config.start_sync = NTR_SYNC_DEBUG_EXIT;
    r->config.stop_evcode = NTR_EVCODE_DEBUG;
    r->config.sink = rig_sink;
    r->config.sink_user = r;
    rig_options(r, options);
    ntr_status status;
    status = ntr_encoder_new(&r->config, &r->encoder);
    assert_int_equal(status, NTR_OK);
    r->block = (ntr_ingress){.cycle = true, .priv = NTR_PRIV_M};
}

static inline void rig_close(rig *r) {
    ntr_encoder_free(r->encoder);
}

/* One block of `halfwords` that ends in a 16-bit (size 2) or 32-bit (size 4) instruction. */
static inline void rig_block(rig *r, uint64_t iaddr, unsigned halfwords, unsigned size, unsigned itype) {
    ntr_ingress b = r->block;
    b.iaddr = iaddr;
    b.iretire = halfwords;
    b.ilastsize = size == 4;
    b.itype = (uint8_t)itype;
    ntr_status status = ntr_encoder_push(r->encoder, &b);
    if (status != NTR_OK) fail_msg("%s: %s", ntr_status_name(status), ntr_encoder_error(r->encoder));
}

/* One instruction. */
static inline void rig_insn(rig *r, uint64_t pc, unsigned size, unsigned itype) {
    rig_block(r, pc, size / 2, size, itype);
}

static inline void rig_stop(rig *r, uint64_t next) {
    assert_int_equal(ntr_encoder_stop(r->encoder, next, r->config.stop_evcode), NTR_OK);
    assert_int_equal(ntr_encoder_flush(r->encoder), NTR_OK);
}

static inline void rig_expect(rig *r, const char *text) {
    assert_string_equal(r->text, text);
    r->size = r->length = 0;
    r->text[0] = 0;
}

static inline void run(rig *r, uint64_t pc) {
    rig_insn(r, pc, 4, NTR_ITYPE_NONE);
}

/* The stream since the last expectation as "Name FIELD=value ..." lines joined by "; ". */
static inline void rig_expect_messages(rig *r, const char *text) {
    char got[8192] = "";
    size_t used = 0;
    ntr_params params = r->config.params;
    if (r->config.inhibit_src) params.src_bits = 0;
    for (size_t at = 0, end; at < r->size; at = end) {
        for (end = at; (r->stream[end] & 3) != 3; end++) assert_true(end < r->size);
        end++;
        ntr_message m = {.number = 1, .offset = at};
        char line[NTR_MESSAGE_TEXT_MAX];
        assert_int_equal(ntr_message_decode(&params, (ntr_bytes){r->stream + at, end - at}, &m), NTR_OK);
        assert_true(ntr_message_format(&params, &m, line, sizeof line) > 0);
        const char *name = strchr(strchr(line, ' ') + 1, ' ') + 1; /* behind "#N @0xOFFSET" */
        used += (size_t)snprintf(got + used, sizeof got - used, used ? "; %s" : "%s", name);
    }
    assert_string_equal(got, text);
    r->size = r->length = 0;
    r->text[0] = 0;
}

#endif
