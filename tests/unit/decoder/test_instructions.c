/* Spans expanded to instructions: the code of the program at that position, in that context, in its current state. */
#include "scene.h"

#include <ntrace/instructions.h>

static ntr_event span_at(uint64_t address, uint32_t instructions) {
    return (ntr_event){
        .kind = NTR_EVENT_SPAN, .context = NTR_CONTEXT_UNKNOWN, .address = address, .instructions = instructions};
}

/* Returns the instructions of a span as "ADDRESS/SIZE=BITS" words, and the status at the end. */
static void expands_to(ntr_instructions *x, const ntr_event *span, ntr_status end, const char *words) {
    char text[1024] = "";
    size_t at = 0;
    ntr_instruction i;
    ntr_status status;
    ntr_instructions_begin(x, span);
    while ((status = ntr_instructions_next(x, &i)) == NTR_OK)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRIx64 "/%u=%" PRIx64, at ? " " : "", i.address,
                               i.insn.size, i.bits);
    assert_string_equal(text, words);
    assert_int_equal(status, end);
    assert_int_equal(ntr_instructions_next(x, &i), end); /* the error is sticky */
}

static void each_instruction_has_address_bytes_and_class(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, C_ADD, branch(-6), C_NOP);
    ntr_instructions *x;
    ntr_instructions_new(s.program, NULL, &x);
    const ntr_event span = span_at(0x100, 3);
    for (int times = 0; times < 2; times++) expands_to(x, &span, NTR_END, "100/4=c50533 104/2=9532 106/4=fec50de3");
    ntr_instruction i[3];
    ntr_instructions_begin(x, &span);
    for (size_t k = 0; k < 3; k++) assert_int_equal(ntr_instructions_next(x, &i[k]), NTR_OK);
    assert_int_equal(i[0].insn.flow, NTR_FLOW_LINEAR);
    assert_int_equal(i[2].insn.flow, NTR_FLOW_BRANCH);
    assert_int_equal(i[2].insn.target, 0x100);
    ntr_instructions_free(x);
    scene_end(&s);
}

static void other_events_have_no_instructions(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, ADD);
    ntr_instructions *x;
    ntr_instructions_new(s.program, NULL, &x);
    ntr_event e = span_at(0x100, 0);
    expands_to(x, &e, NTR_END, "");
    e = span_at(0x100, 2);
    e.kind = NTR_EVENT_NO_CODE;
    expands_to(x, &e, NTR_END, "");
    ntr_instructions_free(x);
    scene_end(&s);
}

/* Longer than one piece of the cache. */
static void long_spans_come_whole(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    scene s;
    scene_start(&s, NULL);
    uint8_t bytes[2 * COUNT];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = i % 2 ? 0 : 1; /* c.nop */
    const ntr_image_options options = {.size = sizeof options, .bias = 0x1000};
    ntr_program_add_raw(s.program, (ntr_bytes){bytes, sizeof bytes}, &options);
    ntr_instructions *x;
    ntr_instructions_new(s.program, NULL, &x);
    const ntr_event span = span_at(0x1000, COUNT);
    ntr_instruction i;
    uint64_t count = 0;

    ntr_instructions_begin(x, &span);
    for (; ntr_instructions_next(x, &i) == NTR_OK; count++) assert_int_equal(i.address, 0x1000 + 2 * count);
    assert_int_equal(count, COUNT);
    ntr_instructions_free(x);
    scene_end(&s);
}

static void missing_code_ends_it(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, C_ADD);
    code(&s, 0x200, C_ADD, 0x0533); /* half of an instruction of four bytes */
    ntr_instructions *x;
    ntr_instructions_new(s.program, NULL, &x);
    ntr_event span = span_at(0x100, 3);
    for (int times = 0; times < 2; times++) expands_to(x, &span, NTR_E_NO_IMAGE, "100/4=c50533 104/2=9532");
    span = span_at(0x300, 1);
    expands_to(x, &span, NTR_E_NO_IMAGE, "");
    ntr_instructions_free(x);
    scene_end(&s);
}

