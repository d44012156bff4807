#include "commands/capture/run.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool capture_time(const char *text, uint64_t *ms) {
    static const struct {
        const char *unit;
        uint64_t factor;
    } units[] = {{"ms", 1}, {"s", MS_IN_S}, {"min", 60 * MS_IN_S}};
    char number[24];
    const size_t digits = strspn(text, "0123456789");

    if (!digits || digits >= sizeof number) return false;
    memcpy(number, text, digits);
    number[digits] = 0;
    if (!cli_parse_number(number, ms) || !*ms || *ms > UINT64_MAX / (60 * MS_IN_S)) return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text + digits, units[i].unit) != 0) continue;
        *ms *= units[i].factor;
        return true;
    }
    return false;
}

static bool find_component(const struct capture_run *run, const char *name, size_t length, size_t *index) {
    ntr_system_component one;

    for (size_t i = 0; ntr_system_component_get(ntr_target_components(run->target.target), i, &one) == NTR_OK; i++) {
        if (strlen(one.name) != length || strncmp(one.name, name, length) != 0) continue;
        *index = i;
        return true;
    }
    return false;
}

/* Returns whether the component passes nothing on. */
static bool is_sink(const struct capture_run *run, size_t index) {
    const char *to;
    unsigned input;

    return ntr_system_link_get(ntr_target_components(run->target.target), index, 0, &to, &input) == NTR_END;
}

/* Without a RAM sink, the trace leaves the chip while it runs. */
static int find_exit(struct capture_run *run) {
    const struct capture_options *o = run->options;
    ntr_system_component one;

    for (size_t i = 0; ntr_system_component_get(ntr_target_components(run->target.target), i, &one) == NTR_OK; i++)
        if (one.kind == NTR_COMPONENT_PIB || (one.kind == NTR_COMPONENT_ATB && is_sink(run, i))) run->leaves = one.name;
    if (!run->leaves)
        return cli_fail(
            "%s: expected a component that stores the trace or passes it on (RAM sink, PIB, ATB), found none; add it",
            o->topology);
    if (!o->bundle && !o->until_full) return CLI_OK;
    return cli_fail(
        "%s: %s: expected a RAM sink, found only %s, whose trace another device records; leave out %s to start and stop it",
        o->topology, o->until_full ? "--until-full" : "-o", run->leaves, o->until_full ? "--until-full" : "-o");
}

static int find_sink(struct capture_run *run) {
    const char *name = run->options->sink;
    ntr_system_component one;
    unsigned count = 0;

    for (size_t i = 0; ntr_system_component_get(ntr_target_components(run->target.target), i, &one) == NTR_OK; i++) {
        if ((one.kind != NTR_COMPONENT_RAM && !(one.kind == NTR_COMPONENT_TMC && is_sink(run, i))) ||
            (name && strcmp(name, one.name) != 0))
            continue;
        run->sink = i;
        count++;
    }
    if (count == 1) return run->options->bundle ? CLI_OK : cli_fail("expected -o BUNDLE");
    if (name)
        return cli_fail("--sink: expected the name of a RAM sink or TMC of %s, found '%s'", run->options->topology,
                        name);
    return count ? cli_fail("%s has %u sinks; choose one with --sink", run->options->topology, count) : find_exit(run);
}

static int set_buffer(struct capture_run *run, const char *text) {
    size_t sink = run->sink;
    uint64_t address, size;
    const char *equals = strchr(text, '='), *colon = strpbrk(equals ? equals + 1 : text, ":,");
    const char *number = equals ? equals + 1 : text;
    char first[40];

    if (equals && !find_component(run, text, (size_t)(equals - text), &sink))
        return cli_fail("--buffer: no component of the topology has the name in '%s'", text);
    if (!colon || colon < number || (size_t)(colon - number) >= sizeof first)
        return cli_fail("--buffer: expected ADDRESS:SIZE, found '%s'", text);
    memcpy(first, number, (size_t)(colon - number));
    first[colon - number] = 0;
    if (!cli_parse_number(first, &address) || !cli_parse_number(colon + 1, &size))
        return cli_fail("--buffer: expected ADDRESS:SIZE, found '%s'", text);
    const ntr_status status = ntr_target_set_buffer(run->target.target, sink, address, size);
    if (sink == run->sink) run->buffer_bytes = size;
    if (status == NTR_OK) return CLI_OK;
    return cli_fail("--buffer %s: %s", text,
                    status == NTR_E_INVALID
                        ? "not a sink in system memory"
                        : "expected whole words of the sink (an ETR: multiples of 16, with tables of 4096)");
}

