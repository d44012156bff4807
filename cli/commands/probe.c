#include "io/document.h"
#include "io/output.h"
#include "io/target.h"
#include "options/options.h"
#include "options/diagnostics.h"

#include <ntrace/version.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct probe_options {
    struct cli_connection connection;
    struct cli_result result;
    const char *topology, *draft;
    struct cli_list at, harts;
    int keep, report;
};

static const struct cli_option probe_table[] = {
    CLI_STRING(
        't', "topology", "FILE", struct probe_options, topology,
        "components, bases and connections (JSON, docs/system.md); what the hardware supports is compared with it"),
    CLI_LIST(0, "hart", "N", struct probe_options, harts,
             "only the encoder of hart N and what it leads to (repeatable; default: all components)"),
    CLI_FLAG(0, "report", struct probe_options, report,
             "write a report that can be sent: the components, the registers of each, and the system's facts"),
    CLI_LIST(0, "base", "ADDRESS", struct probe_options, at,
             "base of a component, if there is no topology yet (repeatable); its Active bit is set"),
    CLI_STRING(0, "draft", "FILE", struct probe_options, draft, "write a topology with what was found"),
    CLI_FLAG(0, "read-only", struct probe_options, keep, "change nothing: only Control and Impl are read"),
    {0},
};

static const struct cli_group groups[] = {
    CLI_OWN("options", probe_table),
    CLI_GROUP("connection", cli_connection_options, struct probe_options, connection),
    CLI_GROUP("output", cli_result_options, struct probe_options, result),
    {0},
};

struct probe_run {
    const struct probe_options *options;
    struct cli_target target;
    struct cli_output out, draft;
    bool drafts;
    unsigned silent, different; /* components that do not answer, abilities that differ */
    size_t drafted;
};

/* ---- values as JSON */

static void put_set(struct cli_output *out, uint64_t set) {
    bool any = false;
    cli_output_text(out, "[");
    for (unsigned i = 0; i < 64; i++) {
        if (!(set >> i & 1)) continue;
        cli_output_print(out, "%s%u", any ? ", " : "", i);
        any = true;
    }
    cli_output_text(out, "]");
}

static void put_value(struct cli_output *out, uint8_t kind, uint64_t value) {
    if (kind == NTR_ABILITY_SET)
        put_set(out, value);
    else if (kind == NTR_ABILITY_FLAG)
        cli_output_text(out, value ? "true" : "false");
    else
        cli_output_print(out, "%" PRIu64, value);
}

/* ---- a topology from base addresses: encoders lead to the first funnel, everything else to the first sink */

struct found {
    uint64_t base;
    ntr_component kind;
};

static const char *receiver_of(ntr_component kind, bool funnel, const char *sink) {
    return kind == NTR_COMPONENT_ENCODER && funnel ? "funnel0" : sink;
}

static void describe(FILE *text, const struct found *found, size_t count) {
    unsigned numbers[NTR_COMPONENT_COUNT] = {0};
    char sink[32] = "";
    bool funnel = false;

    for (size_t i = 0; i < count; i++) {
        if (found[i].kind == NTR_COMPONENT_FUNNEL)
            funnel = true;
        else if (found[i].kind != NTR_COMPONENT_ENCODER && !*sink)
            snprintf(sink, sizeof sink, "%s0", ntr_component_get(found[i].kind)->name);
    }
    fputs("{\"components\": [", text);
    for (size_t i = 0; i < count; i++) {
        const char *name = ntr_component_get(found[i].kind)->name;
        const unsigned number = numbers[found[i].kind]++;
        fprintf(text, "%s{\"name\": \"%s%u\", \"type\": \"%s\", \"base\": \"0x%" PRIx64 "\"", i ? ", " : "", name,
                number, name, found[i].base);
        if (found[i].kind == NTR_COMPONENT_ENCODER) fprintf(text, ", \"hart\": %u", number);
        if (found[i].kind == NTR_COMPONENT_ENCODER || found[i].kind == NTR_COMPONENT_FUNNEL)
            fprintf(text, ", \"to\": \"%s\"", receiver_of(found[i].kind, funnel, sink));
        fputs("}", text);
    }
    fputs("]}", text);
}

enum { IMPL_TYPE = 8, IMPL_TYPE_MASK = 15 };