static void contexts_choose_images(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    ntr_image_options one = {.has_scontext = true, .scontext = 1}, two = {.has_scontext = true, .scontext = 2};
    add_code_for(&s, 0x100, (uint32_t[]){ADD, ADD, CODE_END}, &one);
    add_code_for(&s, 0x100, (uint32_t[]){C_ADD, C_ADD, CODE_END}, &two);
    ntr_instructions *x;
    ntr_instructions_new(s.program, NULL, &x);
    ntr_event span = span_at(0x100, 2);
    span.context.has_scontext = true;
    for (int times = 0; times < 3; times++) {
        span.context.scontext = 1;
        expands_to(x, &span, NTR_END, "100/4=c50533 104/4=c50533");
        span.context.scontext = 2;
        expands_to(x, &span, NTR_END, "100/2=9532 102/2=9532");
    }
    ntr_instructions_free(x);
    scene_end(&s);
}

/* Positions go back and forth when sources are merged by time. */
/* Equal numbers mean the same instructions. Another program, context or time has another number. */
static void views_are_keys(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    ntr_image_options one = {.has_scontext = true, .scontext = 1}, late = {.from = 1000};
    code(&s, 0x100, C_NOP);
    ntr_instructions *x;
    ntr_instructions_new(s.program, NULL, &x);
    ntr_event here = span_at(0x100, 1), there = here;
    there.offset = 1000;
    there.context.has_scontext = true;
    there.context.scontext = 1;
    const uint64_t plain = ntr_instructions_view(x, &here);
    assert_int_not_equal(plain, 0);
    assert_int_equal(ntr_instructions_view(x, &there), plain); /* no image is bound to a context or a position */
    add_code_for(&s, 0x100, (uint32_t[]){C_ADD, CODE_END}, &one);
    there.offset = 0;
    const uint64_t bound = ntr_instructions_view(x, &there);
    here.context.has_scontext = true;
    assert_int_not_equal(ntr_instructions_view(x, &here), bound);
    assert_int_not_equal(ntr_instructions_view(x, &here), plain);
    add_code_for(&s, 0x100, (uint32_t[]){C_ADD, CODE_END}, &late);
    here = there;
    here.offset = 1000;
    assert_int_not_equal(ntr_instructions_view(x, &there), bound);
    assert_int_not_equal(ntr_instructions_view(x, &here), ntr_instructions_view(x, &there));
    assert_int_equal(ntr_instructions_view(x, &here), ntr_instructions_view(x, &here));
    ntr_instructions_free(x);
    scene_end(&s);
}

static void images_come_and_go(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    ntr_image_options early = {.until = 1000}, late = {.from = 1000, .until = 2000};
    add_code_for(&s, 0x100, (uint32_t[]){C_NOP, CODE_END}, &early);
    add_code_for(&s, 0x100, (uint32_t[]){C_ADD, CODE_END}, &late);
    ntr_instructions *x;
    ntr_instructions_new(s.program, NULL, &x);
    ntr_event span = span_at(0x100, 1);
    static const struct {
        uint64_t offset;
        const char *words;
    } rows[] = {{0, "100/2=1"}, {999, "100/2=1"}, {1000, "100/2=9532"}, {999, "100/2=1"}, {1999, "100/2=9532"}};
    for (int times = 0; times < 2; times++) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            span.offset = rows[i].offset;
            expands_to(x, &span, NTR_END, rows[i].words);
        }
        span.offset = 2000;
        expands_to(x, &span, NTR_E_NO_IMAGE, "");
        span.offset = NTR_POSITION_ANY;
        expands_to(x, &span, NTR_END, "100/2=9532");
    }
    ntr_instructions_free(x);
    scene_end(&s);
}

static void what_is_added_is_seen(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    code(&s, 0x100, C_NOP);
    ntr_instructions *x;
    ntr_instructions_new(s.program, NULL, &x);
    const ntr_event span = span_at(0x100, 2);
    expands_to(x, &span, NTR_E_NO_IMAGE, "100/2=1");
    code(&s, 0x102, ADD);
    expands_to(x, &span, NTR_END, "100/2=1 102/4=c50533");
    code(&s, 0x100, C_ADD);
    expands_to(x, &span, NTR_END, "100/2=9532 102/4=c50533");
    ntr_instructions_free(x);
    scene_end(&s);
}

/* Every context has its own code. */
static size_t read_by_context(void *user, const ntr_context *context, uint64_t position, uint64_t address, uint8_t *out,
                              size_t size) {
    uint32_t lui = 0x537 | (uint32_t)(context->scontext + *(const uint32_t *)user) << 12;
    (void)position, (void)address;
    for (size_t i = 0; i < size && i < 4; i++) out[i] = (uint8_t)(lui >> 8 * i);
    return size < 4 ? size : 4;
}

