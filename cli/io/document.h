/* --format json: the rows that --format jsonl prints, as one JSON document with its format, version and quality. */
#ifndef CLI_IO_DOCUMENT_H
#define CLI_IO_DOCUMENT_H

#include "io/output.h"
#include "options/options.h"

/* Opens the output. With CLI_FORMAT_JSON, begins the document "ntrace-NAME": each line written afterwards must be a
 * JSON value, and is an element of "rows". Returns as cli_output_open. */
int cli_document_open(struct cli_output *out, const struct cli_result *result, const char *name);

/* Ends the rows of a document; does nothing with another format. `quality` is the JSON text of the member "quality", or
 * NULL. */
void cli_document_end(struct cli_output *out, const char *quality);

#endif
