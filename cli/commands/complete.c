/* `ntrace help --as complete -- WORD...`: what the last word of a command line can be, for the completion of shells.
 * One candidate is on each line, with a tab and its help behind it. Status 1: a file. */
#include "commands/complete.h"
#include "io/input.h"
#include "options/aliases.h"
#include "options/diagnostics.h"
#include "options/help.h"
#include "options/limits.h"
#include "options/options.h"

#include <ntrace/bundle.h>
#include <ntrace/bytes.h>
#include <ntrace/dialect.h>
#include <ntrace/export.h>
#include <ntrace/program.h>
#include <ntrace/reader.h>
#include <ntrace/transport.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <gelf.h>
#include <stddef.h>
#include <unistd.h>

/* ---- names of functions, without loading the file as a program */

/* Takes a name; it is valid during the call. */
typedef void (*take_name)(void *user, const char *name);

/* Passes on the functions of a table of symbols. */
static size_t functions_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, take_name take, void *user) {
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = 0;
    GElf_Sym symbol;

    if (!data || !header->sh_entsize) return 0;
    for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
        const char *name = GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF
                               ? elf_strptr(elf, header->sh_link, symbol.st_name)
                               : NULL;
        if (!name || !*name) continue;
        take(user, name);
        count++;
    }
    return count;
}

static size_t tables_of(Elf *elf, GElf_Word type, take_name take, void *user) {
    Elf_Scn *section = NULL;
    size_t count = 0;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == type)
            count += functions_in(elf, section, &header, take, user);
    return count;
}

/* Passes on the names of the functions in the symbols of an ELF file, or else in its dynamic symbols. */
static void elf_functions(const char *path, take_name take, void *user) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) return;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF && !tables_of(elf, SHT_SYMTAB, take, user))
        tables_of(elf, SHT_DYNSYM, take, user); /* the file is stripped */
    elf_end(elf);
    close(fd);
}

/* ---- candidates */

enum { SEARCHED_BYTES = 1 << 20, FILE_NAME_BYTES = 4096 };

struct completion {
    const struct cli_entry *entry;
    char **words;
    int count;           /* without the last word */
    const char *current; /* the last word, or its value: --name=CURRENT */
    unsigned found;
};

/* Names in a trace or a program that a terminal cannot show are none. */
static void candidate(struct completion *c, const char *text, size_t length, const char *help) {
    char shown[1024];

    for (size_t at = 0; at < length; at += ntr_text_step(text + at))
        if (cli_text_hazard(text + at)) return;
    if (strlen(c->current) > length || strncmp(text, c->current, strlen(c->current)) != 0) return;
    snprintf(shown, sizeof shown, "%.*s", help ? (int)strcspn(help, "\n") : 0, help ? help : "");
    cli_text_disarm(shown, "");
    printf("%.*s\t%s\n", (int)length, text, shown);
    c->found++;
}

static void whole(struct completion *c, const char *text, const char *help) {
    candidate(c, text, strlen(text), help);
}

/* ---- options and their values */

static void option_names(struct completion *c) {
    char name[80];

    for (const struct cli_group *g = cli_group_first(c->entry->command->groups); g; g = cli_group_next(g))
        for (const struct cli_option *o = cli_group_rows(g); o->kind != CLI_END; o++) {
            snprintf(name, sizeof name, "--%s", o->name);
            whole(c, name, o->help);
        }
    whole(c, "--help", "explain the command");
}

/* Returns the option that the word names, --name or -n, or NULL. */
static const struct cli_option *option_of(const struct completion *c, const char *word, size_t length) {
    for (const struct cli_group *g = cli_group_first(c->entry->command->groups); g; g = cli_group_next(g))
        for (const struct cli_option *o = cli_group_rows(g); o->kind != CLI_END; o++) {
            const bool is_long = length > 2 && word[1] == '-' && strlen(o->name) == length - 2 &&
                                 memcmp(o->name, word + 2, length - 2) == 0;
            if (word[0] == '-' && (is_long || (length == 2 && o->letter && word[1] == o->letter))) return o;
        }
    return NULL;
}

static bool takes_value(const struct cli_option *o) {
    return o && o->kind != CLI_KIND_SET && o->argument == CLI_ARGUMENT_VALUE;
}

