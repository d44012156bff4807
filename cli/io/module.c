#include "io/module.h"
#include "io/module_file.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool cli_module_is(const char *path) {
    Elf32_Ehdr header; /* both classes begin equally */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (file < 0) return false;
    const ssize_t size = read(file, &header, sizeof header);
    close(file);
    return size == (ssize_t)sizeof header && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_type == ET_REL && header.e_machine == MODULE_MACHINE;
}

char *cli_module_name(const char *path) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    char *name = strndup(base, dot && dot > base ? (size_t)(dot - base) : strlen(base));

    for (char *at = name; at && *at; at++)
        if (*at == '-') *at = '_';
    return name;
}

/* ---- places ------------------------------------------------------------------------------------ */

/* Addresses at which no code is: RV64 has none between the two halves of its addresses. */
static uint64_t nowhere(const struct module_file *m) {
    return m->wide ? UINT64_C(1) << 62 : 0x1000;
}

static uint64_t align_up(uint64_t at, const struct module_section *s) {
    const uint64_t align =
        s->header.sh_addralign && !(s->header.sh_addralign & (s->header.sh_addralign - 1)) ? s->header.sh_addralign : 1;
    return (at + align - 1) & ~(align - 1);
}

/* Places sections one after the other, as the file has them: those without an address (`all` false), or all. */
static void place_in_order(struct module_file *m, uint64_t at, bool all) {
    for (size_t i = 0; i < m->count; i++) {
        struct module_section *s = &m->sections[i];
        if (!module_is_loaded(s) || (s->placed && !all)) continue;
        s->address = at = align_up(at, s);
        s->placed = all;
        at += s->header.sh_size;
    }
}

/* The address of a section by one of its symbols. */
static bool vote_of(const struct module_symbol *symbol, const char *module, const ntr_program *program,
                    uint64_t *address) {
    char name[1200];
    ntr_symbol found;

    if ((symbol->type != STT_FUNC && symbol->type != STT_OBJECT) || !*symbol->name) return false;
    int size = snprintf(name, sizeof name, "%s [%s]", symbol->name, module);
    if (size < 0 || (size_t)size >= sizeof name || ntr_program_find(program, name, &found) != NTR_OK) return false;
    *address = found.address - symbol->value;
    return true;
}

/* Votes of one section: the address that has a majority, if one has. */
struct votes {
    uint64_t address;
    size_t lead, votes, count;
};

/* Visits all votes: `counting` false finds the only address that may have a majority, true counts its votes. */
static void visit_votes(const struct module_file *m, const char *module, const ntr_program *program,
                        struct votes *votes, bool counting) {
    for (size_t table = 0; table < m->count; table++)
        for (size_t i = 0; i < module_symbol_count(m, table); i++) {
            const struct module_symbol symbol = module_symbol_at(m, table, i);
            uint64_t address;
            if (symbol.section >= m->count || !module_is_loaded(&m->sections[symbol.section])) continue;
            if (!vote_of(&symbol, module, program, &address)) continue;
            struct votes *v = &votes[symbol.section];
            if (counting) {
                v->count++;
                v->votes += v->address == address;
            } else if (v->lead == 0) {
                *v = (struct votes){.address = address, .lead = 1};
            } else {
                v->lead += v->address == address ? 1 : (size_t)-1;
            }
        }
}

static int take_votes(struct module_file *m, const char *module, const struct votes *votes) {
    size_t placed = 0;

    for (size_t i = 0; i < m->count; i++) {
        if (!votes[i].count) continue;
        if (2 * votes[i].votes <= votes[i].count)
            return cli_fail(
                "%s: section %s: its symbols are not where the module %s has them; is this the file of the module?",
                m->path, module_section_name(m, i), module);
        m->sections[i].address = votes[i].address;
        m->sections[i].placed = true;
        placed++;
    }
    if (placed) return CLI_OK;
    return cli_fail("%s: not linked, and no symbol of a module %s is known: give --symbols kernel=FILE with a copy of "
                    "/proc/kallsyms, or the address at which all its sections are: %s@ADDR",
                    m->path, module, m->path);
}

