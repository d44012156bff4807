#include "partial_bytes.h"

static const uint8_t CODE[64];

/* An analysis of a raw image at `base`. */
struct fixture {
    ntr_program *program;
    ntr_debug_info *debug;
    ntr_analysis a;
};

static void begin(struct fixture *f, uint64_t base) {
    const ntr_image_options at = {.size = sizeof at, .bias = base, .name = "code"};
    ntr_program_new(NULL, &f->program);
    assert_int_equal(ntr_program_add_raw(f->program, (ntr_bytes){CODE, sizeof CODE}, &at), NTR_OK);
    ntr_debug_info_new(f->program, NULL, &f->debug);
    ntr_analysis_init(&f->a);
    f->a.program = f->program;
    ntr_functions_new(f->debug, NULL, &f->a.functions);
    ntr_tally_new(NULL, NULL, &f->a.tally);
    ntr_calltree_new(f->a.functions, NULL, &f->a.tree);
}

static void end(struct fixture *f) {
    ntr_calltree_free(f->a.tree);
    ntr_tally_free(f->a.tally);
    ntr_functions_free(f->a.functions);
    ntr_debug_info_free(f->debug);
    ntr_program_free(f->program);
}

static void feed(struct fixture *f, uint64_t base, uint16_t src, unsigned times) {
    ntr_event e;
    memset(&e, 0, sizeof e);
    e.kind = NTR_EVENT_SPAN;
    e.src = src;
    e.context.prv = NTR_PRV_UNKNOWN;
    e.address = base + 8;
    e.last = base + 12;
    e.instructions = 2;
    e.halfwords = 4;
    e.end = NTR_SPAN_CALL;
    e.target = base + 32;
    for (unsigned i = 0; i < times; i++) {
        assert_int_equal(ntr_tally_feed(f->a.tally, &e, 1), NTR_OK);
        assert_int_equal(ntr_calltree_feed(f->a.tree, &e, 1), NTR_OK);
    }
    ntr_calltree_finish(f->a.tree);
}

static ntr_partial_capture capture_of(uint64_t id) {
    static const char *const options[] = {"elf", "a.elf"};
    ntr_partial_capture c;
    ntr_partial_capture_init(&c);
    c.id[0] = id;
    c.path = "/x/trace.nex";
    c.title = "trace.nex";
    c.options = options;
    c.option_count = 2;
    c.end = 100;
    c.gaps = 1;
    c.gap[0] = (ntr_partial_gap){7, 3, NTR_E_OVERFLOW};
    return c;
}

static struct partial_bytes written(uint64_t id, uint64_t base, uint16_t src, unsigned times) {
    struct partial_bytes m = {0};
    struct fixture f;
    const ntr_output output = output_to(&m);
    const ntr_partial_capture capture = capture_of(id);
    begin(&f, base);
    feed(&f, base, src, times);
    assert_int_equal(ntr_partial_write(&f.a, &capture, &output, NULL), NTR_OK);
    end(&f);
    return m;
}

static void a_partial_is_loaded_at_the_address_of_its_image(void **state) {
    (void)state;
    struct partial_bytes m = written(1, 0x1000, 3, 5);
    struct fixture f;
    ntr_partial *p = opened(&m);
    const ntr_partial_capture *c = ntr_partial_capture_at(p, 0);
    assert_string_equal(c->options[1], "a.elf");
    assert_int_equal(c->gap[0].reason, NTR_E_OVERFLOW);
    assert_int_equal(ntr_partial_holds(p), NTR_PARTIAL_TALLY | NTR_PARTIAL_TREE);
    begin(&f, 0x1000);
    assert_int_equal(ntr_partial_load(p, &f.a), NTR_OK);
    size_t rows, nodes;
    const ntr_tally_row *row = ntr_tally_rows(f.a.tally, &rows);
    const ntr_call_node *node = ntr_calltree_nodes(f.a.tree, &nodes);
    assert_int_equal(rows, 1);
    assert_int_equal(row->address, 0x1008);
    assert_int_equal(row->last, 0x100c);
    assert_int_equal(row->target, 0x1020);
    assert_int_equal(row->count, 5);
    assert_int_equal(ntr_tally_view(f.a.tally, row->view)->src, 3);
    assert_int_equal(ntr_tally_gaps(f.a.tally), 1);
    assert_int_equal(node[0].total_instructions, 10);
    end(&f);
    ntr_partial_free(p);
    free(m.data);
}

