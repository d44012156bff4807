/* VCD reader (IEEE 1364 section 18), for files of simulators and logic analysers. Tokens are separated by white
 * space. */
#include "transport/sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum vcd_state {
    IN_HEADER,   /* before $enddefinitions */
    IN_VAR,   /* $var to $end */
    SKIP,     /* any other section of the header, or a comment, to $end */
    BODY_END, /* $enddefinitions to $end */
    BODY,
    SKIP_BODY, /* a comment among the value changes */
    SKIP_LINE, /* "META samplerate: N", which sigrok-cli writes before the file */
};

void vcd_start(ntr_pin_reader *reader) {
    reader->vcd.line = 1;
    reader->levels = 0;
}

/* ---- declarations */

/* Returns the index of "TRC_DATA[3]" or "TRC_DATA3" (here 3), or -1 for any other name. */
static int data_index(const char *name) {
    static const char stem[] = "TRC_DATA";
    if (strncmp(name, stem, sizeof stem - 1) != 0) return -1;
    const char *at = name + sizeof stem - 1;
    const bool bracket = *at == '[';
    char *end;
    const char *digits = at + bracket;
    const unsigned long index = strtoul(digits, &end, 10);
    if (end == digits || index >= NTR_PINS_MAX) return -1;
    return strcmp(end, bracket ? "]" : "") == 0 ? (int)index : -1;
}

/* Returns whether `name` is a vector of all data pins: "TRC_DATA" or "TRC_DATA[3:0]". */
static bool is_port(const char *name) {
    static const char stem[] = "TRC_DATA";
    if (strncmp(name, stem, sizeof stem - 1) != 0) return false;
    const char *at = name + sizeof stem - 1;
    return *at == 0 || (*at == '[' && strchr(at, ':'));
}

/* Returns the bit of `levels` that the wire drives, or -1 when the wire is not used. */
static int target_of(const ntr_pin_reader *reader, const char *name, uint64_t width) {
    const ntr_pin_options *options = &reader->options;
    const unsigned pins = reader->transport->beat_bits;
    if (reader->transport->lines == NTR_LINES_CLOCKED && width == 1 &&
        strcmp(name, options->clock ? options->clock : "TRC_CLK") == 0)
        return CLOCK_BIT;
    for (unsigned bit = 0; bit < pins; bit++)
        if (options->data[bit] && strcmp(name, options->data[bit]) == 0) return (int)bit;
    if (options->data[0]) return -1;
    if (is_port(name) && width >= pins) return 0;
    const int index = data_index(name);
    return width == 1 && index < (int)pins ? index : -1;
}

static void add_wire(ntr_pin_reader *reader, int target, uint64_t width, const char *id) {
    vcd_parser *parser = &reader->vcd;
    const unsigned pins = reader->transport->beat_bits;
    if (parser->wire_count == WIRES_MAX) return; /* a wire may be declared again in another scope */
    wire *added = &parser->wires[parser->wire_count++];
    memcpy(added->id, id, ID_MAX);
    added->target = (uint8_t)target;
    added->width = (uint8_t)(target == CLOCK_BIT               ? 1
                             : width < pins - (unsigned)target ? width
                                                               : pins - (unsigned)target);
}

static ntr_status end_var(ntr_pin_reader *reader) {
    vcd_parser *parser = &reader->vcd;
    if (parser->var_tokens < 4)
        return pin_reader_fail(reader, NTR_E_FORMAT, "line %llu: $var without name", (unsigned long long)parser->line);
    parser->declared++;
    memcpy(parser->only_id, parser->var_id, ID_MAX);
    const int target = target_of(reader, parser->var_name, parser->var_width);
    if (target >= 0) add_wire(reader, target, parser->var_width, parser->var_id);
    return NTR_OK;
}

/* White space may separate the name from the range. A name that does not fit in the buffer is never one of ours. */
static void append_name(vcd_parser *parser, const char *token) {
    const size_t have = strlen(parser->var_name), more = strlen(token);
    if (have + more < sizeof parser->var_name) memcpy(parser->var_name + have, token, more + 1);
}