static int place_by_names(struct module_file *m, const char *module, const ntr_program *program) {
    struct votes *votes = calloc(m->count, sizeof *votes);

    if (!votes) return cli_fail("out of memory");
    visit_votes(m, module, program, votes, false);
    visit_votes(m, module, program, votes, true);
    int status = take_votes(m, module, votes);
    free(votes);
    for (size_t i = 0; i < m->count && status == CLI_OK; i++)
        if (module_is_loaded(&m->sections[i]) && !m->sections[i].placed &&
            (m->sections[i].header.sh_flags & SHF_EXECINSTR))
            cli_note("%s: %s: its address is not known", m->path, module_section_name(m, i));
    place_in_order(m, nowhere(m), false);
    return status;
}

/* Linux puts all sections with code one after the other, in the order of the file, without those of the start (.init),
 * which are elsewhere and gone. The tables of calls (.plt) grow then: what is behind them is not placed. */
static int place_as_linux(struct module_file *m, const char *module, const struct cli_module_place *place) {
    uint64_t at = place->address;

    for (size_t i = 0; i < m->count; i++) {
        struct module_section *s = &m->sections[i];
        const char *name = module_section_name(m, i);
        if (strcmp(name, ".plt") == 0) break;
        if (!module_is_loaded(s) || !(s->header.sh_flags & SHF_EXECINSTR) || strncmp(name, ".init", 5) == 0) continue;
        s->address = align_up(at, s);
        if (s->address - place->address > place->length ||
            s->header.sh_size > place->length - (s->address - place->address))
            return cli_fail("%s: its code is larger than the module %s that was loaded; is this its file?", m->path,
                            module);
        s->placed = true;
        at = s->address + s->header.sh_size;
    }
    place_in_order(m, nowhere(m), false);
    return CLI_OK;
}

/* ---- */

/* The files that were linked. */
struct linked_file {
    char *path, *source;
};

static struct linked_file *linked_files;
static size_t linked_count;

static int note_linked(const char *path, const char *source) {
    struct linked_file *grown = realloc(linked_files, (linked_count + 1) * sizeof *grown);

    if (!grown) return cli_fail("out of memory");
    linked_files = grown;
    linked_files[linked_count] = (struct linked_file){strdup(path), strdup(source)};
    if (!linked_files[linked_count].path || !linked_files[linked_count].source) return cli_fail("out of memory");
    linked_count++;
    return CLI_OK;
}

const char *cli_module_source(const char *path) {
    for (size_t i = 0; i < linked_count; i++)
        if (strcmp(linked_files[i].path, path) == 0) return linked_files[i].source;
    return path;
}

/* A file in memory, which is gone when the command ends. */
static int memory_file(char path[40]) {
#ifdef __EMSCRIPTEN__ /* whose files are all in memory */
    snprintf(path, 40, "/tmp/ntrace-module-XXXXXX");
    return mkstemp(path);
#else
    const int file = memfd_create("ntrace-module", MFD_CLOEXEC);
    snprintf(path, 40, "/proc/self/fd/%d", file);
    return file;
#endif
}

static int write_file(struct module_file *m, char **linked) {
    char path[40];
    int file = memory_file(path);

    if (file < 0) return cli_fail("%s: a linked module cannot be made: %s", m->path, strerror(errno));
    *linked = strdup(path);
    if (!*linked || note_linked(path, m->path) != CLI_OK) return cli_fail("out of memory");
    return module_write(m, file);
}

static int place(struct module_file *m, const char *module, const struct cli_module_place *place,
                 const ntr_program *program) {
    switch (place->where) {
    case CLI_MODULE_ORDER: place_in_order(m, place->address, true); return CLI_OK;
    case CLI_MODULE_KERNEL: return place_as_linux(m, module, place);
    case CLI_MODULE_NAMES: break;
    }
    return place_by_names(m, module, program);
}

int cli_module_link(const char *path, const char *module, struct cli_module_place at, const ntr_program *program,
                    char **linked) {
    struct module_file m;
    int status = module_file_read(&m, path);

    *linked = NULL;
    if (status != CLI_OK) return status;
    status = place(&m, module, &at, program);
    if (status == CLI_OK) status = module_relocate(&m, program);
    if (status == CLI_OK) status = write_file(&m, linked);
    module_file_release(&m);
    return status;
}
