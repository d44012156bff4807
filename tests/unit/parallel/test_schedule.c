/* Every order in which two threads and the caller can act on a small ring: no order ends in a deadlock, none repeats
 * itself, and the memory bound holds.
 *
 * The decisions are those of src/parallel/schedule.c; the steps between them are those of worker.c, deliver.c and
 * parallel.c, each critical section being one step. A thread that waits for a condition sleeps until a step wakes it,
 * so that a missing wake-up is found, too. All states that can be reached are visited once (depth first). */
#include "../test.h"

#include "parallel/state.h"

#include <stdlib.h>
#include <string.h>

enum { RING = 5, THREADS = 2, CHUNKS_MAX = 6, LIMIT = 1 };

/* How a chunk can be begun. */
typedef enum kind { UNKNOWN, GUESSED, GUESSED_WRONG, KINDS } kind;

typedef struct plan {
    uint8_t chunks;
    uint8_t kinds[CHUNKS_MAX], pieces[CHUNKS_MAX]; /* pieces of output, of one byte */
    uint8_t most_held;
    uint8_t refusing; /* the first output of each chunk is refused once */
} plan;

/* ---- the state */

enum { NONE = 0xff };
typedef enum thread_at { IDLE, DECODING, WAITING_FOR_ROOM, DELIVERING } thread_at;
typedef enum caller_at { CUTTING, CALLER_DELIVERS, CANCELLING, FINISHED } caller_at;

typedef struct model_chunk {
    uint8_t state, start, cancelled, put_back, waits, head, output, pieces, again;
} model_chunk;

typedef struct model {
    model_chunk chunks[CHUNKS_MAX];
    struct {
        uint8_t at, chunk, asleep;
    } threads[THREADS];
    uint8_t caller, caller_asleep, caller_all; /* caller_all: the head was done when the delivery began */
    uint8_t head, sent, tail, delivering;
} model;

/* The library's structs with the content of the model. */
static ntr_parallel library;
static ntr_chunk ring[CHUNKS_MAX];
static char some_start;
static const plan *plan_;

static void to_library(const model *m) {
    for (unsigned i = 0; i < plan_->chunks; i++) {
        const model_chunk *c = &m->chunks[i];
        ring[i] = (ntr_chunk){.parallel = &library,
                              .state = c->state,
                              .cancelled = c->cancelled,
                              .put_back = c->put_back,
                              .waits_for_room = c->waits,
                              .head = c->head,
                              .start = c->start ? (ntr_snapshot *)(void *)&some_start : NULL,
                              .output.size = c->output};
    }
    library = (ntr_parallel){.ring = ring,
                             .ring_size = plan_->chunks,
                             .started = THREADS,
                             .head = m->head,
                             .sent = m->sent,
                             .tail = m->tail,
                             .delivering = m->delivering,
                             .most_output = LIMIT,
                             .most_held = plan_->most_held};
}

static bool put_one_back = true; /* false: as if the rule did not exist */

/* ntr_schedule_put_back; returns whether it has chosen a chunk. */
static bool put_back(model *m) {
    to_library(m);
    if (!put_one_back || !ntr_schedule_put_back(&library)) return false;
    for (unsigned i = 0; i < plan_->chunks; i++) m->chunks[i].put_back = ring[i].put_back;
    return true;
}

static void wake_threads(model *m) {
    for (unsigned i = 0; i < THREADS; i++) m->threads[i].asleep = false;
}

/* ---- worker.c */

static void restart(model_chunk *c) {
    c->output = c->pieces = c->put_back = 0;
    c->state = NTR_CHUNK_WAITING;
}

/* Delivers a piece of output, or refuses it: returns false. */
static bool take_piece(model *m, unsigned number) {
    model_chunk *c = &m->chunks[number];
    if (!plan_->refusing || c->again) {
        c->output--;
        return true;
    }
    c->again = true;
    if (c->state == NTR_CHUNK_RUNNING)
        c->put_back = true;
    else
        restart(c);
    put_back(m);
    wake_threads(m);
    m->delivering = false;
    return false;
}

/* Decoding of the chunk ends: by its last piece, or because the chunk is not needed. */
static void end_chunk(model *m, unsigned thread) {
    model_chunk *c = &m->chunks[m->threads[thread].chunk];
    c->state = NTR_CHUNK_DONE;
    if (c->put_back) restart(c);
    m->threads[thread].at = IDLE;
    m->threads[thread].chunk = NONE;
    m->caller_asleep = false;
}

