#include "partial_bytes.h"

#include "partial/blocks.h"

enum { EVENTS = 300000, SPANS = 40 };

static ntr_status take(void *user, void *bytes, size_t size, size_t *got) {
    struct partial_bytes *m = user;
    *got = m->size - m->at < size ? m->size - m->at : size;
    memcpy(bytes, m->data + m->at, *got);
    m->at += *got;
    return NTR_OK;
}

static uint64_t chance(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* A number of 0 to 64 bits. */
static uint64_t number(void) {
    const unsigned bits = (unsigned)(chance() % 65);
    return bits ? chance() >> (64 - bits) : 0;
}

static ntr_context any_context(void) {
    ntr_context c = NTR_CONTEXT_UNKNOWN;
    c.prv = chance() % 2 ? (uint8_t)(chance() % 4) : NTR_PRV_UNKNOWN;
    c.v = chance() % 2;
    c.has_scontext = chance() % 2;
    c.scontext = c.has_scontext ? number() : 0;
    c.has_hcontext = chance() % 4 == 0;
    c.hcontext = c.has_hcontext ? number() : 0;
    return c;
}

static ntr_event any_span(void) {
    ntr_event e;
    memset(&e, 0, sizeof e);
    e.kind = chance() % 8 ? NTR_EVENT_SPAN : NTR_EVENT_NO_CODE;
    e.end = (uint8_t)(chance() % NTR_SPAN_KINDS);
    e.flags = (uint8_t)(chance() % 16);
    e.src = (uint16_t)(chance() % 4096);
    e.context = any_context();
    e.address = number();
    e.last = e.address + chance() % 100;
    e.target = number();
    e.instructions = (uint32_t)number();
    e.halfwords = (uint32_t)number();
    return e;
}

static ntr_event any_other(void) {
    ntr_event e;
    memset(&e, 0, sizeof e);
    do e.kind = (uint8_t)(chance() % NTR_EVENT_KINDS);
    while (e.kind == NTR_EVENT_SPAN || e.kind == NTR_EVENT_NO_CODE);
    e.flags = (uint8_t)chance();
    e.code = (uint8_t)chance();
    e.src = (uint16_t)(chance() % 4096);
    e.reason = -(int16_t)(chance() % 100);
    e.context = any_context();
    if (e.kind == NTR_EVENT_GAP) {
        e.gap.from_address = number();
        e.gap.until = number();
        e.gap.until_message = number();
        e.gap.to_address = number();
        e.gap.from_time = number();
        e.gap.to_time = number();
        e.gap.from_known = chance() % 2;
        e.gap.to_known = chance() % 2;
        e.gap.from_timed = chance() % 2;
        e.gap.to_timed = chance() % 2;
        e.gap.tcode = (uint8_t)chance();
        e.gap.field = (uint8_t)chance();
        return e;
    }
    e.data_address = number();
    e.tag = number();
    e.data = number();
    e.data_size = (uint8_t)(chance() % 25);
    e.data_more[0] = number();
    e.data_more[1] = number();
    return e;
}

/* Loops over a few spans, new ones now and then, and other events between them. */
static void make(ntr_event *events, size_t count) {
    ntr_event spans[SPANS];
    ntr_event at;
    memset(&at, 0, sizeof at);
    for (size_t i = 0; i < SPANS; i++) spans[i] = any_span();
    for (size_t i = 0, next = 0; i < count; i++) {
        if (chance() % 50 == 0) spans[chance() % SPANS] = any_span();
        if (chance() % 20 == 0) next = chance() % SPANS;
        events[i] = chance() % 30 ? spans[next++ % SPANS] : any_other();
        if (chance() % 4 == 0) at.message++, at.offset += 1 + chance() % 3;
        if (chance() % 40 == 0) at.time += number();
        if (chance() % 1000 == 0) at.offset = number(), at.message = number(), at.time = number();
        events[i].offset = at.offset;
        events[i].message = at.message;
        events[i].time = at.time;
    }
}

static struct partial_bytes packed(const ntr_event *events, size_t count) {
    struct partial_bytes m = {0};
    const ntr_output output = output_to(&m);
    ntr_event_log *log;
    ntr_event_log_new(&output, NULL, &log);
    assert_non_null(log);
    for (size_t at = 0, some; at < count; at += some) {
        some = 1 + chance() % 1000 < count - at ? 1 + chance() % (count - at < 1000 ? count - at : 1000) : count - at;
        assert_int_equal(ntr_event_log_feed(log, events + at, some), NTR_OK);
    }
    assert_int_equal(ntr_event_log_finish(log), NTR_OK);
    ntr_event_log_free(log);
    return m;
}

static struct partial_bytes written(struct partial_bytes *blocks) {
    static const char *const options[] = {"elf", "a.elf"};
    struct partial_bytes m = {0};
    const ntr_output output = output_to(&m);
    ntr_partial_capture capture;
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_partial_capture_init(&capture);
    capture.path = capture.title = "x";
    capture.begin_state = capture.end_state = "";
    capture.options = options;
    capture.option_count = 2;
    assert_int_equal(ntr_partial_write_events(program, &capture, take, blocks, &output, NULL), NTR_OK);
    ntr_program_free(program);
    return m;
}

static ntr_partial *opened_events(const struct partial_bytes *file) {
    ntr_partial *p = opened(file);
    assert_int_equal(ntr_partial_holds(p), NTR_PARTIAL_EVENTS);
    return p;
}

static void assert_holds(const struct partial_bytes *file, const ntr_event *events, size_t count) {
    ntr_partial *p = opened_events(file);
    ntr_event some[700];
    size_t at = 0, got;
    ntr_status status;
    while ((status = ntr_partial_events(p, some, 1 + chance() % 700, &got)) == NTR_OK) {
        assert_true(got <= count - at);
        for (size_t i = 0; i < got; i++) assert_memory_equal(&some[i], &events[at + i], sizeof *some);
        at += got;
    }
    assert_int_equal(status, NTR_END);
    assert_int_equal(at, count);
    ntr_partial_free(p);
}

static void events_are_packed_without_loss(void **state) {
    (void)state;
    ntr_event *events = calloc(EVENTS, sizeof *events);
    make(events, EVENTS);
    struct partial_bytes blocks = packed(events, EVENTS), file = written(&blocks);
    assert_true(blocks.size > 1 << 20); /* several blocks */
    assert_holds(&file, events, EVENTS);
    free(events);
    free(blocks.data);
    free(file.data);
}

static void repeated_spans_take_next_to_no_space(void **state) {
    (void)state;
    enum { LOOPS = 100000, LENGTH = 3 };
    ntr_event *events = calloc(LOOPS * LENGTH, sizeof *events);
    for (size_t i = 0; i < LENGTH; i++) events[i] = any_span();
    for (size_t i = LENGTH; i < LOOPS * LENGTH; i++) {
        events[i] = events[i - LENGTH];
        events[i].offset += 6;
        events[i].message += LENGTH;
    }
    struct partial_bytes blocks = packed(events, LOOPS * LENGTH), file = written(&blocks);
    assert_in_range(blocks.size, 20, 400);
    assert_holds(&file, events, LOOPS * LENGTH);
    free(events);
    free(blocks.data);
    free(file.data);
}

static void blocks_of_two_logs_follow_each_other(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    ntr_event *events = calloc(2 * COUNT, sizeof *events);
    make(events, 2 * COUNT);
    struct partial_bytes blocks = packed(events, COUNT), second = packed(events + COUNT, COUNT), both = {0};
    struct partial_bytes files[] = {written(&blocks), written(&second)};
    const ntr_output output = output_to(&both);
    for (size_t i = 0; i < 2; i++) {
        ntr_partial *p = opened_events(&files[i]);
        assert_int_equal(ntr_partial_copy_events(p, &output), NTR_OK);
        ntr_partial_free(p);
    }
    struct partial_bytes file = written(&both);
    assert_holds(&file, events, 2 * COUNT);
    free(events);
    free(blocks.data);
    free(second.data);
    free(both.data);
    free(files[0].data);
    free(files[1].data);
    free(file.data);
}

/* The checksum is made anew, so that what is damaged is read. */
static void damaged_records_end_with_an_error(void **state) {
    (void)state;
    enum { COUNT = 400 };
    ntr_event events[COUNT], some[64];
    make(events, COUNT);
    struct partial_bytes blocks = packed(events, COUNT);
    for (unsigned round = 0; round < TEST_ROUNDS(1000); round++) {
        struct partial_bytes copy = {malloc(blocks.size), blocks.size, 0};
        memcpy(copy.data, blocks.data, blocks.size);
        copy.data[5 + chance() % (copy.size - 13)] ^= (uint8_t)(1u << chance() % 8);
        const uint64_t sum = ntr_partial_hash(0, copy.data, copy.size - 8);
        for (unsigned i = 0; i < 8; i++) copy.data[copy.size - 8 + i] = (uint8_t)(sum >> 8 * i);
        struct partial_bytes file = written(&copy);
        ntr_partial *p = opened_events(&file);
        size_t got, most = 0;
        ntr_status status = NTR_OK;
        while (most++ < 10 * COUNT && (status = ntr_partial_events(p, some, 64, &got)) == NTR_OK)
            for (size_t i = 0; i < got; i++)
                assert_true(some[i].kind < NTR_EVENT_KINDS && some[i].src < 4096 && some[i].end < NTR_SPAN_KINDS);
        assert_true(status == NTR_OK || status == NTR_END || status == NTR_E_FORMAT);
        ntr_partial_free(p);
        free(copy.data);
        free(file.data);
    }
    free(blocks.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_packed_without_loss),
        cmocka_unit_test(repeated_spans_take_next_to_no_space),
        cmocka_unit_test(blocks_of_two_logs_follow_each_other),
        cmocka_unit_test(damaged_records_end_with_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