/* $var TYPE WIDTH ID NAME [RANGE] $end */
static ntr_status var_token(ntr_pin_reader *reader, const char *token) {
    vcd_parser *parser = &reader->vcd;
    switch (parser->var_tokens++) {
    case 0: return NTR_OK;
    case 1: parser->var_width = strtoull(token, NULL, 10); return NTR_OK;
    case 2:
        if (strlen(token) >= ID_MAX)
            return pin_reader_fail(reader, NTR_E_FORMAT, "line %llu: identifier longer than %d characters",
                                   (unsigned long long)parser->line, ID_MAX - 1);
        memset(parser->var_id, 0, ID_MAX);
        memcpy(parser->var_id, token, strlen(token));
        parser->var_name[0] = 0;
        return NTR_OK;
    default:
        parser->var_tokens = 4;
        append_name(parser, token);
        return NTR_OK;
    }
}

/* Checks that the recording has all pins of the transport. */
static ntr_status check_wires(ntr_pin_reader *reader) {
    vcd_parser *parser = &reader->vcd;
    const unsigned pins = reader->transport->beat_bits;
    const bool serial = reader->transport->lines == NTR_LINES_SERIAL;
    uint32_t found = 0;
    if (serial && parser->declared == 1 && !parser->wire_count) add_wire(reader, 0, 1, parser->only_id);
    for (size_t i = 0; i < parser->wire_count; i++)
        found |= ((1u << parser->wires[i].width) - 1) << parser->wires[i].target;
    for (unsigned bit = 0; bit < pins; bit++) {
        if (found >> bit & 1) continue;
        if (reader->options.data[bit])
            return pin_reader_fail(reader, NTR_E_NAME, "no wire %.100s in the recording", reader->options.data[bit]);
        return pin_reader_fail(reader, NTR_E_NAME, "no wire TRC_DATA[%u] in the recording", bit);
    }
    if (!serial && !(found >> CLOCK_BIT & 1))
        return pin_reader_fail(reader, NTR_E_NAME, "no wire %.100s in the recording",
                               reader->options.clock ? reader->options.clock : "TRC_CLK");
    return NTR_OK;
}

static ntr_status header_token(ntr_pin_reader *reader, const char *token) {
    vcd_parser *parser = &reader->vcd;
    if (strcmp(token, "$var") == 0) {
        parser->state = IN_VAR;
        parser->var_tokens = 0;
    } else if (strcmp(token, "$enddefinitions") == 0) {
        parser->state = BODY_END;
    } else if (token[0] == '$' && token[1] >= 'a' && token[1] <= 'z') {
        parser->state = SKIP;
    } else if (strcmp(token, "META") == 0) {
        parser->state = SKIP_LINE;
    } else {
        return pin_reader_fail(reader, NTR_E_FORMAT, "line %llu: not a VCD file", (unsigned long long)parser->line);
    }
    return NTR_OK;
}

/* ---- values */

static void set_levels(ntr_pin_reader *reader, const char *id, uint32_t value) {
    const vcd_parser *parser = &reader->vcd;
    for (size_t i = 0; i < parser->wire_count; i++) {
        const wire *one = &parser->wires[i];
        if (strcmp(one->id, id) != 0) continue;
        const uint32_t mask = ((1u << one->width) - 1) << one->target;
        reader->levels = (reader->levels & ~mask) | (value << one->target & mask);
    }
}

static ntr_status take_time(ntr_pin_reader *reader, const char *digits) {
    vcd_parser *parser = &reader->vcd;
    char *end;
    const uint64_t time = strtoull(digits, &end, 10);
    if (end == digits || *end || (parser->timed && time < parser->time))
        return pin_reader_fail(reader, NTR_E_FORMAT, "line %llu: time #%.40s does not follow %llu",
                               (unsigned long long)parser->line, digits, (unsigned long long)parser->time);
    if (parser->timed && time > parser->time) TRY(pin_reader_levels(reader, parser->time));
    parser->time = time;
    parser->timed = true;
    return NTR_OK;
}

