/* A filter between a GDB client and a server: packets that access trace registers are answered here.
 *
 * Until QStartNoAckMode, a packet is acknowledged by "+". A packet that is answered here is acknowledged here, and the
 * client's acknowledgement of the answer is not passed on. */
#include "board/board.h"

#include "base/allocator.h"
#include "base/try.h"

#include <stdio.h>
#include <string.h>

enum { PACKET = 8192, REGISTER_BYTES = 4, INTERRUPT = 3 };

struct ntr_gdb_filter {
    ntr_board *board;
    const ntr_allocator *allocator;
    ntr_gdb_output output;
    void *user;
    bool no_ack, asked_no_ack; /* QStartNoAckMode was accepted, or sent */
    unsigned swallow;          /* acknowledgements of answers made here */
    bool inside;               /* in a packet of the client */
    unsigned sum_digits;       /* of its checksum, still to come */
    uint8_t frame[PACKET + 4];
    size_t size;
    char answer[5]; /* beginning of the server's answer */
    size_t answer_size;
    uint8_t before; /* byte of the server */
};

ntr_gdb_filter *ntr_gdb_filter_new(ntr_board *board, ntr_gdb_output output, void *user, const ntr_allocator *allocator) {
    ntr_gdb_filter *filter = ntr_alloc(allocator, 1, sizeof *filter);
    if (!filter) return NULL;
    *filter = (ntr_gdb_filter){.board = board, .allocator = allocator, .output = output, .user = user};
    return filter;
}

void ntr_gdb_filter_free(ntr_gdb_filter *filter) {
    if (filter) ntr_dealloc(filter->allocator, filter);
}

/* ---- answers */

static ntr_status answer(ntr_gdb_filter *filter, const char *data) {
    char frame[2 * PACKET];
    unsigned char sum = 0;
    for (const char *at = data; *at; at++) sum = (unsigned char)(sum + (unsigned char)*at);
    const int size = snprintf(frame, sizeof frame, "%s$%s#%02x", filter->no_ack ? "" : "+", data, sum);
    if (!filter->no_ack) filter->swallow++;
    return filter->output(filter->user, true, (const uint8_t *)frame, (size_t)size);
}

/* ---- memory packets */

static const char *parse_hex(const char *at, uint64_t *value) {
    const char *start = at;
    *value = 0;
    for (;; at++) {
        const unsigned digit = (unsigned char)*at - '0', letter = ((unsigned char)*at | 0x20u) - 'a';
        if (digit > 9 && letter > 5) break;
        if (*value >> 60) return NULL;
        *value = *value << 4 | (digit <= 9 ? digit : letter + 10);
    }
    return at > start ? at : NULL;
}

/* Reads "ADDRESS,LENGTH". Returns what follows, or NULL. */
static const char *parse_range(const char *at, uint64_t *address, uint64_t *length) {
    at = parse_hex(at, address);
    if (!at || *at != ',') return NULL;
    return parse_hex(at + 1, length);
}

static bool is_component(ntr_gdb_filter *filter, uint64_t address) {
    ntr_system_component one;
    const uint64_t page = address & ~(uint64_t)(NTR_COMPONENT_BYTES - 1);
    for (size_t i = 0; ntr_system_component_get(filter->board->system, i, &one) == NTR_OK; i++)
        if (one.base == page) return true;
    return false;
}

static bool is_words(uint64_t address, uint64_t length) {
    return address % REGISTER_BYTES == 0 && length && length % REGISTER_BYTES == 0 && length <= PACKET / 4;
}

/* GDB reads two words by one packet: each word is one access. */
static ntr_status read_words(ntr_gdb_filter *filter, uint64_t address, uint64_t length) {
    char text[PACKET];
    size_t used = 0;
    if (!is_words(address, length)) return answer(filter, "E01");
    for (uint64_t at = 0; at < length; at += REGISTER_BYTES) {
        uint32_t word;
        if (board_register_read(filter->board, address + at, &word) != NTR_OK) return answer(filter, "E01");
        used += (size_t)snprintf(text + used, sizeof text - used, "%02x%02x%02x%02x", word & 255, word >> 8 & 255,
                                 word >> 16 & 255, word >> 24);
    }
    return answer(filter, text);
}

static bool parse_word(const char *at, uint32_t *word) {
    *word = 0;
    for (unsigned i = 0; i < REGISTER_BYTES; i++) {
        char pair[3] = {at[2 * i], at[2 * i] ? at[2 * i + 1] : 0, 0};
        uint64_t byte;
        const char *end = parse_hex(pair, &byte);
        if (end != pair + 2) return false;
        *word |= (uint32_t)byte << 8 * i;
    }
    return true;
}

static ntr_status write_words(ntr_gdb_filter *filter, uint64_t address, uint64_t length, const char *data) {
    if (!is_words(address, length) || strlen(data) != 2 * length) return answer(filter, "E01");
    for (uint64_t at = 0; at < length; at += REGISTER_BYTES) {
        uint32_t word;
        if (!parse_word(data + 2 * at, &word) || board_register_write(filter->board, address + at, word) != NTR_OK)
            return answer(filter, "E01");
    }
    return answer(filter, "OK");
}

