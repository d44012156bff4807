#include "commands/capture/run.h"
#include "options/diagnostics.h"

#include <ntrace/message_end.h>
#include <ntrace/reader.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPARED = 64, PLACES = 8, READ_TRIES = 2 };

void capture_losses_add(struct capture_losses *losses, const char *text) {
    for (size_t i = 0; i < losses->count; i++)
        if (strcmp(losses->text[i], text) == 0) return;
    if (losses->count < CAPTURE_LOSSES) snprintf(losses->text[losses->count++], CAPTURE_LOSS_TEXT, "%s", text);
}

void capture_lose(struct capture_losses *losses, const char *format, ...) {
    char text[CAPTURE_LOSS_TEXT];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_note("%s", text);
    capture_losses_add(losses, text);
}

/* ---- the stream */

static ntr_status collect(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    struct capture_content *c = user;

    (void)id;
    if (!size) return NTR_OK;
    if (c->size + size > c->capacity) {
        const size_t capacity = c->size + size > 2 * c->capacity ? c->size + size : 2 * c->capacity;
        uint8_t *grown = realloc(c->bytes, capacity);
        if (!grown) return NTR_E_MEMORY;
        c->bytes = grown;
        c->capacity = capacity;
    }
    memcpy(c->bytes + c->size, bytes, size);
    c->size += size;
    return NTR_OK;
}

/* Keeps whole messages: a wrapped buffer begins inside a message, a full one may end inside. Bytes in which no message
 * ends are kept as they are: memory that the sink did not write. */
static void trim(struct capture_content *c, bool cut) {
    size_t from = 0, to = c->size;

    if (cut)
        while (from < to && !ntr_ends_message(c->bytes[from++])) continue;
    while (to > from && !ntr_ends_message(c->bytes[to - 1])) to--;
    if (from == to) return;
    memmove(c->bytes, c->bytes + from, to - from);
    c->size = to - from;
}

/* A connection that breaks in between is there again for the next request: the sink is read from its beginning. */
static ntr_status read_sink(struct capture_content *c, ntr_target_content *content) {
    ntr_status status = NTR_E_IO;

    for (unsigned tries = 0; tries < READ_TRIES && status == NTR_E_IO; tries++) {
        c->size = 0;
        status = ntr_target_read(c->capture->target, c->capture->sink, collect, c, content);
    }
    return status;
}

int capture_content_stream(struct capture_content *c) {
    const struct capture_bundle *capture = c->capture;
    ntr_target_content content;
    const ntr_status status = read_sink(c, &content);

    if (status != NTR_OK)
        return cli_fail("%s", *ntr_target_error(capture->target) ? ntr_target_error(capture->target)
                                                                 : ntr_status_text(status));
    if (!content.verified)
        capture_lose(c->capture->losses,
                     "the read pointer did not arrive at the end of the trace: bytes may be missing or repeated");
    if (content.stopped_full)
        capture_lose(c->capture->losses, "the sink was full and stopped; what came later is missing");
    else if (content.wrapped)
        capture_lose(c->capture->losses, "the sink wrapped; it holds the last %zu bytes", c->size);
    trim(c, content.cut);
    return CLI_OK;
}

/* ---- parameters and sources, from the registers of the encoders that lead to the sink */

struct encoder_facts {
    uint32_t control, features;
    ntr_params params;
};

static ntr_status read_encoder(ntr_target *target, size_t index, unsigned hart, struct encoder_facts *facts) {
    ntr_status status = ntr_target_params(target, hart, &facts->params);

    if (status == NTR_OK) status = ntr_target_register(target, index, NTR_REGISTER_TE_CONTROL, 0, &facts->control);
    if (status == NTR_OK)
        status = ntr_target_register(target, index, NTR_REGISTER_TE_INST_FEATURES, 0, &facts->features);
    return status;
}

static int add_encoder(struct capture_content *c, size_t index, const ntr_system_component *encoder) {
    ntr_target *target = c->capture->target;
    struct encoder_facts facts = {0};
    ntr_status status = NTR_E_IO;

    for (unsigned tries = 0; tries < READ_TRIES && status == NTR_E_IO; tries++)
        status = read_encoder(target, index, (unsigned)encoder->hart, &facts);
    if (status != NTR_OK) return cli_fail("%s", ntr_target_error(target));
    if (c->source_count && ntr_params_difference(&facts.params, &c->params))
        return cli_fail("%s is configured otherwise than the encoder before it; a stream has one set of parameters",
                        encoder->name);
    c->params = facts.params;
    c->mode = (uint8_t)ntr_bits_value(ntr_bits_get(NTR_BITS_TE_INST_MODE), facts.control);
    const uint32_t id = ntr_bits_value(ntr_bits_get(NTR_BITS_TE_SRC_ID), facts.features);
    if (c->source_count < CAPTURE_SOURCES)
        c->sources[c->source_count++] =
            (ntr_bundle_source){.src = (uint16_t)(c->params.src_bits ? id & ((1u << c->params.src_bits) - 1) : 0),
                                .hart = (uint32_t)encoder->hart,
                                .name = encoder->name};
    return CLI_OK;
}

