/* Prints docs/parameters.md: the stream parameters, from include/ntrace/params.def. */
#include <ntrace/params.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const intro =
    "# Stream parameters\n"
    "\n"
    "Made by `make docs` from `include/ntrace/params.def`. Do not edit this page.\n"
    "\n"
    "A decoder must know how the encoder was configured. A capture bundle says it; for a raw stream, options say it, or\n"
    "`--auto` infers it from the stream and the program (`-v` prints the reasons). An option that is given beside a bundle overrides the bundle.\n"
    "\n"
    "```sh\n"
    "ntrace decode --src-bits 2 --implicit-return full -e firmware.elf capture.nex\n"
    "ntrace decode --auto -v -e firmware.elf capture.nex\n"
    "```\n"
    "\n"
    "* option: of every command that reads a stream. In C: `ntr_params_set(&params, \"src-bits\", \"2\")`.\n"
    "* key: in `params` of [capture.json](bundle.md); the member of `ntr_params` has the same name. A flag is `true` or\n"
    "  `false` there, a word is a string. A key that is left out means 0, off or the first word.\n"
    "* dialect: the [dialect](dialects.md) gives the default. The default of the others is 0, off or the first word.\n"
    "* `--auto`: whether `--auto` (`ntr_infer`) can find the value.\n"
    "* encoder: an option of `ntrace encode` and `ntrace run` (`ntr_encoder_option_set`) has the same name and meaning.\n"
    "\n"
    "| option | key | value | dialect | `--auto` | encoder | meaning |\n"
    "|---|---|---|---|---|---|---|\n";

/* "off|count" as words in code spans. */
static void words_cell(const char *words) {
    for (const char *at = words; *at; at++) fputs(*at == '|' ? "`, `" : (char[]){*at, 0}, stdout);
}

static void value_cell(const char *kind, uint64_t least, uint64_t most, const char *words) {
    if (strcmp(kind, "NUMBER") == 0)
        printf("%" PRIu64 " to %" PRIu64, least, most);
    else if (strcmp(kind, "DIALECT") == 0)
        fputs("name of a dialect", stdout);
    else {
        fputc('`', stdout);
        words_cell(strcmp(kind, "FLAG") == 0 ? "off|on" : words);
        fputc('`', stdout);
    }
}

static const char *mark(const char *word, const char *yes) {
    return strcmp(word, yes) == 0 ? "yes" : "";
}

static void option_cell(const char *name, bool has_no) {
    printf("`--%s`", name);
    if (has_no) printf(", `--no-%s`", name);
}

static void help_cell(const char *name, const char *help, const char *no_help) {
    fputs(help, stdout);
    if (no_help) printf("; `--no-%s`: %s", name, no_help);
}

int main(void) {
    fputs(intro, stdout);
#define NTR_PARAM(id, type, member, name, kind, least, most, words, initial, scope, found, encoder, help, no_help)     \
    fputs("| ", stdout);                                                                                               \
    option_cell(name, strcmp(#kind, "SWITCH") == 0);                                                                   \
    printf(" | `%s` | ", #member);                                                                                     \
    value_cell(#kind, least, most, words);                                                                             \
    printf(" | %s | %s | %s | ", mark(#initial, "FROM_DIALECT"), mark(#found, "INFERRED"), mark(#encoder, "ENCODER")); \
    help_cell(name, help, no_help);                                                                                    \
    fputs(" |\n", stdout);
#include <ntrace/params.def>
#undef NTR_PARAM
    return 0;
}
