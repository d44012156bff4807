#include "export/out.h"

#include <stdio.h>
#include <string.h>

ntr_status ntr_out_flush(ntr_out *out) {
    if (!out->status && out->used) out->status = out->output.write(out->output.user, out->buffer, out->used);
    out->used = 0;
    return out->status;
}

void ntr_out_bytes(ntr_out *out, const void *bytes, size_t size) {
    const char *from = bytes;
    while (size && !out->status) {
        size_t room = sizeof out->buffer - out->used, part = size < room ? size : room;
        memcpy(out->buffer + out->used, from, part);
        out->used += part;
        from += part;
        size -= part;
        if (out->used == sizeof out->buffer) ntr_out_flush(out);
    }
}

void ntr_out_text(ntr_out *out, const char *text) {
    ntr_out_bytes(out, text, strlen(text));
}

void ntr_out_line(ntr_out *out, const char *text) {
    while (*text) {
        size_t good = 0, hazard = 0;
        while (text[good] && !(hazard = ntr_text_hazard(text + good))) good += ntr_text_step(text + good);
        ntr_out_bytes(out, text, good);
        if (hazard) ntr_out_char(out, '?');
        text += good + hazard;
    }
}

void ntr_out_shown(ntr_out *out, const char *text) {
    for (size_t step; *text; text += step) {
        const size_t hazard = ntr_text_hazard(text);
        step = hazard ? hazard : ntr_text_step(text);
        if (hazard || !ntr_utf8_length(text, 4))
            ntr_out_char(out, '?');
        else
            ntr_out_bytes(out, text, step);
    }
}

void ntr_out_char(ntr_out *out, char c) {
    out->buffer[out->used++] = c;
    if (out->used == sizeof out->buffer) ntr_out_flush(out);
}

static void number(ntr_out *out, uint64_t value, unsigned base) {
    char digits[20], *at = digits + sizeof digits;
    do {
        *--at = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    ntr_out_bytes(out, at, (size_t)(digits + sizeof digits - at));
}

void ntr_out_hex(ntr_out *out, uint64_t value) {
    number(out, value, 16);
}

void ntr_out_dec(ntr_out *out, uint64_t value) {
    number(out, value, 10);
}

void ntr_out_format(ntr_out *out, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof text) {
        if (!out->status) out->status = NTR_E_SPACE;
        return;
    }
    ntr_out_bytes(out, text, (size_t)size);
}

/* Returns the length of a character that controls text (ntr_text_hazard, except for tabs and ends of lines), or 0. */
static size_t control_at(const char *text, size_t room) {
    char some[4] = {0};
    const unsigned char c = (unsigned char)*text;
    if ((c >= 0x20 && c < 0x7f) || c == '\t' || c == '\n' || c == '\r') return 0;
    memcpy(some, text, room < 3 ? room : 3);
    return ntr_text_hazard(some);
}

/* A byte that is not UTF-8 is written as if the text were ISO 8859-1. In a page, text has no controls. */
void ntr_out_json_bytes(ntr_out *out, const char *text, size_t size) {
    const char *const end = text + size;
    ntr_out_char(out, '"');
    while (text < end) {
        const unsigned char c = (unsigned char)*text;
        const size_t length = ntr_utf8_length(text, (size_t)(end - text));
        const size_t control = out->in_script ? control_at(text, (size_t)(end - text)) : 0;
        if (control)
            ntr_out_char(out, '?');
        else if (c == '"' || c == '\\')
            ntr_out_format(out, "\\%c", c);
        else if (c < 0x20 || (c == '<' && out->in_script) || !length)
            ntr_out_format(out, "\\u%04x", c);
        else
            ntr_out_bytes(out, text, length);
        text += control ? control : length ? length : 1;
    }
    ntr_out_char(out, '"');
}

void ntr_out_json(ntr_out *out, const char *text) {
    if (text)
        ntr_out_json_bytes(out, text, strlen(text));
    else
        ntr_out_text(out, "null");
}

const char *ntr_out_shorten(const char *text, char copy[NTR_OUT_SHORT + 4]) {
    size_t size = strlen(text);
    if (size <= NTR_OUT_SHORT) return text;
    size = NTR_OUT_SHORT;
    while (size && ((unsigned char)text[size] & 0xc0) == 0x80) size--; /* not inside a UTF-8 character */
    snprintf(copy, NTR_OUT_SHORT + 4, "%.*s\xe2\x80\xa6", (int)size, text);
    return copy;
}

void ntr_out_xml(ntr_out *out, const char *text) {
    while (*text) {
        const size_t length = ntr_utf8_length(text, 4), control = control_at(text, strnlen(text, 3));
        if (control) {
            ntr_out_char(out, '?');
            text += control;
            continue;
        }
        switch (*text) {
        case '&': ntr_out_text(out, "&amp;"); break;
        case '<': ntr_out_text(out, "&lt;"); break;
        case '>': ntr_out_text(out, "&gt;"); break;
        case '"': ntr_out_text(out, "&quot;"); break;
        default:
            if (!length)
                ntr_out_format(out, "&#%u;", (unsigned char)*text);
            else if (*text == '\t' || *text == '\n' || *text == '\r') /* readers would make blanks of them */
                ntr_out_format(out, "&#%u;", (unsigned char)*text);
            else
                ntr_out_bytes(out, text, length);
        }
        text += length ? length : 1;
    }
}