int capture_content_encoders(struct capture_content *c) {
    const ntr_system *system = ntr_target_components(c->capture->target);
    ntr_system_component one;
    int status = CLI_OK;

    for (size_t i = 0; status == CLI_OK && ntr_system_component_get(system, i, &one) == NTR_OK; i++)
        if (one.kind == NTR_COMPONENT_ENCODER && ntr_system_leads(system, i, c->capture->sink))
            status = add_encoder(c, i, &one);
    if (status != CLI_OK || c->source_count) return status;
    return cli_fail("no encoder of the topology leads to the sink");
}

/* ---- the messages: is there one, and do images agree with the target? */

/* Returns whether the memory of the target could be read: it may be virtual, or not readable from outside. */
static bool read_target(const ntr_bus *bus, uint64_t address, uint8_t *out, size_t size) {
    if (bus->read_memory) return bus->read_memory(bus->user, address, out, size) == NTR_OK;
    for (size_t at = 0; at < size; at += 4) {
        uint32_t word;
        if (!bus->read32 || bus->read32(bus->user, address + at, &word) != NTR_OK) return false;
        for (unsigned i = 0; i < 4; i++) out[at + i] = (uint8_t)(word >> 8 * i);
    }
    return true;
}

static void compare(const struct capture_content *c, uint64_t address) {
    uint8_t ours[COMPARED], theirs[COMPARED];
    const size_t size =
        ntr_program_read(c->program, ntr_place_at(NULL, NTR_POSITION_ANY, address), ours, sizeof ours) & ~(size_t)3;

    if (!size || address % 4 || !read_target(c->capture->bus, address, theirs, size)) return;
    for (size_t i = 0; i < size; i++) {
        if (ours[i] == theirs[i]) continue;
        capture_lose(c->capture->losses,
                     "the image differs from the memory of the target at 0x%" PRIx64
                     ": 0x%02x in the file, 0x%02x there; is it the "
                     "program that ran?",
                     address + i, ours[i], theirs[i]);
        return;
    }
}

void capture_content_examine(struct capture_content *c) {
    ntr_reader reader;
    ntr_message message;
    uint64_t good = 0, defects = 0, overflows = 0, synchronizing = 0, places[PLACES];
    size_t place_count = 0;

    if (ntr_reader_init(&reader, &c->params) != NTR_OK) return;
    ntr_reader_feed(&reader, c->bytes, c->size, true);
    while (ntr_reader_next(&reader, &message) == NTR_OK) {
        if (message.defect)
            defects++;
        else
            good++;
        overflows += !message.defect && message.tcode == NTR_TCODE_ERROR;
        synchronizing += !message.defect && NTR_HAS(&message, FADDR);
        if (message.defect || !NTR_HAS(&message, FADDR) || place_count == PLACES) continue;
        const uint64_t address = ntr_message_address(&c->params, &message, NTR_FIELD_FADDR);
        bool seen = false;
        for (size_t i = 0; i < place_count; i++) seen |= places[i] == address;
        if (!seen) places[place_count++] = address;
    }
    if (overflows)
        capture_lose(c->capture->losses,
                     "trace was lost %" PRIu64
                     " times (Error messages): try --mode htm, --stall, or a larger or faster sink",
                     overflows);
    if (!good || defects > good)
        capture_lose(
            c->capture->losses,
            "the buffer holds %s: %zu bytes, the first is 0x%02x; is the memory what the sink wrote (cache, physical "
            "address, trRamMemFormat)? The raw bytes are kept",
            good ? "more damage than messages" : "no message", c->size, c->bytes[0]);
    if (good && defects <= good && !synchronizing) {
        capture_lose(c->capture->losses,
                     "the trace has %" PRIu64
                     " messages and no address: nothing that ran can be decoded. Do filters exclude it, or is the "
                     "buffer smaller than the distance of synchronizing messages (--sync-max)?",
                     good);
        ntr_target_explain_empty(c->capture->target);
    }
    for (size_t i = 0; i < place_count; i++) compare(c, places[i] & ~(uint64_t)3);
}
