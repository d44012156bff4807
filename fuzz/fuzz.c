#include "fuzz.h"

#include <ntrace/export.h>
#include <ntrace/instructions.h>
#include <ntrace/message.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_must(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "fuzz: broken promise: %s\n", what);
    abort();
}

uint8_t fuzz_byte(fuzz_tape *tape) {
    return tape->at < tape->size ? tape->bytes[tape->at++] : 0;
}

uint64_t fuzz_number(fuzz_tape *tape, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)fuzz_byte(tape) << (8 * i);
    return value;
}

ntr_bytes fuzz_part(fuzz_tape *tape, size_t size) {
    size_t left = tape->size - tape->at;
    if (left == 0) return (ntr_bytes){NULL, 0};
    ntr_bytes part = {tape->bytes + tape->at, size < left ? size : left};
    tape->at += part.size;
    return part;
}

ntr_bytes fuzz_rest(fuzz_tape *tape) {
    return fuzz_part(tape, SIZE_MAX);
}

static const ntr_dialect *dialect_of(unsigned number) {
    unsigned count = 0;
    while (ntr_dialect_at(count)) count++;
    return ntr_dialect_at(number % count);
}

ntr_params fuzz_params(fuzz_tape *tape) {
    ntr_params params;
    const ntr_dialect *dialect = dialect_of(fuzz_byte(tape));
    ntr_params_init(&params, dialect);
    uint8_t src = fuzz_byte(tape), time = fuzz_byte(tape), modes = fuzz_byte(tape), more = fuzz_byte(tape);
    if (src & 0x80) params.src_bits = (uint8_t)((src & 0x7f) % 13);
    params.timestamps = time % 3;
    if (time & 0x80) params.ts_width = time & 0x3f;
    if (modes & 4) params.implicit_return = modes & 3;
    params.xlen = modes & 8 ? 32 : 64;
    params.sequential_jump = modes & 16;
    params.extend_addr = modes & 32;
    params.all_jumps = modes & 64;
    params.return_stack = fuzz_byte(tape);
    if (more & 1) params.return_stack = 0;
    if (ntr_params_check(&params)) params.ts_width = 0;
    if (ntr_params_check(&params)) ntr_params_init(&params, dialect);
    fuzz_must(ntr_params_check(&params) == NTR_OK, "the parameters of a dialect are valid");
    return params;
}

uint64_t fuzz_program_base(uint8_t kind, unsigned xlen) {
    static const uint64_t bases[] = {0x80000000, 0,      0xfffffffffffff000, 0x7ffffffff000, 0xffffffff80000000,
                                     0xfffff000, 0x1000, 0x8000000000000000};
    uint64_t base = bases[kind & 7];
    return xlen == 32 ? base & 0xffffffff : base;
}

const ntr_transport *fuzz_transport(fuzz_tape *tape) {
    unsigned count = 0;
    while (ntr_transport_at(count)) count++;
    return ntr_transport_at(fuzz_byte(tape) % count);
}

enum { PROGRAM_HEAD = 3, CODE_SIZE_MASK = 0xfff };

ntr_program *fuzz_program(fuzz_tape *tape, unsigned xlen) {
    ntr_program *program;
    ntr_program_new(NULL, &program);
    uint8_t kind = fuzz_byte(tape);
    ntr_bytes code = fuzz_part(tape, fuzz_number(tape, 2) & CODE_SIZE_MASK);
    ntr_image_options options = {.size = sizeof options, .name = "code", .has_isa = true};
    if (!program) abort();
    options.bias = fuzz_program_base(kind, xlen);
    options.isa = (xlen == 32 ? NTR_ISA_RV32 : 0) | (kind & 8 ? NTR_ISA_ZCMP : 0) | (kind & 16 ? NTR_ISA_ZCMT : 0);
    options.has_jvt = kind & 16;
    options.jvt = options.bias;
    if (code.size) ntr_program_add_raw(program, code, &options);
    return program;
}

size_t fuzz_behind_program(const uint8_t *data, size_t size, size_t place) {
    if (size < place + PROGRAM_HEAD) return place + PROGRAM_HEAD;
    return place + PROGRAM_HEAD + ((data[place + 1] | data[place + 2] << 8) & CODE_SIZE_MASK);
}

bool fuzz_line(fuzz_tape *tape, const char **line, size_t *length) {
    if (tape->at >= tape->size) return false;
    const uint8_t *start = tape->bytes + tape->at, *end = memchr(start, '\n', tape->size - tape->at);
    *line = (const char *)start;
    *length = end ? (size_t)(end - start) : tape->size - tape->at;
    tape->at += *length + (end ? 1 : 0);
    return true;
}

void fuzz_encoder_options(fuzz_tape *tape, ntr_encoder_config *config) {
    const char *line;
    size_t length;
    while (fuzz_line(tape, &line, &length)) {
        char text[160];
        if (!memchr(line, '=', length)) return;
        if (length >= sizeof text) continue;
        memcpy(text, line, length);
        text[length] = 0;
        char *value = strchr(text, '=');
        if (!value) continue;
        *value++ = 0;
        ntr_encoder_option_set(config, text, value);
    }
}