/* Returns whether the placeholder is a list of words: "openocd|gdb", and not "DIR|FILE". */
static bool is_words(const char *text) {
    return strchr(text, '|') && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-|") == strlen(text);
}

static void words_of(struct completion *c, const char *words) {
    for (const char *at = words; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        candidate(c, at, strcspn(at, "|"), NULL);
}

static void limits(struct completion *c) {
    char name[80];

    for (int i = 0; i < CLI_LIMIT_COUNT; i++) {
        snprintf(name, sizeof name, "%s=", cli_limit_name((enum cli_limit)i));
        whole(c, name, "limit");
    }
}

static void transports(struct completion *c) {
    const ntr_transport *t;

    for (size_t i = 0; (t = ntr_transport_at(i)); i++) whole(c, t->name, t->summary);
}

static void exporters(struct completion *c) {
    const ntr_exporter *e;

    for (size_t i = 0; (e = ntr_exporter_at(i)); i++)
        if (strcmp(ntr_exporter_family(e), c->entry->name) == 0)
            whole(c, ntr_exporter_name(e), ntr_exporter_summary(e));
}

static void dialects(struct completion *c) {
    const ntr_dialect *d;

    for (size_t i = 0; (d = ntr_dialect_at(i)); i++) whole(c, d->name, d->summary);
}

/* ---- sources and functions of the trace that the line names */

/* Returns the value of the option among the words before the last, or NULL. `at` is where the search begins. */
static const char *value_of(const struct completion *c, const char *name, int *at) {
    for (; *at < c->count; ++*at) {
        const char *word = c->words[*at];
        const size_t length = word[1] == '-' ? strcspn(word, "=") : 2;
        const struct cli_option *o = option_of(c, word, length < strlen(word) ? length : strlen(word));
        if (!o || strcmp(o->name, name) != 0) continue;
        if (word[1] == '-' && word[length] == '=') return ++*at, word + length + 1;
        if (*at + 1 < c->count) return *at += 2, c->words[*at - 1];
    }
    return NULL;
}

/* Returns the first operand before the last word, or NULL. */
static const char *operand(const struct completion *c) {
    for (int i = 1; i < c->count; i++) {
        const char *word = c->words[i];
        if (strcmp(word, "--") == 0) continue;
        if (word[0] != '-') return word;
        if (!strchr(word, '=') && takes_value(option_of(c, word, strlen(word)))) i++;
    }
    return NULL;
}

/* Returns the opened bundle, or NULL. */
static ntr_bundle *bundle_of(const struct completion *c) {
    const char *path = operand(c);
    struct stat about;
    ntr_bundle *bundle = NULL;

    if (path && stat(path, &about) == 0 && S_ISDIR(about.st_mode)) ntr_bundle_new(NULL, &bundle);
    if (bundle && ntr_bundle_open(bundle, path) == NTR_OK) return bundle;
    ntr_bundle_free(bundle);
    return NULL;
}

static void source(struct completion *c, unsigned number, const char *name) {
    char text[8];

    snprintf(text, sizeof text, "%u", number);
    whole(c, text, name);
}

/* The sources of the messages at the beginning of a raw stream. */
static void sources_of_stream(struct completion *c, const char *path) {
    static bool seen[NTR_SOURCES_MAX];
    uint64_t bits = 0;
    int at = 1;
    const char *given = value_of(c, "src-bits", &at);
    const int fd = given && cli_parse_number(given, &bits) && bits <= 12 ? cli_open_regular(path, UINT64_MAX) : -1;
    FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
    uint8_t *bytes = file ? malloc(SEARCHED_BYTES) : NULL;
    ntr_reader reader;
    ntr_params params;
    ntr_message m;

    ntr_params_init(&params, NULL);
    params.src_bits = (uint8_t)bits;
    if (bytes && ntr_reader_init(&reader, &params) == NTR_OK) {
        ntr_reader_feed(&reader, bytes, fread(bytes, 1, SEARCHED_BYTES, file), false);
        while (ntr_reader_next(&reader, &m) == NTR_OK)
            if (!m.defect && NTR_HAS(&m, SRC) && m.src < NTR_SOURCES_MAX) seen[m.src] = true;
        for (unsigned i = 0; i < NTR_SOURCES_MAX; i++)
            if (seen[i]) source(c, i, NULL);
    }
    free(bytes);
    if (file) fclose(file);
}

static void sources(struct completion *c) {
    ntr_bundle *bundle = bundle_of(c);
    const char *path = operand(c);

    if (!bundle && path) sources_of_stream(c, path);
    if (!bundle) return;
    const ntr_capture_info *capture = ntr_bundle_capture(bundle);
    for (size_t i = 0; i < capture->source_count; i++) source(c, capture->sources[i].src, capture->sources[i].name);
    ntr_bundle_free(bundle);
}

static void take_function(void *user, const char *name) {
    whole(user, name, NULL);
}

static void functions_of(struct completion *c, const char *path) {
    elf_functions(path, take_function, c);
}

static void functions(struct completion *c) {
    const char *program = strcmp(c->entry->name, "run") == 0 ? operand(c) : NULL, *elf;
    ntr_bundle *bundle = bundle_of(c);
    char path[FILE_NAME_BYTES];

    if (program) functions_of(c, program);
    for (int at = 1; (elf = value_of(c, "elf", &at));) {
        snprintf(path, sizeof path, "%.*s", (int)strcspn(elf, ":@"), elf);
        functions_of(c, path);
    }
    if (!bundle) return;
    const ntr_capture_info *capture = ntr_bundle_capture(bundle);
    for (size_t i = 0; i < capture->image_count; i++) {
        if (capture->images[i].kind != NTR_BUNDLE_ELF) continue;
        snprintf(path, sizeof path, "%s/%s", operand(c), capture->images[i].file);
        functions_of(c, path);
    }
    ntr_bundle_free(bundle);
}

/* ---- */

static void values(struct completion *c, const struct cli_option *o) {
    const bool converts = strcmp(c->entry->name, "convert") == 0;

    if (o->kind == CLI_KIND_CHOICE || is_words(o->value)) words_of(c, o->value);
    if (strcmp(o->name, "dialect") == 0) dialects(c);
    if (strcmp(o->name, "src") == 0) sources(c);
    if (strcmp(o->name, "limit") == 0) limits(c);
    if (strcmp(o->name, "to") == 0) (converts ? transports : exporters)(c);
    if (converts && strcmp(o->name, "input-format") == 0)
        transports(c), whole(c, "tmc", "memory of an ETR, ETF or ETB");
    if (strcmp(o->value, "FUNCTION") == 0 || strcmp(o->value, "PLACE") == 0) functions(c);
}

static void commands(struct completion *c) {
    for (const struct cli_entry *e = cli_commands; e->name; e++) whole(c, e->name, e->summary);
}

static void topics(struct completion *c) {
    const char *name;

    for (size_t i = 0; (name = cli_help_topic_name(i)); i++) whole(c, name, "options of many commands");
    whole(c, "dialects", "names for --dialect");
}

int cli_complete(char **words) {
    struct completion c = {.words = words, .current = ""};

    while (words[c.count]) c.count++;
    if (c.count) c.current = words[--c.count];
    if (c.count == 0) {
        commands(&c);
        whole(&c, "--help", "list the commands");
        whole(&c, "--version", "print the version");
        return CLI_OK;
    }
    const struct cli_command_alias *alias = cli_command_alias_find(words[0]);
    c.entry = cli_find_command(alias ? alias->command : words[0]);
    if (!c.entry) return CLI_DEFECTS;
    const size_t name = strcspn(c.current, "=");
    const struct cli_option *before =
        c.count > 1 ? option_of(&c, words[c.count - 1], strlen(words[c.count - 1])) : NULL;
    const struct cli_option *here = c.current[name] ? option_of(&c, c.current, name) : NULL;
    if (here) {
        c.current += name + 1;
        if (here->value) values(&c, here);
    } else if (takes_value(before)) {
        values(&c, before);
    } else if (c.current[0] == '-') {
        option_names(&c);
    } else if (strcmp(c.entry->name, "help") == 0) {
        commands(&c);
        topics(&c);
    }
    return c.found ? CLI_OK : CLI_DEFECTS;
}
