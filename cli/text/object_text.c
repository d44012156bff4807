#include "text/object_text.h"

#include "text/disasm.h"

#include <inttypes.h>
#include <ntrace/isa.h>

struct object_writer {
    struct cli_output *out;
    struct cli_disasm *disasm; /* NULL: no text of instructions */
    bool json;
};

static const char *text_of(struct object_writer *w, const ntr_object_insn *insn) {
    uint8_t bytes[8];

    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(insn->bits >> (8 * i));
    return w->disasm ? cli_disasm_text(w->disasm, bytes, insn->size, insn->isa) : "";
}

static void write_insn(struct object_writer *w, const ntr_object_insn *insn) {
    cli_output_print(w->out, "      0x%" PRIx64 "  %0*" PRIx64 "  %s", insn->address, 2 * insn->size, insn->bits,
                     text_of(w, insn));
    if (insn->file) {
        cli_output_text(w->out, "  ");
        cli_output_source(w->out, insn->file, insn->line);
    }
    cli_output_text(w->out, "\n");
}

static void write_json_insn(struct object_writer *w, const ntr_object_insn *insn) {
    cli_output_print(w->out, "{\"address\":\"0x%" PRIx64 "\",\"opcode\":\"0x%" PRIx64 "\",\"text\":", insn->address,
                     insn->bits);
    cli_output_json(w->out, text_of(w, insn));
    if (insn->file) {
        cli_output_text(w->out, ",\"file\":");
        cli_output_json(w->out, insn->file);
        cli_output_print(w->out, ",\"line\":%u", insn->line);
    }
    cli_output_text(w->out, "}");
}

/* A range of instructions that were not executed. */
static void write_range(struct object_writer *w, const ntr_object_insn *insns, size_t count, bool first) {
    const ntr_object_insn *last = &insns[count - 1];

    if (!w->json) {
        cli_output_print(w->out, "    not executed 0x%" PRIx64 " to 0x%" PRIx64 ", %zu instructions\n", insns->address,
                         last->address + last->size - 1, count);
        for (size_t i = 0; i < count; i++) write_insn(w, &insns[i]);
        return;
    }
    cli_output_print(w->out, "%s\n   {\"from\":\"0x%" PRIx64 "\",\"to\":\"0x%" PRIx64 "\",\"instructions\":[",
                     first ? "" : ",", insns->address, last->address + last->size - 1);
    for (size_t i = 0; i < count; i++) {
        if (i) cli_output_text(w->out, ",");
        write_json_insn(w, &insns[i]);
    }
    cli_output_text(w->out, "]}");
}

static void write_ranges(struct object_writer *w, const ntr_object_function *f) {
    bool first = true;

    for (size_t i = 0, next; i < f->insn_count; i = next) {
        for (next = i; next < f->insn_count && f->insns[next].executed == 0;) next++;
        if (next > i) {
            write_range(w, &f->insns[i], next - i, first);
            first = false;
        } else {
            next = i + 1;
        }
    }
}

static void write_branches(struct object_writer *w, const ntr_object_function *f) {
    bool first = true;

    for (size_t i = 0; i < f->insn_count; i++) {
        const ntr_object_insn *insn = &f->insns[i];
        if (insn->flow != NTR_FLOW_BRANCH || !insn->executed || (insn->taken && insn->not_taken)) continue;
        if (!w->json) {
            cli_output_print(w->out, "    never %s\n", insn->taken ? "not taken" : "taken");
            write_insn(w, insn);
            continue;
        }
        cli_output_print(w->out, "%s\n   {\"never\":\"%s\",\"branch\":", first ? "" : ",",
                         insn->taken ? "not-taken" : "taken");
        write_json_insn(w, insn);
        cli_output_text(w->out, "}");
        first = false;
    }
}

static void write_function(struct object_writer *w, const ntr_object_function *f) {
    cli_output_print(w->out, "%s  0x%" PRIx64 "  %" PRIu64 " of %zu instructions, %" PRIu64 " of %" PRIu64 " outcomes",
                     f->name, f->address, f->executed, f->insn_count, f->outcomes_seen, f->outcomes);
    if (f->file) {
        cli_output_text(w->out, "  ");
        cli_output_source(w->out, f->file, f->line);
    }
    cli_output_text(w->out, "\n");
    if (!f->executed) return;
    write_ranges(w, f);
    write_branches(w, f);
}

static void write_json_function(struct object_writer *w, const ntr_object_function *f) {
    cli_output_text(w->out, "{\"name\":");
    cli_output_json(w->out, f->name);
    cli_output_text(w->out, ",\"image\":");
    cli_output_json(w->out, f->image);
    cli_output_print(w->out,
                     ",\"address\":\"0x%" PRIx64 "\",\"instructions\":%zu,\"executed\":%" PRIu64
                     ",\"outcomes\":%" PRIu64 ",\"outcomes_seen\":%" PRIu64 ",\"not_executed\":[",
                     f->address, f->insn_count, f->executed, f->outcomes, f->outcomes_seen);
    write_ranges(w, f);
    cli_output_text(w->out, "],\"one_outcome\":[");
    write_branches(w, f);
    cli_output_text(w->out, "]}");
}

