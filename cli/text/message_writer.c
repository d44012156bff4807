#include "text/message_writer.h"

#include <ntrace/message_layout.h>

_Static_assert(NTR_MESSAGE_TEXT_MAX + 1 <= CLI_OUTPUT_RESERVE_MAX, "a message line fits the reserved space");

typedef int (*format_message)(const ntr_params *params, const ntr_message *message, char *out, size_t capacity);

static const format_message formats[] = {
    [CLI_MESSAGE_TEXT] = ntr_message_format,
    [CLI_MESSAGE_JSONL] = ntr_message_format_json,
    [CLI_MESSAGE_CSV] = ntr_message_format_csv,
};

static void write_line(struct cli_message_writer *w, const ntr_message *m) {
    char *line = cli_output_reserve(w->out, NTR_MESSAGE_TEXT_MAX + 1);
    int size = formats[w->form](w->params, m, line, NTR_MESSAGE_TEXT_MAX + 1);

    if (size < 0) return; /* does not occur: the capacity is the documented maximum */
    line[size] = '\n';
    cli_output_commit(w->out, (size_t)size + 1);
}

/* ---- --bytes: written as comment lines, which `ntrace assemble` skips */

static void write_byte(struct cli_message_writer *w, const ntr_message *m, size_t index) {
    ntr_message_byte byte;
    char mdo[7] = {0};

    if (ntr_message_byte_at(w->params, m, index, &byte) != NTR_OK) return;
    for (unsigned i = 0; i < 6; i++) mdo[i] = (char)('0' + (byte.mdo >> (5 - i) & 1));
    cli_output_print(w->out, "    # @0x%llx %02x MDO=%s MSEO=%u%u", (unsigned long long)(m->offset + index),
                     m->raw.data[index], mdo, byte.mseo >> 1, byte.mseo & 1);
    if (byte.tcode) cli_output_print(w->out, " TCODE=%u", m->tcode);
    if (byte.data) cli_output_text(w->out, " DATA");
    for (ntr_fields left = byte.ends; left; left &= left - 1) {
        ntr_field field = (ntr_field)__builtin_ctzll(left);
        bool hex = ntr_field_get(field)->base == NTR_BASE_HEX;
        cli_output_print(w->out, hex ? " %s=0x%llx" : " %s=%llu", ntr_field_name(field),
                         (unsigned long long)m->value[field]);
    }
    cli_output_text(w->out, "\n");
}

/* ---- */

void cli_message_writer_init(struct cli_message_writer *writer, struct cli_output *out, const ntr_params *params,
                             enum cli_message_form form, bool bytes) {
    *writer = (struct cli_message_writer){out, params, form, bytes};
    if (form == CLI_MESSAGE_CSV) write_line(writer, NULL);
}

void cli_message_write(struct cli_message_writer *writer, const ntr_message *message) {
    if (writer->form == CLI_MESSAGE_NONE) return;
    write_line(writer, message);
    if (!writer->bytes) return;
    for (size_t i = 0; i < message->raw.size; i++) write_byte(writer, message, i);
}
