/* A filter between a GDB client and a server: packets that access trace registers are answered here, all others by the
 * server.
 *
 * Acknowledgements are made here for both sides, so that requests of the board itself fit between those of the client.
 */
#include "board/control.h"
#include "board/remote.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdio.h>
#include <string.h>

enum { PACKET = RSP_PACKET, REGISTER_BYTES = 4, INTERRUPT = 3 };

struct ntr_gdb_filter {
    ntr_board *board;
    const ntr_allocator *allocator;
    ntr_gdb_output output;
    void *user;
    bool no_ack;
    bool inside;         /* in a packet of the client */
    unsigned sum_digits; /* of its checksum, still to come */
    char packet[PACKET + 1];
    size_t size;
    char last[RSP_FRAME]; /* sent to the client; sent again when it asks for that */
    size_t last_size;
};

static ntr_status put(ntr_gdb_filter *filter, const char *bytes, size_t size) {
    return filter->output(filter->user, (const uint8_t *)bytes, size);
}

static ntr_status forward(ntr_gdb_filter *filter, const char *data, size_t size) {
    filter->last_size = rsp_frame(filter->last, data, size);
    return put(filter, filter->last, filter->last_size);
}

ntr_status ntr_gdb_filter_new(ntr_board *board, ntr_gdb_output output, void *user, const ntr_allocator *allocator,
                              ntr_gdb_filter **out) {
    *out = NULL;
    if (board->filter || board_control_release(board) != NTR_OK) return NTR_E_MEMORY;
    ntr_gdb_filter *filter = ntr_alloc(allocator, 1, sizeof *filter);
    if (!filter) return NTR_E_MEMORY;
    filter->board = board;
    filter->allocator = allocator;
    filter->output = output;
    filter->user = user;
    board->filter = filter;
    board->forward = forward;
    *out = filter;
    return NTR_OK;
}

void ntr_gdb_filter_free(ntr_gdb_filter *filter) {
    if (!filter) return;
    filter->board->filter = NULL;
    ntr_dealloc(filter->allocator, filter);
}

/* ---- answers */

static ntr_status answer(ntr_gdb_filter *filter, const char *data) {
    return forward(filter, data, strlen(data));
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
    if (length > sizeof bytes || !board_memory_read(filter->board, address, bytes, (size_t)length))
        return answer(filter, "E01");
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

/* Answers a packet that accesses trace registers. *answered: it was one. An X packet gets an empty answer: GDB then
 * uses M. */
static ntr_status answer_memory(ntr_gdb_filter *filter, const char *data, bool *answered) {
    uint64_t address, length;
    const char *rest = strchr("mMX", data[0]) && data[0] ? parse_range(data + 1, &address, &length) : NULL;
    const bool ram = rest && length && length < PACKET && board_in_ram(filter->board, address, (size_t)length);
    *answered = ram || (rest && board_is_component(filter->board, address));
    if (!*answered) return NTR_OK;
    if (data[0] == 'm' && *rest) return answer(filter, "E01");
    if (data[0] == 'm') return (ram ? read_ram : read_words)(filter, address, length);
    if (data[0] == 'X') return answer(filter, "");
    return *rest == ':' ? (ram ? write_ram : write_words)(filter, address, length, rest + 1) : answer(filter, "E01");
}

/* ---- the client */

static bool resumes(const char *data) {
    return strchr("cCsS", *data) ? *data != 0 : strncmp(data, "vCont;", 6) == 0;
}

static ntr_status resume(ntr_gdb_filter *filter, const char *data) {
    board_machine_resumed(filter->board);
    return board_remote_resume(filter->board, data);
}

static ntr_status ask(ntr_gdb_filter *filter) {
    const rsp_client *rsp;
    TRY(board_remote_ask(filter->board, filter->packet, filter->size));
    rsp = &filter->board->remote->rsp;
    return forward(filter, rsp->packet, rsp->size);
}

/* The machine goes on without a debugger. D is not sent to its server, which would remove the watched pages. */
static ntr_status detach(ntr_gdb_filter *filter) {
    TRY(answer(filter, "OK"));
    return filter->board->remote->running ? NTR_OK : resume(filter, "c");
}

static ntr_status kill_program(ntr_gdb_filter *filter) {
    rsp_send(&filter->board->remote->rsp, "k"); /* has no answer */
    return NTR_E_IO;
}

static ntr_status take_packet(ntr_gdb_filter *filter) {
    const char *data = filter->packet;
    bool answered;
    filter->inside = false;
    filter->packet[filter->size] = 0;
    if (!filter->no_ack) TRY(put(filter, "+", 1));
    TRY(answer_memory(filter, data, &answered));
    if (answered) return NTR_OK;
    if (strcmp(data, "QStartNoAckMode") == 0) {
        filter->no_ack = true;
        return answer(filter, "OK");
    }
    if (!board_remote_is_open(filter->board)) return NTR_E_IO;
    if (resumes(data)) return resume(filter, data);
    if (strcmp(data, "k") == 0) return kill_program(filter);
    if (filter->board->machine && *data == 'D') return detach(filter);
    if (*data == 'F')
        return rsp_send_data(&filter->board->remote->rsp, data,
                             filter->size); /* the answer to a request of semihosting */
    TRY(ask(filter));
    return *data == '?' ? board_remote_watch(filter->board) : NTR_OK;
}

static ntr_status take_inside(ntr_gdb_filter *filter, char byte) {
    if (filter->sum_digits) return --filter->sum_digits ? NTR_OK : take_packet(filter);
    if (byte == '#')
        filter->sum_digits = 2;
    else if (filter->size < PACKET)
        filter->packet[filter->size++] = byte;
    else
        return NTR_E_LIMIT;
    return NTR_OK;
}

static ntr_status take_outside(ntr_gdb_filter *filter, char byte) {
    if (byte == '$') {
        filter->inside = true;
        filter->sum_digits = 0;
        filter->size = 0;
    }
    if (byte == '-' && !filter->no_ack && filter->last_size) return put(filter, filter->last, filter->last_size);
    return byte == INTERRUPT ? board_remote_interrupt(filter->board) : NTR_OK;
}

ntr_status ntr_gdb_filter_client(ntr_gdb_filter *filter, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        TRY(filter->inside ? take_inside(filter, (char)bytes[i]) : take_outside(filter, (char)bytes[i]));
    return NTR_OK;
}