/* The part of publish_output after the delivery. */
static void wait_for_room(model *m, unsigned thread) {
    unsigned number = m->threads[thread].chunk;
    model_chunk *c = &m->chunks[number];
    m->threads[thread].at = WAITING_FOR_ROOM;
    for (;;) {
        to_library(m);
        if (!ntr_schedule_must_wait(&library, &ring[number])) break;
        c->waits = true;
        if (!put_back(m)) {
            m->threads[thread].asleep = true;
            return;
        }
        wake_threads(m);
    }
    c->waits = false;
    m->threads[thread].at = DECODING;
    if (c->cancelled || c->put_back) end_chunk(m, thread);
}

/* One piece of output, or the end of the chunk. */
static void decode(model *m, unsigned thread) {
    unsigned number = m->threads[thread].chunk;
    model_chunk *c = &m->chunks[number];
    if (c->pieces == plan_->pieces[number]) {
        end_chunk(m, thread);
        return;
    }
    c->pieces++;
    c->output++;
    if (c->head && !m->delivering) {
        m->delivering = true;
        m->threads[thread].at = DELIVERING;
    } else {
        wait_for_room(m, thread);
    }
}

static void begin_chunk(model *m, unsigned thread) {
    to_library(m);
    const ntr_chunk *next = ntr_schedule_next(&library);
    if (!next) {
        m->threads[thread].asleep = true;
        return;
    }
    m->threads[thread].chunk = (uint8_t)(next - ring);
    m->threads[thread].at = DECODING;
    m->chunks[next - ring].state = NTR_CHUNK_RUNNING;
}

static void thread_step(model *m, unsigned thread) {
    switch (m->threads[thread].at) {
    case IDLE: begin_chunk(m, thread); break;
    case DECODING: decode(m, thread); break;
    case WAITING_FOR_ROOM: wait_for_room(m, thread); break;
    default: /* the output is delivered, part by part */
        if (take_piece(m, m->threads[thread].chunk) && m->chunks[m->threads[thread].chunk].output) break;
        m->delivering = false;
        wait_for_room(m, thread);
    }
}

/* ---- deliver.c and parallel.c */

static void become_head(model *m) {
    m->head++;
    if (m->head < plan_->chunks) m->chunks[m->head].head = true;
    put_back(m);
    wake_threads(m);
    m->caller = m->head == plan_->chunks ? FINISHED : CUTTING;
}

/* The head is done: compare the guess of the next chunk with the truth. */
static void retire(model *m) {
    unsigned next = m->head + 1u;
    model_chunk *c = &m->chunks[next];
    bool right = next == plan_->chunks || (plan_->kinds[next] == GUESSED && next < m->tail);
    if (!right) {
        c->cancelled = true;
        wake_threads(m);
        m->caller = CANCELLING;
    } else {
        become_head(m);
    }
}

/* Wait until no thread decodes the chunk with the wrong guess. */
static void cancel(model *m) {
    model_chunk *c = &m->chunks[m->head + 1];
    if (c->state == NTR_CHUNK_RUNNING) {
        m->caller_asleep = true;
        return;
    }
    restart(c);
    c->cancelled = false;
    c->start = true;
    become_head(m);
}

static bool is_ready(const model *m) {
    const model_chunk *head = &m->chunks[m->head];
    return !m->delivering && !head->put_back && (head->state == NTR_CHUNK_DONE || head->output);
}

static void cut(model *m) {
    model_chunk *c = &m->chunks[m->tail];
    if (m->tail) c->start |= plan_->kinds[m->tail] != UNKNOWN;
    m->tail++;
    m->sent = m->tail == plan_->chunks ? m->tail : m->tail - 1;
    wake_threads(m);
}

static void caller_step(model *m) {
    if (m->caller == CANCELLING) {
        cancel(m);
    } else if (m->caller == CALLER_DELIVERS && m->chunks[m->head].output && !m->chunks[m->head].put_back) {
        if (!take_piece(m, m->head)) m->caller = CUTTING;
    } else if (m->caller == CALLER_DELIVERS) {
        m->delivering = false;
        wake_threads(m);
        m->caller = CUTTING;
        if (m->caller_all) retire(m);
    } else if (m->sent > m->head && is_ready(m)) {
        m->delivering = true;
        m->caller = CALLER_DELIVERS;
        m->caller_all = m->chunks[m->head].state == NTR_CHUNK_DONE;
    } else if (m->tail < plan_->chunks && m->sent - m->head <= RING - 3) {
        cut(m);
    } else {
        m->caller_asleep = true;
    }
}

