#include "text/annotate.h"
#include "text/insn_line.h"
#include "options/diagnostics.h"
#include "text/source_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_FUNCTIONS = 10, LINE_SHOWN = 2000, NAME_SHOWN = 4000 };
enum { FUNCTION_SIZE_MAX = 1 << 24 }; /* bytes; limits the size of a function from damaged debug information */

/* A function and its executed instructions. All code without a function name is one function with `name` NULL. */
struct function {
    const char *name, *linkage, *file;
    uint32_t line;
    ntr_place entry;
    uint64_t size;
    uint64_t instructions; /* number of executed instructions */
    size_t first, end;     /* range of its instructions in annotate.counts */
};

/* An executed instruction, the entry of its function and the function's name; NULL: it has none. */
struct counted {
    ntr_insn_count count;
    uint64_t entry;
    const char *name;
};

struct annotate {
    const ntr_analysis *analysis;
    enum cli_format format;
    struct cli_output *out;
    struct cli_disasm *disasm;
    struct cli_source_lines *lines;
    struct counted *counts; /* sorted by function, then by address */
    size_t count;
    struct function *functions; /* sorted by `instructions`, largest first */
    size_t function_count;
    uint64_t instructions;
    const char *file; /* source position of the previous instruction (text output) */
    uint32_t line;
};

/* ---- executed instructions, by function */

static int compare_counted(const void *a, const void *b) {
    const struct counted *x = a, *y = b;

    if (!x->name != !y->name) return x->name ? -1 : 1;
    if (x->entry != y->entry) return x->entry < y->entry ? -1 : 1;
    if (x->count.image != y->count.image) return x->count.image < y->count.image ? -1 : 1;
    const int order = x->name ? strcmp(x->name, y->name) : 0; /* code that was generated again */
    if (order) return order;
    if (x->count.address != y->count.address) return x->count.address < y->count.address ? -1 : 1;
    return x->count.position < y->count.position ? -1 : x->count.position > y->count.position;
}

static int compare_functions(const void *a, const void *b) {
    const struct function *x = a, *y = b;

    if (x->instructions != y->instructions) return x->instructions < y->instructions ? 1 : -1;
    return x->entry.address < y->entry.address ? -1 : x->entry.address > y->entry.address;
}

static void name_function(struct annotate *n, struct function *f, ntr_place place) {
    ntr_frame frame;

    if (ntr_debug_info_function(n->analysis->debug, place, &frame) != NTR_OK) return;
    *f = (struct function){
        .name = frame.function,
        .linkage = frame.linkage,
        .file = frame.declared_in,
        .line = frame.declared_line,
        .entry = ntr_place_at(place.context, place.position, frame.entry),
        .size = frame.size < FUNCTION_SIZE_MAX ? frame.size : FUNCTION_SIZE_MAX,
        .first = f->first,
    };
}

static bool read_counts(struct annotate *n) {
    ntr_insn_count *counts;
    ntr_frame frame;

    if (ntr_tally_instructions(n->analysis->tally, n->analysis->program, UINT32_MAX, &counts, &n->count) != NTR_OK)
        return false;
    n->counts = calloc(n->count + 1, sizeof *n->counts);
    for (size_t i = 0; n->counts && i < n->count; i++) {
        n->counts[i].count = counts[i];
        n->instructions += counts[i].executed;
        const ntr_place place = ntr_tally_count_place(n->analysis->tally, &counts[i]);
        if (ntr_debug_info_function(n->analysis->debug, place, &frame) != NTR_OK) continue;
        n->counts[i].entry = frame.entry;
        n->counts[i].name = frame.function;
    }
    ntr_tally_free_counts(n->analysis->tally, counts);
    if (n->counts && n->count) qsort(n->counts, n->count, sizeof *n->counts, compare_counted);
    return n->counts != NULL;
}

static bool group_by_function(struct annotate *n) {
    struct function *f = NULL;

    if (!read_counts(n)) return false;
    n->functions = calloc(n->count + 1, sizeof *n->functions);
    for (size_t i = 0; n->functions && i < n->count; i++) {
        const struct counted *c = &n->counts[i], *before = i ? c - 1 : NULL;
        if (!before || !before->name != !c->name || before->entry != c->entry ||
            (c->name && (before->count.image != c->count.image || strcmp(before->name, c->name) != 0))) {
            f = &n->functions[n->function_count++];
            f->first = i;
            f->entry = ntr_tally_count_place(n->analysis->tally, &c->count);
            f->entry.address = 0;
            if (c->name) name_function(n, f, ntr_tally_count_place(n->analysis->tally, &c->count));
        }
        f->end = i + 1;
        f->instructions += c->count.executed;
    }
    if (n->functions && n->function_count)
        qsort(n->functions, n->function_count, sizeof *n->functions, compare_functions);
    return n->functions != NULL;
}

/* ---- writing an instruction */

