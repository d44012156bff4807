#include "commands/capture/run.h"
#include "io/input.h"
#include "io/output.h"
#include "options/diagnostics.h"

static void put_text(void *user, const char *text) {
    cli_output_text(user, text);
}

int capture_write_script(struct capture_run *run) {
    struct cli_output out;
    ntr_script_options script;

    ntr_script_options_init(&script);
    script.kind = run->options->script;
    script.run_ms = run->run_ms;
    script.resume = run->options->resume;
    script.sink = run->sink;
    script.write = put_text;
    script.user = &out;
    if (!run->run_ms && !run->options->until_halt) return cli_fail("--script needs --for TIME or --until-halt");
    if (cli_output_open(&out, run->options->bundle) != CLI_OK) return CLI_FAILED;
    const ntr_status status = ntr_target_script(run->target.target, &script);
    const char *why = ntr_target_error(run->target.target);
    return cli_output_close(&out,
                            status == NTR_OK ? CLI_OK : cli_fail("--script: %s", *why ? why : ntr_status_text(status)));
}

int capture_read_words(struct capture_run *run) {
    size_t size;
    unsigned line = 0;

    run->words = cli_input_limited(run->options->words, CLI_LIMIT_SCRIPT_WORDS, &size);
    if (!run->words) return CLI_FAILED;
    const ntr_status status =
        ntr_bus_words(&run->target.bus, (ntr_bytes){(const uint8_t *)run->words, size}, NULL, &line);
    if (status == NTR_OK) return CLI_OK;
    return line ? cli_fail("%s: line %u: expected '# r ADDRESS VALUE' or a word of 8 digits", run->options->words, line)
                : cli_fail("%s: %s", run->options->words, ntr_status_text(status));
}