static int identify(struct probe_run *run, const struct cli_item *item, struct found *found) {
    uint32_t impl = 0;

    if (!cli_parse_number(item->value, &found->base) || found->base % NTR_COMPONENT_BYTES)
        return cli_fail("--base: expected a multiple of 0x1000, found '%s'", item->value);
    const ntr_status status = ntr_bus_identify(&run->target.bus, found->base, &found->kind, &impl);
    if (status != NTR_OK)
        return cli_fail("0x%" PRIx64 ": cannot be accessed: %s", found->base,
                        run->target.bus.error ? run->target.bus.error(run->target.bus.user) : ntr_status_text(status));
    if (found->kind != NTR_COMPONENT_COUNT) {
        if ((impl >> IMPL_TYPE & IMPL_TYPE_MASK) != ntr_component_get(found->kind)->type)
            cli_note("0x%" PRIx64 ": %s of Andes NCETRACE200, by its register DEVARCH; Impl reads 0x%08" PRIx32,
                     found->base, ntr_component_get(found->kind)->title, impl);
        return CLI_OK;
    }
    return cli_fail("0x%" PRIx64 ": Impl reads 0x%08" PRIx32
                    ": no component of Trace Control 1.0, or it has no clock or power",
                    found->base, impl);
}

static int make_topology(struct probe_run *run) {
    const struct cli_list *at = &run->options->at;
    struct found *found = calloc(at->count, sizeof *found);
    FILE *text = open_memstream(&run->target.topology, &run->target.topology_size);
    int status = found && text ? CLI_OK : cli_fail("out of memory");

    for (size_t i = 0; found && i < at->count && status == CLI_OK; i++)
        status = identify(run, &at->items[i], &found[i]);
    if (status == CLI_OK && found && text) describe(text, found, at->count);
    if (text) fclose(text);
    free(found);
    run->target.topology_name = "the components found";
    return status;
}

/* ---- output */

static void print_text(struct probe_run *run, const ntr_system_component *one, const ntr_probe *probe) {
    struct cli_output *out = &run->out;

    if (ntr_component_get(one->kind)->type > NTR_COMPONENT_TYPE_MAX)
        cli_output_print(out, "%s at 0x%" PRIx64 ": %s, csDevType 0x%02" PRIx32 ", Control was 0x%08" PRIx32, one->name,
                         one->base, ntr_component_get(one->kind)->title, probe->impl, probe->control);
    else
        cli_output_print(out, "%s at 0x%" PRIx64 ": %s %u.%u, Impl 0x%08" PRIx32 ", Control was 0x%08" PRIx32,
                         one->name, one->base, ntr_component_get(one->kind)->title, probe->major, probe->minor,
                         probe->impl, probe->control);
    if (one->kind == NTR_COMPONENT_ENCODER)
        cli_output_print(out, ", hart %d, protocol %u.%u", one->hart, probe->protocol_major, probe->protocol_minor);
    cli_output_text(out, "\n");
    for (size_t i = 0; i < probe->ability_count; i++) {
        const ntr_ability *ability = &probe->abilities[i];
        cli_output_print(out, "  %-18s ", ability->name);
        put_value(out, ability->kind, ability->value);
        if (run->options->topology && ability->value != ability->expected) {
            cli_output_text(out, "   topology: ");
            put_value(out, ability->kind, ability->expected);
        }
        cli_output_text(out, "\n");
    }
}

static void print_json(struct probe_run *run, const ntr_system_component *one, const ntr_probe *probe,
                       const char *error) {
    struct cli_output *out = &run->out;

    cli_output_text(out, "{\"name\":");
    cli_output_json(out, one->name);
    cli_output_print(
        out, ",\"type\":\"%s\",\"base\":\"0x%" PRIx64 "\",\"answers\":%s,\"control\":%" PRIu32 ",\"impl\":%" PRIu32,
        ntr_component_get(one->kind)->name, one->base, probe->answers ? "true" : "false", probe->control, probe->impl);
    if (one->hart >= 0) cli_output_print(out, ",\"hart\":%d", one->hart);
    if (probe->answers && probe->major) cli_output_print(out, ",\"version\":\"%u.%u\"", probe->major, probe->minor);
    if (probe->answers && one->kind == NTR_COMPONENT_ENCODER)
        cli_output_print(out, ",\"protocol\":\"%u.%u\"", probe->protocol_major, probe->protocol_minor);
    cli_output_text(out, ",\"abilities\":{");
    for (size_t i = 0; i < probe->ability_count; i++) {
        cli_output_print(out, "%s\"%s\":", i ? "," : "", probe->abilities[i].name);
        put_value(out, probe->abilities[i].kind, probe->abilities[i].value);
    }
    cli_output_text(out, "},\"differs\":[");
    bool any = false;
    for (size_t i = 0; run->options->topology && i < probe->ability_count; i++) {
        if (probe->abilities[i].value == probe->abilities[i].expected) continue;
        cli_output_print(out, "%s\"%s\"", any ? "," : "", probe->abilities[i].name);
        any = true;
    }
    cli_output_text(out, "],\"error\":");
    if (*error)
        cli_output_json(out, error);
    else
        cli_output_text(out, "null");
    cli_output_text(out, "}\n");
}