static int set_field(struct capture_run *run, const char *text) {
    const char *dot = strchr(text, '.'), *equals = dot ? strchr(dot, '=') : NULL;
    char field[64], *colon;
    uint64_t value, number = 0;
    size_t component;

    if (!equals || (size_t)(equals - dot) > sizeof field || !cli_parse_number(equals + 1, &value) || value > UINT32_MAX)
        return cli_fail("--set: expected NAME.FIELD=VALUE, found '%s'", text);
    memcpy(field, dot + 1, (size_t)(equals - dot - 1));
    field[equals - dot - 1] = 0;
    if ((colon = strchr(field, ':'))) {
        if (!cli_parse_number(colon + 1, &number) || number > UINT8_MAX)
            return cli_fail("--set: expected FIELD:NUMBER, found '%s'", field);
        *colon = 0;
    }
    if (!find_component(run, text, (size_t)(dot - text), &component))
        return cli_fail("--set: no component '%.*s' in %s", (int)(dot - text), text, run->options->topology);
    const ntr_status status = ntr_target_set(run->target.target, component, field, (unsigned)number, (uint32_t)value);
    return status == NTR_OK ? CLI_OK
                            : cli_fail("--set %s: %s", text,
                                       status == NTR_E_NAME ? "not a field of this component ('ntrace regs')"
                                                            : "the value does not fit");
}

static int set_option(struct capture_run *run, const struct cli_item *item) {
    const ntr_status status = ntr_target_set_option(run->target.target, item->name, item->value);

    if (status == NTR_OK) return CLI_OK;
    if (status == NTR_E_UNSUPPORTED)
        return cli_fail(
            "--%s: trace hardware has no register for it; the hardware fixes it, or the topology describes it",
            item->name);
    if (status == NTR_E_LIMIT) return cli_fail("--%s: more conditions than trace hardware has comparators", item->name);
    return cli_fail("--%s: '%s': %s", item->name, item->value ? item->value : "", ntr_status_text(status));
}

static ntr_component kind_of_sink(const struct capture_run *run) {
    ntr_system_component one;

    if (run->leaves) return NTR_COMPONENT_COUNT;
    return ntr_system_component_get(ntr_target_components(run->target.target), run->sink, &one) == NTR_OK
               ? one.kind
               : NTR_COMPONENT_COUNT;
}

/* Branch trace of one hart of a K3 fills about 1 MiB in 1.5 milliseconds. */
enum { BYTES_IN_MS = 700000 };

static void warn_small(const struct capture_run *run) {
    const uint64_t bytes = run->buffer_bytes;
    ntr_system_component one;
    uint64_t harts = 0;

    for (size_t i = 0; ntr_system_component_get(ntr_target_components(run->target.target), i, &one) == NTR_OK; i++)
        harts += one.kind == NTR_COMPONENT_ENCODER;
    if (!bytes || bytes >= harts * BYTES_IN_MS) return;
    cli_note("the buffer of %" PRIu64 " bytes may hold less than the last millisecond of %" PRIu64
             " busy harts (about %d bytes each); --hart traces fewer, --buffer gives more",
             bytes, harts, BYTES_IN_MS);
}

int capture_configure(struct capture_run *run) {
    const struct capture_options *o = run->options;
    int status = find_sink(run);

    for (size_t i = 0; status == CLI_OK && i < o->buffers.count; i++)
        status = set_buffer(run, o->buffers.items[i].value);
    for (size_t i = 0; status == CLI_OK && i < o->sets.count; i++) status = set_field(run, o->sets.items[i].value);
    for (size_t i = 0; status == CLI_OK && i < o->encoder.list.count; i++)
        status = set_option(run, &o->encoder.list.items[i]);
    if (status == CLI_OK && o->until_full && kind_of_sink(run) == NTR_COMPONENT_TMC)
        return cli_fail("--until-full: a TMC does not stop when its buffer is full; use --for");
    if (status == CLI_OK && kind_of_sink(run) == NTR_COMPONENT_TMC) warn_small(run);
    if (status == CLI_OK && o->until_full &&
        ntr_target_set(run->target.target, run->sink, "trRamStopOnWrap", 0, 1) != NTR_OK)
        status = cli_fail("out of memory");
    return status;
}