void fuzz_add(fuzz_bytes *bytes, const void *data, size_t size) {
    if (bytes->size + size > bytes->capacity) {
        bytes->capacity = 2 * (bytes->size + size);
        bytes->data = realloc(bytes->data, bytes->capacity);
        if (!bytes->data) abort();
    }
    if (size) memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

ntr_status fuzz_take_message(void *user, const uint8_t *bytes, size_t size) {
    fuzz_must(size > 0 && (bytes[size - 1] & 3) == 3, "messages are complete");
    fuzz_add(user, bytes, size);
    return NTR_OK;
}

static void put_message(fuzz_bytes *stream, const ntr_params *params, const ntr_message *message) {
    uint8_t bytes[NTR_MESSAGE_BYTES_MAX];
    int size = ntr_message_encode(params, message, bytes, sizeof bytes);
    if (size > 0) fuzz_add(stream, bytes, (size_t)size);
}

fuzz_bytes fuzz_many_sources(const ntr_params *params, uint8_t kind, ntr_bytes stream) {
    fuzz_bytes all = {0};
    const ntr_fields src = params->src_bits ? (ntr_fields)1 << NTR_FIELD_SRC : 0;
    ntr_message sync = {.tcode = NTR_TCODE_PROG_TRACE_SYNC}, full = {.tcode = NTR_TCODE_RESOURCE_FULL};
    sync.present =
        src | (ntr_fields)1 << NTR_FIELD_SYNC | (ntr_fields)1 << NTR_FIELD_ICNT | (ntr_fields)1 << NTR_FIELD_FADDR;
    sync.value[NTR_FIELD_SYNC] = 1;
    sync.value[NTR_FIELD_FADDR] = fuzz_program_base(kind, params->xlen) >> 1;
    full.present = src | (ntr_fields)1 << NTR_FIELD_RCODE | (ntr_fields)1 << NTR_FIELD_RDATA0;
    full.value[NTR_FIELD_RDATA0] = 2; /* halfwords */
    for (uint64_t i = 0; i < UINT64_C(1) << params->src_bits; i++) {
        sync.value[NTR_FIELD_SRC] = full.value[NTR_FIELD_SRC] = i;
        put_message(&all, params, &sync);
        put_message(&all, params, &full);
    }
    fuzz_add(&all, stream.data, stream.size);
    return all;
}

/* The text of an event fits the buffer and is a line. */
static void write_down(const ntr_event *event) {
    char text[NTR_EVENT_TEXT_MAX];
    size_t json = ntr_event_json(event, text, sizeof text);
    fuzz_must(json && json <= sizeof text && text[json - 1] == '\n' && text[0] == '{', "an event is a line of JSON");
    size_t csv = ntr_event_csv(event, text, sizeof text);
    fuzz_must(csv && csv <= sizeof text && text[csv - 1] == '\n', "an event is a row");
    fuzz_must(ntr_event_csv(event, text, csv - 1) == 0, "a row that does not fit is not written");
}

/* The instructions of a span: their number and the address of the last one agree with the event, each with the program.
 */
static void expand(ntr_instructions *instructions, const ntr_decoder_config *config, const ntr_event *span) {
    enum { FUZZ_MOST = 1000 }; /* hostile spans are long */
    const uint64_t mask = ntr_program_xlen(config->program) == 32 ? UINT32_MAX : UINT64_MAX;
    ntr_instruction i;
    uint32_t count = 0;
    ntr_instructions_begin(instructions, span);
    for (uint64_t at = span->address; count < FUZZ_MOST && ntr_instructions_next(instructions, &i) == NTR_OK; count++) {
        ntr_insn same;
        ntr_status status = ntr_program_insn(config->program, ntr_place_at(&span->context, span->offset, at), &same);
        fuzz_must(i.address == at && i.insn.size == same.size && i.insn.flow == same.flow,
                  "instructions are those of the program");
        fuzz_must(status == NTR_OK ? i.insn.target == same.target : same.table_jump,
                  "targets are those of the program");
        at += i.insn.size;
    }
    fuzz_must(count == span->instructions || count == FUZZ_MOST, "a span has code");
    if (count && count < FUZZ_MOST)
        fuzz_must(((i.address ^ span->last) & mask) == 0, "the last instruction is at `last`");
}

void fuzz_decode(const ntr_decoder_config *config, ntr_bytes stream, size_t piece, size_t reads) {
    enum { ROOM_MOST = 32 };
    ntr_event events[ROOM_MOST];
    const size_t room = ROOM_MOST - piece % ROOM_MOST;
    size_t at = 0, count;
    ntr_decoder *decoder;
    ntr_decoder_new(config, &decoder);
    ntr_status status = NTR_NEED_MORE;
    if (!decoder) return;
    ntr_instructions *instructions;
    ntr_instructions_new(config->program, NULL, &instructions);
    for (; reads && (status == NTR_NEED_MORE || status == NTR_OK); reads--) {
        if (status == NTR_NEED_MORE) {
            size_t size = piece && piece < stream.size - at ? piece : stream.size - at;
            ntr_decoder_feed(decoder, stream.data ? stream.data + at : NULL, size, at + size == stream.size);
            at += size;
        }
        status = ntr_decoder_read(decoder, events, room, &count);
        fuzz_must(count <= room, "no more events than the array holds");
        for (size_t i = 0; i < count; i++)
            fuzz_must(events[i].kind < NTR_EVENT_KINDS && events[i].offset <= stream.size, "events are of this stream");
        if (count && reads % 16 == 0) write_down(&events[reads / 16 % count]);
        for (size_t i = 0; instructions && i < count && reads % 4 == 0; i++)
            if (events[i].kind == NTR_EVENT_SPAN) expand(instructions, config, &events[i]);
    }
    ntr_instructions_free(instructions);
    fuzz_must(!reads || status == NTR_END || config->strict || status == NTR_E_MEMORY || status == NTR_E_LIMIT,
              "a decoder reads to the end");
    ntr_decoder_free(decoder);
}

const char *fuzz_file(ntr_bytes bytes, int *fd) {
    static char path[40];
    *fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (*fd < 0 || (bytes.size && write(*fd, bytes.data, bytes.size) != (ssize_t)bytes.size)) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", *fd);
    return path;
}