static void print_csv(struct probe_run *run, const ntr_system_component *one, const ntr_probe *probe) {
    for (size_t i = 0; i < probe->ability_count; i++) {
        const ntr_ability *ability = &probe->abilities[i];
        cli_output_print(&run->out, "%s,0x%" PRIx64 ",%s,%" PRIu64 ",%" PRIu64 "\n", one->name, one->base,
                         ability->name, ability->value, ability->expected);
    }
}

/* ---- draft: the connections of the topology, and the abilities that were found */

static void draft_links(struct probe_run *run, size_t index) {
    const ntr_system *system = ntr_target_components(run->target.target);
    const char *to;
    unsigned input;
    size_t count = 0;

    while (ntr_system_link_get(system, index, count, &to, &input) == NTR_OK) {
        cli_output_text(&run->draft, count ? ", " : ", \"to\": [");
        char name[300];
        snprintf(name, sizeof name, "%s:%u", to, input);
        cli_output_json(&run->draft, name);
        count++;
    }
    if (count) cli_output_text(&run->draft, "]");
}

static void draft_component(struct probe_run *run, size_t index, const ntr_system_component *one,
                            const ntr_probe *probe) {
    struct cli_output *out = &run->draft;

    cli_output_text(out, run->drafted++ ? ",\n  {\"name\": " : "  {\"name\": ");
    cli_output_json(out, one->name);
    cli_output_print(out, ", \"type\": \"%s\", \"base\": \"0x%" PRIx64 "\"", ntr_component_get(one->kind)->name,
                     one->base);
    if (one->hart >= 0) cli_output_print(out, ", \"hart\": %d", one->hart);
    draft_links(run, index);
    for (size_t i = 0; i < probe->ability_count; i++) {
        const ntr_ability *ability = &probe->abilities[i];
        if (ability->kind == NTR_ABILITY_SET && !ability->value) continue;
        cli_output_print(out, ",\n   \"%s\": ", ability->name);
        put_value(out, ability->kind, ability->value);
    }
    cli_output_text(out, "}");
}

/* ---- report: all registers as they are after the probe, in words of a line */

static void report_registers(struct probe_run *run, size_t index, const ntr_system_component *one) {
    char name[48];
    uint32_t word;
    unsigned number;

    cli_output_text(&run->out, "  registers:");
    for (unsigned reg = 0; reg < NTR_REGISTER_COUNT; reg++) {
        const ntr_register_info *info = ntr_register_get(reg);
        if (info->count > 1 || reg == NTR_REGISTER_RAM_DATA || reg == NTR_REGISTER_TMC_RRD ||
            ntr_register_at(one->kind, info->offset, &number) != reg ||
            ntr_target_register(run->target.target, index, (ntr_register)reg, 0, &word) != NTR_OK)
            continue;
        ntr_register_name((ntr_register)reg, 0, name, sizeof name);
        cli_output_print(&run->out, " %s=0x%" PRIx32, name, word);
    }
    cli_output_text(&run->out, "\n");
}

static void report_file(struct probe_run *run, const char *path) {
    char line[512];
    FILE *file = fopen(path, "re");

    if (!file) return;
    if (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        cli_output_print(&run->out, "# %s: %s\n", path, line);
    }
    fclose(file);
}

/* On the target, what decides whether trace works. */
static void report_system(struct probe_run *run) {
    static const char *const files[] = {"/proc/version", "/proc/cmdline", "/sys/firmware/devicetree/base/model",
                                        "/sys/devices/system/cpu/online",
                                        "/sys/devices/system/cpu/cpuidle/current_driver"};

    cli_output_print(&run->out, "# ntrace %s, topology %s\n", NTR_VERSION_TEXT, run->target.topology_name);
    if (!run->options->connection.mem) return;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) report_file(run, files[i]);
}

/* ---- */

