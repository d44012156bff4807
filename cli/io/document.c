#include "io/document.h"

#include "options/diagnostics.h"

enum { DOCUMENT_VERSION = 1 };

int cli_document_open(struct cli_output *out, const struct cli_result *result, const char *name) {
    if (cli_output_open(out, result->path) != CLI_OK) return CLI_FAILED;
    if (result->format != CLI_FORMAT_JSON) return CLI_OK;
    cli_output_print(out, "{\"format\":\"ntrace-%s\",\"version\":%d,\"rows\":[\n", name, DOCUMENT_VERSION);
    cli_output_flush(out);
    out->listing = true;
    return CLI_OK;
}

void cli_document_end(struct cli_output *out, const char *quality) {
    if (!out->listing) return;
    cli_output_flush(out);
    out->listing = false;
    cli_output_text(out, "]");
    if (quality) cli_output_text(out, ",\n\"quality\":");
    if (quality) cli_output_text(out, quality);
    cli_output_text(out, "}\n");
}
