/* Writes messages as text, JSON lines or CSV (docs/output.md, "dump"). */
#ifndef CLI_TEXT_MESSAGE_WRITER_H
#define CLI_TEXT_MESSAGE_WRITER_H

#include "io/output.h"

#include <ntrace/message.h>

enum cli_message_form { CLI_MESSAGE_TEXT, CLI_MESSAGE_JSONL, CLI_MESSAGE_CSV, CLI_MESSAGE_NONE };

struct cli_message_writer {
    struct cli_output *out;
    const ntr_params *params;
    enum cli_message_form form;
    bool bytes; /* text: also write each byte (--bytes) */
};

/* Initializes the writer. Writes the column names if the form is CSV. `out` and `params` must outlive it. */
void cli_message_writer_init(struct cli_message_writer *writer, struct cli_output *out, const ntr_params *params,
                             enum cli_message_form form, bool bytes);
void cli_message_write(struct cli_message_writer *writer, const ntr_message *message);

#endif