static void write_source_line(struct annotate *n, const ntr_frame *frame) {
    size_t size = 0;

    if (frame->file == n->file && frame->line == n->line) return;
    n->file = frame->file;
    n->line = frame->line;
    if (!frame->file || !frame->line) return;
    const char *text = cli_source_line(n->lines, frame->file, frame->line, &size);
    const char *slash = strrchr(frame->file, '/');
    cli_output_text(n->out, "  ");
    cli_output_source(n->out, slash ? slash + 1 : frame->file, frame->line);
    if (frame->inlined) cli_output_print(n->out, " [%s]", frame->function ? frame->function : "inlined");
    cli_output_print(n->out, "  %.*s\n", text ? (int)(size < LINE_SHOWN ? size : LINE_SHOWN) : 0, text ? text : "");
}

static bool is_branch(const ntr_insn_count *count) {
    return count->flow == NTR_FLOW_BRANCH;
}

static void write_text(struct annotate *n, const ntr_insn_count *c, const struct cli_insn_words *w) {
    int mnemonic = (int)strcspn(w->text, " ");
    const char *operands = w->text + mnemonic + (w->text[mnemonic] == ' ');

    cli_output_print(n->out, "%15" PRIu64 "  %8" PRIx64 "  %-8s", c->executed, c->address, w->opcode);
    if (is_branch(c))
        cli_output_print(n->out, "  %-8.*s %-24s  taken %" PRIu64 ", not %" PRIu64 "\n", mnemonic, w->text, operands,
                         c->taken, c->not_taken);
    else if (*operands)
        cli_output_print(n->out, "  %-8.*s %s\n", mnemonic, w->text, operands);
    else
        cli_output_print(n->out, "  %s\n", w->text);
}

static void json_member(struct cli_output *out, const char *key, const char *value) {
    if (!value || !*value) return;
    cli_output_print(out, ",\"%s\":", key);
    cli_output_json(out, value);
}

static void write_json(struct annotate *n, const struct function *f, const ntr_insn_count *c, const ntr_frame *frame,
                       const struct cli_insn_words *w) {
    cli_output_print(n->out, "{\"address\":\"0x%" PRIx64 "\",\"executed\":%" PRIu64, c->address, c->executed);
    if (is_branch(c)) cli_output_print(n->out, ",\"taken\":%" PRIu64 ",\"not_taken\":%" PRIu64, c->taken, c->not_taken);
    json_member(n->out, "opcode", w->opcode);
    json_member(n->out, "text", w->text);
    json_member(n->out, "function", f->name);
    if (frame->inlined) json_member(n->out, "inlined", frame->function);
    json_member(n->out, "file", frame->file);
    if (frame->file) cli_output_print(n->out, ",\"line\":%" PRIu32, frame->line);
    cli_output_text(n->out, "}\n");
}

static void csv_cell(struct cli_output *out, const char *text) {
    char name[NAME_SHOWN + 1], cell[2 * NAME_SHOWN + 3];

    snprintf(name, sizeof name, "%s", text ? text : "");
    cli_output_text(out, ",");
    cli_output_write(out, cell, (size_t)(cli_put_csv(cell, name) - cell));
}

static void write_csv(struct annotate *n, const struct function *f, const ntr_insn_count *c, const ntr_frame *frame,
                      const struct cli_insn_words *w) {
    cli_output_print(n->out, "0x%" PRIx64 ",%" PRIu64 ",", c->address, c->executed);
    if (is_branch(c))
        cli_output_print(n->out, "%" PRIu64 ",%" PRIu64, c->taken, c->not_taken);
    else
        cli_output_text(n->out, ",");
    csv_cell(n->out, w->opcode);
    csv_cell(n->out, w->text);
    csv_cell(n->out, f->name);
    csv_cell(n->out, frame->inlined ? frame->function : "");
    csv_cell(n->out, frame->file);
    cli_output_print(n->out, ",%" PRIu32 "\n", frame->line);
}

/* Returns the size of the instruction. */
static unsigned write_insn(struct annotate *n, const struct function *f, ntr_insn_count *c) {
    const ntr_program *program = n->analysis->program;
    const ntr_place place = c->executed ? ntr_tally_count_place(n->analysis->tally, c)
                                        : ntr_place_at(f->entry.context, f->entry.position, c->address);
    struct cli_insn_words words;
    ntr_frame frame = {0};
    ntr_insn decoded;

    const bool known = ntr_program_insn(program, place, &decoded) == NTR_OK;
    if (known) {
        c->size = decoded.size;
        c->flow = decoded.flow;
    }
    if (c->size == 0 || c->size > CLI_INSN_BYTES) c->size = 2; /* data between instructions */
    struct cli_insn_bytes insn = {.address = c->address, .isa = ntr_program_isa(program, place)};
    insn.decoded = known ? &decoded : NULL;
    insn.size = (uint8_t)ntr_program_read(program, place, insn.bytes, c->size);
    cli_insn_words(n->disasm, &insn, &words);
    ntr_debug_info_frames(n->analysis->debug, place, &frame, 1);
    if (n->format == CLI_FORMAT_TEXT) {
        write_source_line(n, &frame);
        write_text(n, c, &words);
    } else {
        (n->format == CLI_FORMAT_CSV ? write_csv : write_json)(n, f, c, &frame, &words);
    }
    return c->size;
}