static void memory_may_differ_by_context(void **state) {
    (void)state;
    enum { CONTEXTS = 3000 }; /* more than the maximum number of views */
    scene s;
    uint32_t shift = 0;
    scene_start(&s, NULL);
    ntr_program_set_isa(s.program, 0);
    ntr_program_set_reader(s.program, read_by_context, &shift);
    ntr_instructions *x;
    ntr_instructions_new(s.program, NULL, &x);
    ntr_event span = span_at(0x100, 1);
    span.context.has_scontext = true;
    for (uint32_t i = 0; i < 2 * CONTEXTS; i++) {
        ntr_instruction found;
        span.context.scontext = i % CONTEXTS;
        ntr_instructions_begin(x, &span);
        assert_int_equal(ntr_instructions_next(x, &found), NTR_OK);
        assert_int_equal(found.bits, 0x537 | (uint64_t)(i % CONTEXTS) << 12);
    }
    shift = 1;
    expands_to(x, &span, NTR_END, "100/4=bb7537"); /* what was read is kept */
    ntr_program_set_reader(s.program, read_by_context, &shift);
    expands_to(x, &span, NTR_END, "100/4=bb8537");
    ntr_instructions_free(x);
    scene_end(&s);
}

/* More than eight bytes: the first eight. A table jump without its table. */
static void odd_instructions(void **state) {
    (void)state;
    scene s;
    scene_start(&s, NULL);
    const uint8_t longest[] = {0x7f, 0x10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, jump[] = {0x0e, 0xa0};
    ntr_image_options options = {.size = sizeof options, .bias = 0x100};
    ntr_program_add_raw(s.program, (ntr_bytes){longest, sizeof longest}, &options);
    options.bias = 0x200;
    options.has_isa = true;
    options.isa = NTR_ISA_ZCMT;
    ntr_program_add_raw(s.program, (ntr_bytes){jump, sizeof jump}, &options);
    ntr_instructions *x;
    ntr_instructions_new(s.program, NULL, &x);
    ntr_event span = span_at(0x100, 1);
    expands_to(x, &span, NTR_END, "100/12=60504030201107f");
    span = span_at(0x200, 1);
    expands_to(x, &span, NTR_END, "200/2=a00e");
    ntr_instructions_free(x);
    scene_end(&s);
}

/* The spans of a decoder, expanded, have as many instructions and halfwords as they report. */
static void spans_of_a_decoder_expand(void **state) {
    (void)state;
    scene s;
    stream in = {.size = 0};
    scene_start(&s, NULL);
    code(&s, 0x100, ADD, C_ADD, branch(-6), JR_A5);
    assemble(&in, &s.config.params,
             "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\nDirectBranch ICNT=5\n"
             "IndirectBranch BTYPE=0 ICNT=7 UADDR=0x0\n");
    ntr_decoder *d;
    ntr_decoder_new(&s.config, &d);
    ntr_instructions *x;
    ntr_instructions_new(s.program, NULL, &x);
    ntr_event events[16];
    size_t count, spans = 0;
    ntr_decoder_feed(d, in.bytes, in.size, true);
    assert_int_equal(ntr_decoder_read(d, events, 16, &count), NTR_END);
    for (size_t i = 0; i < count; i++) {
        ntr_instruction insn;
        size_t all = 0;
        if (events[i].kind != NTR_EVENT_SPAN) continue;
        ntr_instructions_begin(x, &events[i]);
        for (; ntr_instructions_next(x, &insn) == NTR_OK; all++)
            if (!all) assert_int_equal(insn.address, events[i].address);
        assert_int_equal(all, events[i].instructions);
        assert_int_equal(insn.address, events[i].last);
        spans++;
    }
    assert_int_equal(spans, 3);
    ntr_instructions_free(x);
    ntr_decoder_free(d);
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(each_instruction_has_address_bytes_and_class),
        TEST(other_events_have_no_instructions),
        TEST(long_spans_come_whole),
        TEST(missing_code_ends_it),
        TEST(contexts_choose_images),
        TEST(images_come_and_go),
        TEST(views_are_keys),
        TEST(what_is_added_is_seen),
        TEST(memory_may_differ_by_context),
        TEST(odd_instructions),
        TEST(spans_of_a_decoder_expand),
    };
    return cmocka_run_group_tests_name("instructions", tests, NULL, NULL);
}