/* ---- all states */

enum { STATES_MAX = 1 << 20 };
static struct {
    model state;
    uint8_t seen, open; /* open: on the path that is followed now */
} *table;
static unsigned states;
static const char *defect;

static size_t slot_of(const model *m) {
    const uint8_t *bytes = (const uint8_t *)m;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < sizeof *m; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    size_t at = (hash ^ hash >> 32) % STATES_MAX;
    while (table[at].seen && memcmp(&table[at].state, m, sizeof *m)) at = (at + 1) % STATES_MAX;
    return at;
}

static void check_memory(const model *m) {
    unsigned all = 0;
    for (unsigned i = m->head + 1u; i < plan_->chunks; i++) {
        all += m->chunks[i].output;
        if (m->chunks[i].output > LIMIT + 1) defect = "a chunk holds more than its limit and one piece";
    }
    if (all > plan_->most_held + THREADS * (LIMIT + 1u)) defect = "the chunks together hold too much";
}

static void visit(const model *m) {
    size_t at = slot_of(m);
    if (table[at].open) defect = "a sequence of steps repeats itself";
    if (table[at].seen || defect) return;
    assert_true(++states < STATES_MAX / 2);
    table[at].state = *m;
    table[at].seen = table[at].open = true;
    check_memory(m);
    bool moved = false;
    for (unsigned who = 0; who <= THREADS && !defect; who++) {
        model after = *m;
        if (who < THREADS ? m->threads[who].asleep : m->caller_asleep || m->caller == FINISHED) continue;
        moved = true;
        if (who < THREADS)
            thread_step(&after, who);
        else
            caller_step(&after);
        visit(&after);
    }
    if (!moved && m->caller != FINISHED) defect = "deadlock";
    table[at].open = false;
}

/* Returns the first defect of any order, or NULL. */
static const char *explore(const plan *p) {
    model begin;
    memset(&begin, 0, sizeof begin);
    plan_ = p;
    for (unsigned i = 0; i < THREADS; i++) begin.threads[i].chunk = NONE;
    begin.chunks[0].start = begin.chunks[0].head = true;
    memset(table, 0, STATES_MAX * sizeof *table);
    defect = NULL;
    states = 0;
    visit(&begin);
    return defect;
}

static void each_plan(unsigned chunks, void (*check)(const plan *p)) {
    unsigned all = 1;
    for (unsigned i = 1; i < chunks; i++) all *= KINDS;
    for (unsigned kinds = 0; kinds < all; kinds++)
        for (unsigned setting = 0; setting < 4; setting++) {
            plan p = {.chunks = (uint8_t)chunks, .most_held = setting & 1 ? 2 : 0, .refusing = (uint8_t)(setting >> 1)};
            for (unsigned i = 1, k = kinds; i < chunks; i++, k /= KINDS) p.kinds[i] = (uint8_t)(k % KINDS);
            for (unsigned i = 0; i < chunks; i++) p.pieces[i] = (uint8_t)(LIMIT + 1 + i % 2);
            check(&p);
        }
}

static unsigned defects;

static void must_be_right(const plan *p) {
    const char *what = explore(p);
    if (what)
        fail_msg("%s: %u chunks, kinds %u %u %u %u%s", what, p->chunks, p->kinds[1], p->kinds[2], p->kinds[3],
                 p->kinds[4], p->refusing ? ", refusing" : "");
}

static void count_defects(const plan *p) {
    const char *what = explore(p);
    if (what) assert_string_equal(what, "deadlock");
    defects += what != NULL;
}

static void no_order_ends_in_a_deadlock(void **state) {
    (void)state;
    for (unsigned chunks = 1; chunks < CHUNKS_MAX; chunks++) each_plan(chunks, must_be_right);
}

/* The exploration finds the deadlock when no chunk is put back. */
static void the_rule_is_needed(void **state) {
    (void)state;
    put_one_back = false;
    each_plan(4, count_defects);
    put_one_back = true;
    assert_true(defects > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(no_order_ends_in_a_deadlock), TEST(the_rule_is_needed)};
    table = calloc(STATES_MAX, sizeof *table);
    int failed = cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
    free(table);
    return failed;
}