static int probe_one(struct probe_run *run, size_t index, const ntr_system_component *one) {
    ntr_probe probe;

    if (ntr_target_probe(run->target.target, index, run->options->keep, &probe) != NTR_OK)
        return cli_fail("%s", ntr_target_error(run->target.target));
    const char *error = probe.answers ? "" : ntr_target_error(run->target.target);
    if (!probe.answers) {
        run->silent++;
        if (*error)
            cli_note("%s", error);
        else
            cli_note("%s at 0x%" PRIx64 ": Impl 0x%08" PRIx32 " is that of no %s", one->name, one->base, probe.impl,
                     ntr_component_get(one->kind)->name);
    }
    for (size_t i = 0; run->options->topology && i < probe.ability_count; i++)
        run->different += probe.abilities[i].value != probe.abilities[i].expected;
    if (cli_format_of_rows(run->options->result.format) == CLI_FORMAT_JSONL)
        print_json(run, one, &probe, error);
    else if (run->options->result.format == CLI_FORMAT_CSV)
        print_csv(run, one, &probe);
    else if (probe.answers)
        print_text(run, one, &probe);
    if (run->drafts && probe.answers) draft_component(run, index, one, &probe);
    if (run->options->report) report_registers(run, index, one);
    return CLI_OK;
}

static int probe_all(struct probe_run *run) {
    const ntr_system *system = ntr_target_components(run->target.target);
    ntr_system_component one;
    int status = CLI_OK;

    if (run->options->report) report_system(run);
    if (run->options->result.format == CLI_FORMAT_CSV)
        cli_output_text(&run->out, "component,base,ability,found,topology\n");
    for (size_t i = 0; status == CLI_OK && ntr_system_component_get(system, i, &one) == NTR_OK; i++)
        status = probe_one(run, i, &one);
    if (status == CLI_OK && run->different)
        cli_note("%u abilities differ from %s", run->different, run->options->topology);
    return status == CLI_OK && (run->silent || run->different) ? CLI_DEFECTS : status;
}

static int probe_target(struct probe_run *run) {
    const struct probe_options *o = run->options;
    const struct cli_part part = {&o->harts, NULL};

    if (!o->topology == !o->at.count) return cli_fail("expected --topology FILE, or --base ADDRESS for each component");
    if (o->report && o->result.format != CLI_FORMAT_TEXT) return cli_fail("--report is text");
    if (o->keep && o->draft) return cli_fail("--draft needs more than --read-only reads");
    if (o->topology && cli_target_topology(&run->target, o->topology) != CLI_OK) return CLI_FAILED;
    cli_target_catch_stop();
    if (cli_connection_open(&o->connection, &run->target.bus) != CLI_OK) return CLI_FAILED;
    if (!o->topology && make_topology(run) != CLI_OK) return CLI_FAILED;
    if (cli_target_make(&run->target, &o->connection, &part, NULL, NULL) != CLI_OK) return CLI_FAILED;
    if (cli_document_open(&run->out, &o->result, "probe") != CLI_OK) return CLI_FAILED;
    run->drafts = o->draft && cli_output_open(&run->draft, o->draft) == CLI_OK;
    int status = o->draft && !run->drafts ? CLI_FAILED : CLI_OK;
    if (run->drafts) cli_output_text(&run->draft, "{\"components\": [\n");
    if (status == CLI_OK) status = probe_all(run);
    if (run->drafts) {
        cli_output_text(&run->draft, "]}\n");
        status = cli_output_close(&run->draft, run->drafted ? status : CLI_FAILED);
    }
    cli_document_end(&run->out, NULL);
    return cli_output_close(&run->out, status);
}

static int probe_run(const void *options, char **operands) {
    struct probe_run run = {.options = options};

    (void)operands;
    int status = probe_target(&run);
    cli_target_close(&run.target);
    return status;
}

const struct cli_command cli_probe = {
    .operands = "",
    .min_operands = 0,
    .max_operands = 0,
    .groups = groups,
    .size = sizeof(struct probe_options),
    .run = probe_run,
    .about = "Finds out what trace hardware is there and what it can do. Each component of the topology is reset and\n"
             "identified; then its fields are written and read back, never with Enable set, to find the values that\n"
             "it supports. They are compared with the topology. Trace that is running ends; --read-only only reads.\n"
             "\n"
             "Hardware does not say where its components are and how they are connected: the topology does. If there\n"
             "is none yet, --base names the bases, and --draft writes a first topology, in which all encoders lead to\n"
             "the first funnel and everything to the first sink; correct the connections by hand.\n"
             "\n"
             "The exit status is 1 if a component does not answer as specified or differs from the topology, 2 if\n"
             "the connection fails. docs/capture.md describes the connections.",
    .examples = "  ntrace probe -t soc.json --openocd localhost:6666\n"
                "  ntrace probe --base 0x10000000 --base 0x10020000 --gdb localhost:3333 --draft soc.json\n"
                "  ntrace probe -t soc.json --mem /dev/mem --format jsonl",
};
