/* A source of executed blocks inside the test: it fills the shared memory as the capture plugin does. */
#ifndef NTR_TEST_FAKE_PLUGIN_H
#define NTR_TEST_FAKE_PLUGIN_H

#include "../test.h"
#include "capture/harts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fake_plugin {
    struct ntr_capture_source source;
    struct channel *channel;
    uint64_t batches; /* begun by the writer, beyond the first */
} fake_plugin;

static void fake_open(fake_plugin *fake) {
    struct ntr_capture_reason reason = {0};

    assert_int_equal(ntr_capture_source_open(&fake->source, &reason), NTR_OK);
    fake->channel = fake->source.channel;
    fake->batches = 0;
    fake->channel->head.base = (uintptr_t)fake->channel;
    fake->channel->head.xlen = 64;
    atomic_store(&fake->channel->head.state, CHANNEL_ATTACHED);
    atomic_store(&fake->channel->head.lanes, 1);
    fake->channel->lanes[0].ring = fake->channel->rings[0];
    atomic_store(&fake->channel->lanes[0].at, fake->channel->rings[0]);
}

static void fake_close(fake_plugin *fake) {
    ntr_capture_source_close(&fake->source);
}

/* May the plugin write a word, or would it wait for its reader? */
static bool fake_has_room(const fake_plugin *fake) {
    return fake->batches - atomic_load(&fake->channel->lanes[0].consumed) <= CHANNEL_BATCHES - 2;
}

static void fake_put(fake_plugin *fake, uint32_t word) {
    struct channel_lane *lane = &fake->channel->lanes[0];
    uint32_t *ring = fake->channel->rings[0], *at = atomic_load(&lane->at);

    assert_true(fake_has_room(fake));
    *at++ = word;
    if ((at - ring) % CHANNEL_BATCH == 0) fake->batches++;
    atomic_store(&lane->at, at == ring + CHANNEL_RING ? ring : at);
}

/* Add a block to the table. Returns its number. */
static uint32_t fake_block(fake_plugin *fake, uint64_t address, const uint32_t *code, unsigned count, unsigned flags) {
    struct channel_head *head = &fake->channel->head;
    uint32_t number = atomic_load(&head->blocks);
    uint64_t place = atomic_load(&head->code);

    fake->channel->blocks[number] = (struct channel_block){.address = address,
                                                           .code = place,
                                                           .size = 4 * count,
                                                           .counters = 2 * number,
                                                           .instructions = (uint16_t)count,
                                                           .flags = (uint8_t)flags};
    for (unsigned i = 0; i < count; i++) memcpy(fake->channel->code + place + 4 * i, &code[i], 4);
    atomic_store(&head->code, place + 4 * count);
    if (flags & CHANNEL_BLOCK_LOOP) {
        fake->channel->loops[atomic_load(&head->loops)] = number;
        atomic_fetch_add(&head->loops, 1);
    }
    atomic_store(&head->blocks, number + 1);
    return number;
}

/* A loop has ended: its executions that were not reported before. */
static void fake_report_loop(fake_plugin *fake, uint32_t number) {
    struct channel_block *block = &fake->channel->blocks[number];
    uint64_t count = channel_pending(fake->channel, block);

    block->seen += count;
    fake_put(fake, CHANNEL_LOOP);
    fake_put(fake, number);
    fake_put(fake, (uint32_t)count);
    fake_put(fake, CHANNEL_RECORD | (uint32_t)(count >> 32));
}

static void fake_count_loop(fake_plugin *fake, uint32_t number, uint64_t count) {
    fake->channel->counters[fake->channel->blocks[number].counters] += count;
}

/* ---- an engine with a stream in a file -----------------------------------------------------------------------------
 */

typedef struct engine {
    fake_plugin plugin;
    ntr_encoder_config config;
    struct ntr_bundle_writer *stream;
    struct ntr_capture_harts harts;
    char folder[32], path[48];
} engine;

/* `options`: names and values of encoder options, NULL at the end. */
static void engine_open(engine *e, const char *const *options) {
    memset(e, 0, sizeof *e);
    fake_open(&e->plugin);
    ntr_encoder_config_init(&e->config);
    for (; options && options[0]; options += 2)
        assert_int_equal(ntr_encoder_option_set(&e->config, options[0], options[1]), NTR_OK);
    e->stream = calloc(1, sizeof *e->stream);
    assert_non_null(e->stream);
    e->config.sink = ntr_bundle_writer_put;
    e->config.sink_user = e->stream;
    snprintf(e->folder, sizeof e->folder, "/tmp/ntrace-unit-XXXXXX");
    assert_non_null(mkdtemp(e->folder));
    snprintf(e->path, sizeof e->path, "%s/stream", e->folder);
    assert_int_equal(ntr_bundle_writer_open(e->stream, e->path, false, NULL), NTR_OK);
    const struct ntr_capture_target target = {e->plugin.channel, &e->config, e->stream, NULL};
    assert_int_equal(ntr_capture_harts_init(&e->harts, &target, NULL), NTR_OK);
}

/* Complete the stream. Returns its bytes (to be freed). */
static uint8_t *engine_finish(engine *e, bool by_fault, size_t *size) {
    while (ntr_capture_harts_drain(&e->harts, true)) continue;
    ntr_capture_harts_finish(&e->harts, by_fault);
    assert_int_equal(e->harts.failure, NTR_OK);
    assert_int_equal(ntr_bundle_writer_close(e->stream), NTR_OK);
    *size = (size_t)e->stream->offset;
    uint8_t *bytes = malloc(*size + 1);
    FILE *file = fopen(e->path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, *size + 1, file), *size);
    fclose(file);
    return bytes;
}

static void engine_close(engine *e) {
    ntr_capture_harts_release(&e->harts);
    ntr_bundle_writer_release(e->stream, NULL);
    free(e->stream);
    unlink(e->path);
    rmdir(e->folder);
    fake_close(&e->plugin);
}

#endif