/* ---- functions */

static void write_heading(struct annotate *n, const struct function *f) {
    if (n->format != CLI_FORMAT_TEXT) return;
    cli_output_print(n->out, "# %s", f->name ? f->name : "[unknown]");
    if (f->file) {
        cli_output_text(n->out, "  ");
        cli_output_source(n->out, f->file, f->line);
    } else if (f->name && f->entry.address) {
        cli_output_print(n->out, "  0x%" PRIx64, f->entry.address);
    }
    cli_output_print(n->out, "\n# %" PRIu64 " instructions, %.2f %%\n", f->instructions,
                     n->instructions ? 100.0 * (double)f->instructions / (double)n->instructions : 0);
    n->file = NULL;
    n->line = 0;
}

/* Writes all instructions from the entry of the function to its end, executed or not, and the executed ones outside of
 * that range. Where code was changed at run time, each instruction that was executed there is written. */
static void write_function(struct annotate *n, const struct function *f) {
    struct counted *at = n->counts + f->first, *const end = n->counts + f->end;

    write_heading(n, f);
    for (; at < end && at->count.address < f->entry.address; at++) write_insn(n, f, &at->count);
    for (uint64_t address = f->entry.address; address - f->entry.address < f->size && !n->out->done;) {
        ntr_insn_count none = {.address = address};
        bool ran = at < end && at->count.address == address;
        address += write_insn(n, f, ran ? &at++->count : &none);
        for (; at < end && at->count.address < address; at++) {
            const uint64_t next = at->count.address + write_insn(n, f, &at->count);
            if (next > address) address = next;
        }
    }
    for (; at < end; at++) write_insn(n, f, &at->count);
    /* cli_annotate() frees n->counts. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    if (n->format == CLI_FORMAT_TEXT) cli_output_text(n->out, "\n");
}

/* Returns whether `name` is the full name, the linkage name, or the name without parameters. */
static bool has_name(const struct function *f, const char *name) {
    size_t size = strlen(name);

    if (!f->name) return strcmp(name, "[unknown]") == 0;
    if (strcmp(f->name, name) == 0 || (f->linkage && strcmp(f->linkage, name) == 0)) return true;
    return strncmp(f->name, name, size) == 0 && f->name[size] == '(';
}

/* Writes the functions with this name, or, if none was executed, the one that the program has. */
static int write_named(struct annotate *n, const char *name) {
    ntr_symbol symbol;
    bool found = false;

    for (size_t i = 0; i < n->function_count; i++) {
        if (!has_name(&n->functions[i], name)) continue;
        write_function(n, &n->functions[i]);
        found = true;
    }
    if (found) return CLI_OK;
    if (ntr_program_find(n->analysis->program, name, &symbol) != NTR_OK || !symbol.function)
        return cli_fail("--annotate=%s: the program has no function of this name", name);
    struct function f = {0};
    name_function(n, &f, ntr_program_image_place(n->analysis->program, (size_t)symbol.number, symbol.address));
    write_function(n, &f);
    return CLI_OK;
}

static void write_hottest(struct annotate *n, int64_t top) {
    size_t shown = n->function_count;

    if (top < 0 && n->format == CLI_FORMAT_TEXT) top = TEXT_FUNCTIONS;
    if (top >= 0 && (uint64_t)top < shown) shown = (size_t)top;
    for (size_t i = 0; i < shown && !n->out->done; i++) write_function(n, &n->functions[i]);
    if (n->format == CLI_FORMAT_TEXT && shown < n->function_count)
        cli_output_print(n->out, "# and %zu more functions (--top)\n", n->function_count - shown);
}

static int write_all(struct annotate *n, const struct cli_annotate_options *options) {
    const struct cli_list *list = options->functions;
    int status = CLI_OK;

    if (n->format == CLI_FORMAT_TEXT) cli_output_print(n->out, "# %" PRIu64 " instructions\n\n", n->instructions);
    if (n->format == CLI_FORMAT_CSV)
        cli_output_text(n->out, "address,executed,taken,not_taken,opcode,text,function,inlined,file,line\n");
    for (size_t i = 0; i < list->count && status == CLI_OK; i++) {
        if (list->items[i].value)
            status = write_named(n, list->items[i].value);
        else
            write_hottest(n, options->top);
    }
    return status;
}

int cli_annotate(const ntr_analysis *analysis, const struct cli_annotate_options *options, struct cli_output *out) {
    const char *why;
    struct annotate n = {.analysis = analysis, .format = options->format, .out = out};
    int status;

    n.disasm = cli_disasm_open(&why);
    if (!n.disasm) cli_note("no disassembly: %s", why);
    n.lines = cli_source_lines_open(analysis->read_source, analysis->read_source_user);
    status = n.lines && group_by_function(&n) ? write_all(&n, options) : cli_fail("out of memory");
    free(n.functions);
    free(n.counts);
    cli_source_lines_close(n.lines);
    cli_disasm_close(n.disasm);
    return status;
}