/* Memory in which RAM sinks of the model store trace: any width. */
static ntr_status read_ram(ntr_gdb_filter *filter, uint64_t address, uint64_t length) {
    char text[PACKET];
    uint8_t bytes[PACKET / 2 - 1];
    if (length > sizeof bytes || !board_memory_read(filter->board, address, bytes, (size_t)length)) return answer(filter, "E01");
    for (size_t i = 0; i < length; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    text[2 * length] = 0;
    return answer(filter, text);
}

static ntr_status write_ram(ntr_gdb_filter *filter, uint64_t address, uint64_t length, const char *data) {
    if (strlen(data) != 2 * length) return answer(filter, "E01");
    for (uint64_t i = 0; i < length; i++) {
        const char pair[3] = {data[2 * i], data[2 * i + 1], 0};
        uint64_t value;
        const char *end = parse_hex(pair, &value);
        const uint8_t byte = (uint8_t)value;
        if (end != pair + 2 || !board_memory_write(filter->board, address + i, &byte, 1)) return answer(filter, "E01");
    }
    return answer(filter, "OK");
}

/* Answers a packet that accesses trace registers. *answered: it was one. An X packet gets an empty answer: GDB then uses
 * M. */
static ntr_status answer_memory(ntr_gdb_filter *filter, const char *data, bool *answered) {
    uint64_t address, length;
    const char *rest = strchr("mMX", data[0]) && data[0] ? parse_range(data + 1, &address, &length) : NULL;
    const bool ram = rest && length && length < PACKET && board_in_ram(filter->board, address, (size_t)length);
    *answered = ram || (rest && is_component(filter, address));
    if (!*answered) return NTR_OK;
    if (data[0] == 'm' && *rest) return answer(filter, "E01");
    if (data[0] == 'm') return (ram ? read_ram : read_words)(filter, address, length);
    if (data[0] == 'X') return answer(filter, "");
    return *rest == ':' ? (ram ? write_ram : write_words)(filter, address, length, rest + 1) : answer(filter, "E01");
}

/* ---- the client */

static ntr_status pass(ntr_gdb_filter *filter, const uint8_t *bytes, size_t size) {
    return size ? filter->output(filter->user, false, bytes, size) : NTR_OK;
}

static bool resumes(const char *data) {
    return strchr("cCsS", *data) ? *data != 0 : strncmp(data, "vCont;", 6) == 0;
}

static ntr_status take_packet(ntr_gdb_filter *filter) {
    char data[PACKET];
    bool answered;
    const size_t size = filter->size - 4; /* without $, # and the checksum */
    memcpy(data, filter->frame + 1, size);
    data[size] = 0;
    filter->inside = false;
    TRY(answer_memory(filter, data, &answered));
    if (answered) return NTR_OK;
    if (strcmp(data, "QStartNoAckMode") == 0) filter->asked_no_ack = true;
    if (resumes(data)) board_machine_resumed(filter->board);
    filter->answer_size = 0;
    return pass(filter, filter->frame, filter->size);
}

static ntr_status take_inside(ntr_gdb_filter *filter, uint8_t byte) {
    if (filter->size == PACKET) { /* too long to be an access to registers: passes as it is */
        filter->inside = false;
        TRY(pass(filter, filter->frame, filter->size));
        return pass(filter, &byte, 1);
    }
    filter->frame[filter->size++] = byte;
    if (filter->sum_digits) return --filter->sum_digits ? NTR_OK : take_packet(filter);
    if (byte == '#') filter->sum_digits = 2;
    return NTR_OK;
}

static ntr_status take_outside(ntr_gdb_filter *filter, uint8_t byte) {
    if (byte == '$') {
        filter->inside = true;
        filter->sum_digits = 0;
        filter->frame[0] = byte;
        filter->size = 1;
        return NTR_OK;
    }
    if (byte == '+' && filter->swallow) {
        filter->swallow--;
        return NTR_OK;
    }
    return pass(filter, &byte, 1);
}

ntr_status ntr_gdb_filter_client(ntr_gdb_filter *filter, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        TRY(filter->inside ? take_inside(filter, bytes[i]) : take_outside(filter, bytes[i]));
    return NTR_OK;
}

/* ---- the server */

static void watch_answer(ntr_gdb_filter *filter, uint8_t byte) {
    if (!filter->asked_no_ack || filter->no_ack) return;
    if (byte == '$') filter->answer_size = 0;
    if (filter->answer_size < sizeof filter->answer) filter->answer[filter->answer_size++] = (char)byte;
    if (filter->answer_size < 4 || filter->answer[3] != '#') return;
    filter->asked_no_ack = false;
    filter->no_ack = memcmp(filter->answer, "$OK#", 4) == 0;
    if (filter->no_ack) filter->swallow = 0;
}

/* A packet that begins with T or S says that the harts have stopped. The client is told after they were drained. */
static void watch_stops(ntr_gdb_filter *filter, uint8_t byte) {
    if (filter->before == '$' && (byte == 'T' || byte == 'S')) board_machine_halted(filter->board);
    filter->before = byte;
}

ntr_status ntr_gdb_filter_server(ntr_gdb_filter *filter, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        watch_answer(filter, bytes[i]);
        watch_stops(filter, bytes[i]);
    }
    return size ? filter->output(filter->user, true, bytes, size) : NTR_OK;
}