static void write_targets(struct object_writer *w, ntr_object_coverage *coverage) {
    size_t count;
    const ntr_object_target *targets = ntr_object_coverage_targets(coverage, &count);

    if (count && !w->json) cli_output_text(w->out, "\ntargets of indirect jumps and calls\n");
    for (size_t i = 0; i < count; i++) {
        const ntr_object_target *t = &targets[i];
        const char *kind = t->flow == NTR_FLOW_INDIRECT_CALL ? "call" : "jump";
        if (!w->json) {
            cli_output_print(w->out, "  %s 0x%" PRIx64 " to 0x%" PRIx64 "  %" PRIu64 " times  %s\n", kind, t->from,
                             t->to, t->count, t->symbol ? t->symbol : "");
            continue;
        }
        cli_output_print(w->out,
                         "%s\n{\"kind\":\"%s\",\"from\":\"0x%" PRIx64 "\",\"to\":\"0x%" PRIx64 "\",\"count\":%" PRIu64,
                         i ? "," : "", kind, t->from, t->to, t->count);
        if (t->symbol) {
            cli_output_text(w->out, ",\"function\":");
            cli_output_json(w->out, t->symbol);
        }
        cli_output_text(w->out, "}");
    }
}

static void write_versions(struct object_writer *w, ntr_object_coverage *coverage) {
    size_t count;
    const ntr_object_version *versions = ntr_object_coverage_versions(coverage, &count);

    if (count && !w->json) cli_output_text(w->out, "\ncode that was changed at run time, by version\n");
    for (size_t i = 0; i < count; i++) {
        const ntr_object_version *v = &versions[i];
        const ntr_object_insn insn = {
            .address = v->address, .bits = v->bits, .size = v->size, .flow = v->flow, .isa = v->isa};
        if (w->json) {
            cli_output_print(w->out, "%s\n{\"insn\":", i ? "," : "");
            write_json_insn(w, &insn);
            cli_output_print(w->out, ",\"executed\":%" PRIu64, v->executed);
            if (v->flow == NTR_FLOW_BRANCH)
                cli_output_print(w->out, ",\"taken\":%" PRIu64 ",\"not_taken\":%" PRIu64, v->taken, v->not_taken);
            cli_output_text(w->out, "}");
            continue;
        }
        cli_output_print(w->out, "  0x%" PRIx64 "  %0*" PRIx64 "  %s  %" PRIu64 " times", v->address, 2 * v->size,
                         v->bits, text_of(w, &insn), v->executed);
        if (v->flow == NTR_FLOW_BRANCH) cli_output_print(w->out, ", %" PRIu64 " taken", v->taken);
        cli_output_text(w->out, "\n");
    }
}

struct cli_object_sums cli_object_sums(ntr_object_coverage *coverage) {
    struct cli_object_sums sums = {0};
    size_t count;
    const ntr_object_function *functions = ntr_object_coverage_functions(coverage, &count);

    for (size_t i = 0; i < count; i++) {
        sums.instructions += functions[i].insn_count;
        sums.executed += functions[i].executed;
        sums.outcomes += functions[i].outcomes;
        sums.outcomes_seen += functions[i].outcomes_seen;
    }
    return sums;
}

static void write_total(struct object_writer *w, ntr_object_coverage *coverage) {
    const struct cli_object_sums sums = cli_object_sums(coverage);

    cli_output_print(
        w->out,
        w->json ? "{\"format\":\"ntrace-object\",\"version\":1,\"gaps\":%" PRIu64 ",\"instructions\":%" PRIu64
                  ",\"executed\":%" PRIu64 ",\"outcomes\":%" PRIu64 ",\"outcomes_seen\":%" PRIu64 ",\n\"functions\":["
                : "\n%" PRIu64 " gaps, %" PRIu64 " instructions, %" PRIu64 " executed; %" PRIu64
                  " outcomes of branches, %" PRIu64 " seen\n",
        ntr_object_coverage_gaps(coverage), sums.instructions, sums.executed, sums.outcomes, sums.outcomes_seen);
}

void cli_object_text(struct cli_output *out, ntr_object_coverage *coverage, bool json, const char *quality) {
    const char *why;
    size_t count;
    const ntr_object_function *functions = ntr_object_coverage_functions(coverage, &count);
    struct object_writer w = {out, cli_disasm_open(&why), json};

    if (json) write_total(&w, coverage);
    for (size_t i = 0; i < count; i++) {
        if (json) {
            cli_output_text(out, i ? ",\n" : "\n");
            write_json_function(&w, &functions[i]);
        } else {
            write_function(&w, &functions[i]);
        }
    }
    if (json) cli_output_text(out, "],\n\"targets\":[");
    write_targets(&w, coverage);
    if (json) cli_output_text(out, "],\n\"versions\":[");
    write_versions(&w, coverage);
    if (json) cli_output_text(out, quality ? "],\n\"quality\":" : "]");
    if (json && quality) cli_output_text(out, quality);
    if (json)
        cli_output_text(out, "}\n");
    else
        write_total(&w, coverage);
    cli_disasm_close(w.disasm);
}