/* Returns the 32 least significant bits of a vector value such as "b10x1"; x and z count as 0. */
static uint32_t vector_value(const char *digits) {
    uint32_t value = 0;
    for (; *digits; digits++) value = value << 1 | (*digits == '1');
    return value;
}

static ntr_status body_token(ntr_pin_reader *reader, const char *token) {
    vcd_parser *parser = &reader->vcd;
    if (parser->value_waits) {
        parser->value_waits = false;
        set_levels(reader, token, parser->vector);
        return NTR_OK;
    }
    switch (token[0]) {
    case '#': return take_time(reader, token + 1);
    case '1': set_levels(reader, token + 1, 1); return NTR_OK;
    case '0':
    case 'x':
    case 'X':
    case 'z':
    case 'Z': set_levels(reader, token + 1, 0); return NTR_OK;
    case 'b':
    case 'B':
        parser->vector = vector_value(token + 1);
        parser->value_waits = true;
        return NTR_OK;
    case 'r':
    case 'R':
    case 's':
    case 'S': /* a real or a string: never a trace pin */
        parser->vector = 0;
        parser->value_waits = true;
        return NTR_OK;
    case '$':
        if (strcmp(token, "$comment") == 0) parser->state = SKIP_BODY;
        return NTR_OK;
    default:
        return pin_reader_fail(reader, NTR_E_FORMAT, "line %llu: \"%.40s\" is not a value change",
                               (unsigned long long)parser->line, token);
    }
}

/* ---- tokens */

static ntr_status take_token(ntr_pin_reader *reader, const char *token) {
    vcd_parser *parser = &reader->vcd;
    const bool end = strcmp(token, "$end") == 0;
    switch (parser->state) {
    case IN_HEADER: return header_token(reader, token);
    case BODY: return body_token(reader, token);
    case IN_VAR:
        if (!end) return var_token(reader, token);
        parser->state = IN_HEADER;
        return end_var(reader);
    case BODY_END:
        if (!end) return NTR_OK;
        parser->state = BODY;
        return check_wires(reader);
    case SKIP_LINE: return NTR_OK;
    default:
        if (end) parser->state = parser->state == SKIP ? IN_HEADER : BODY;
        return NTR_OK;
    }
}

static ntr_status end_token(ntr_pin_reader *reader) {
    vcd_parser *parser = &reader->vcd;
    if (!parser->token_size) return NTR_OK;
    parser->token[parser->token_size] = 0;
    parser->token_size = 0;
    return take_token(reader, parser->token);
}

ntr_status vcd_byte(ntr_pin_reader *reader, char byte) {
    vcd_parser *parser = &reader->vcd;
    if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n') {
        TRY(end_token(reader));
        parser->line += byte == '\n';
        if (byte == '\n' && parser->state == SKIP_LINE) parser->state = IN_HEADER;
        return NTR_OK;
    }
    if (parser->token_size + 1 < TOKEN_MAX) {
        parser->token[parser->token_size++] = byte;
    } else if (parser->state != SKIP && parser->state != SKIP_BODY) {
        return pin_reader_fail(reader, NTR_E_FORMAT, "line %llu: longer than %d characters",
                               (unsigned long long)parser->line, TOKEN_MAX - 1);
    }
    return NTR_OK;
}

ntr_status vcd_end(ntr_pin_reader *reader) {
    vcd_parser *parser = &reader->vcd;
    TRY(end_token(reader));
    if (parser->state != BODY && parser->state != SKIP_BODY)
        return pin_reader_fail(reader, NTR_E_FORMAT, "line %llu: the file ends before $enddefinitions",
                               (unsigned long long)parser->line);
    if (parser->timed) TRY(pin_reader_levels(reader, parser->time));
    return sampler_end(&reader->pins, parser->time);
}