static void a_program_without_the_image_is_refused(void **state) {
    (void)state;
    struct partial_bytes m = written(1, 0x1000, 0, 1);
    struct fixture f;
    ntr_partial *p = opened(&m);
    begin(&f, 0x2000);
    assert_int_equal(ntr_partial_load(p, &f.a), NTR_E_NO_IMAGE);
    assert_non_null(strstr(ntr_partial_error(p), "digest:"));
    end(&f);
    ntr_partial_free(p);
    free(m.data);
}

static struct partial_bytes sum_of(const struct partial_bytes *a, const struct partial_bytes *b, ntr_status expected) {
    struct partial_bytes sum = {0};
    const ntr_output output = output_to(&sum);
    ntr_partial *partials[] = {opened(a), opened(b)};
    assert_int_equal(ntr_partial_add(partials, 2, &output), expected);
    assert_true(expected == NTR_OK || *ntr_partial_error(partials[0]));
    ntr_partial_free(partials[0]);
    ntr_partial_free(partials[1]);
    return sum;
}

static void sums_are_commutative_and_associative(void **state) {
    (void)state;
    struct partial_bytes m[3] = {written(1, 0x1000, 0, 1), written(2, 0x1000, 1, 4), written(3, 0x1000, 0, 9)};
    struct partial_bytes ab = sum_of(&m[0], &m[1], NTR_OK), ba = sum_of(&m[1], &m[0], NTR_OK),
                         bc = sum_of(&m[1], &m[2], NTR_OK);
    struct partial_bytes left = sum_of(&ab, &m[2], NTR_OK), right = sum_of(&bc, &m[0], NTR_OK);
    assert_int_equal(ab.size, ba.size);
    assert_memory_equal(ab.data, ba.data, ab.size);
    assert_int_equal(left.size, right.size);
    assert_memory_equal(left.data, right.data, left.size);
    free(sum_of(&left, &m[1], NTR_E_INVALID).data); /* twice */
    for (size_t i = 0; i < 3; i++) free(m[i].data);
    free(ab.data), free(ba.data), free(bc.data), free(left.data), free(right.data);
}

/* ---- memory */

static void *limited(void *user, void *block, size_t size) {
    unsigned *left = user;
    if (!size) {
        free(block);
        return NULL;
    }
    if (!*left) return NULL;
    --*left;
    return realloc(block, size);
}

static bool add_with(unsigned allocations, const struct partial_bytes *a, const struct partial_bytes *b) {
    ntr_allocator allocator = {.resize = limited, .user = &allocations};
    struct partial_bytes sum = {0};
    const ntr_output output = output_to(&sum);
    ntr_partial *p[2];
    for (unsigned i = 0; i < 2; i++) ntr_partial_new(&allocator, &p[i]);
    ntr_status status = p[0] && p[1] ? ntr_partial_open_bytes(p[0], (ntr_bytes){a->data, a->size}, 0) : NTR_E_MEMORY;
    if (status == NTR_OK) status = ntr_partial_open_bytes(p[1], (ntr_bytes){b->data, b->size}, 0);
    if (status == NTR_OK) status = ntr_partial_add(p, 2, &output);
    assert_true(status == NTR_OK || status == NTR_E_MEMORY);
    ntr_partial_free(p[0]);
    ntr_partial_free(p[1]);
    free(sum.data);
    return status == NTR_OK;
}

static void without_memory_adding_and_writing_fail_cleanly(void **state) {
    (void)state;
    struct partial_bytes m[2] = {written(1, 0x1000, 0, 1), written(2, 0x1000, 1, 4)};
    unsigned needed = 0;
    while (!add_with(needed, &m[0], &m[1])) assert_true(++needed < 1000);
    assert_true(needed > 20);
    struct fixture f;
    const ntr_partial_capture capture = capture_of(1);
    begin(&f, 0x1000);
    feed(&f, 0x1000, 0, 1);
    for (unsigned i = 0;; i++) {
        unsigned left = i;
        ntr_allocator allocator = {.resize = limited, .user = &left};
        struct partial_bytes out = {0};
        const ntr_output output = output_to(&out);
        ntr_status status = ntr_partial_write(&f.a, &capture, &output, &allocator);
        free(out.data);
        if (status == NTR_OK) break;
        assert_int_equal(status, NTR_E_MEMORY);
        assert_true(i < 1000);
    }
    end(&f);
    free(m[0].data), free(m[1].data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_partial_is_loaded_at_the_address_of_its_image),
        TEST(a_program_without_the_image_is_refused),
        TEST(sums_are_commutative_and_associative),
        TEST(without_memory_adding_and_writing_fail_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
