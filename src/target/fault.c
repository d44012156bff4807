/* Sentences about what went wrong: component, base, register, value, what was expected, and what to try. */
#include "target/target.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct report {
    ntr_target *target;
    bring_up_fault fault;
    trace_component *component;
    char *out;
    size_t size;
} report;

static void __attribute__((format(printf, 2, 3))) say(const report *to, const char *format, ...) {
    va_list arguments;
    const int length = snprintf(to->out, to->size, "%s at 0x%" PRIx64 ": ", to->component->name, to->component->base);
    if (length < 0 || (size_t)length >= to->size) return;
    va_start(arguments, format);
    vsnprintf(to->out + length, to->size - (size_t)length, format, arguments);
    va_end(arguments);
}

static unsigned milliseconds(const report *to) {
    return to->target->config.timeout_ms;
}

/* Returns the register with the field of the step, or 0 when it cannot be read. */
static uint32_t word_of(const report *to, ntr_register reg) {
    uint32_t word = 0;
    bring_up_read(&to->target->on, to->component, reg, 0, &word);
    return word;
}

/* ---- nobody answers */

static void explain_access(const report *to) {
    char name[48];
    const ntr_bus *bus = &to->target->bus;
    const char *why = bus->error ? bus->error(bus->user) : "";
    if (to->fault.step.kind == STEP_STORE) {
        say(to, "write to its buffer at 0x%" PRIx64 " failed%s%s%s", to->fault.step.address, *why ? " (" : "", why,
            *why ? ")" : "");
        return;
    }
    ntr_register_name(to->fault.step.reg, to->fault.step.number, name, sizeof name);
    say(to, "%s of %s failed%s%s%s: is this its base?%s%s", to->fault.wrote ? "write" : "read", name, *why ? " (" : "",
        why, *why ? ")" : "", bus->advice ? " " : "", bus->advice ? bus->advice : "");
}

/* Returns whether registers that differ in every component have the same value: nothing drives the bus. */
static bool same_everywhere(const report *to, uint32_t *value) {
    static const uint16_t offsets[] = {0x000, 0x004, 0x008, 0x7fc, 0xe00, 0xffc};
    const ntr_bus *bus = &to->target->bus;
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        uint32_t word;
        if (bus->read32(bus->user, to->component->base + offsets[i], &word) != NTR_OK) return false;
        if (i && word != *value) return false;
        *value = word;
    }
    return true;
}

/* Says that there is no component, if it looks so. */
static bool explain_absence(const report *to) {
    uint32_t value = 0;
    if (!same_everywhere(to, &value)) return false;
    if (value)
        say(to, "reads 0x%08" PRIx32 " everywhere in its page: no component, or its power domain is off", value);
    else if (to->target->bus.hides_errors)
        say(to, "reads 0: OpenOCD reports failed reads as 0 unless gdb_report_data_abort is enabled; use --openocd");
    else
        say(to,
            "reads 0 everywhere in its page, also after trXxActive was written: no component at this base, no clock, or "
            "writes do not arrive (PMP, read-only path)");
    return true;
}

/* ---- wrong values */

static const char *name_of_type(uint32_t type) {
    for (unsigned i = 0; i < NTR_COMPONENT_COUNT; i++)
        if (ntr_component_get(i)->type && ntr_component_get(i)->type == type) return ntr_component_get(i)->name;
    return "unknown";
}

static void explain_type(const report *to) {
    const uint32_t expected = to->fault.step.value, found = to->fault.found;
    const ntr_system *system = to->target->system;
    if (explain_absence(to)) return;
    for (size_t i = 0; i < system->count; i++) {
        const trace_component *one = system->components[i];
        if (ntr_component_get(one->ops->kind)->type != found) continue;
        say(to, "type %" PRIu32 " (%s), expected %" PRIu32 " (%s): check the topology; this base would fit %s", found,
            name_of_type(found), expected, name_of_type(expected), one->name);
        return;
    }
    say(to, "type %" PRIu32 " (%s), expected %" PRIu32 " (%s): check the topology", found, name_of_type(found),
        expected, name_of_type(expected));
}

static void explain_version(const report *to) {
    const uint32_t impl = word_of(to, to->fault.step.reg);
    const unsigned major = impl & 15, minor = impl >> 4 & 15;
    if (!major)
        say(to,
            "version 0.%u (Impl 0x%08" PRIx32
            "): the interface before ratification; its registers differ from 1.0, and "
            "its stream may need --dialect ('ntrace help dialects')",
            minor, impl);
    else
        say(to, "version %u.%u (Impl 0x%08" PRIx32 "), expected 1.x: this interface is not compatible with 1.0", major,
            minor, impl);
}

static void explain_protocol(const report *to) {
    const uint32_t impl = word_of(to, to->fault.step.reg);
    say(to,
        "trace protocol %u.%u (Impl 0x%08" PRIx32
        "), expected N-Trace 1.x: its stream cannot be decoded as N-Trace 1.0",
        impl >> 16 & 15, impl >> 20 & 15, impl);
}

static void explain_active(const report *to) {
    const uint32_t word = word_of(to, to->fault.step.reg);
    if (explain_absence(to)) return;
    if (to->fault.step.value)
        say(to,
            "%s does not become 1 (0x%08" PRIx32
            " after %u ms): clock gated or powered down? Enable trace clocks, or run "
            "the hart first",
            ntr_bits_get(to->fault.step.bits)->name, word, milliseconds(to));
    else
        say(to, "%s does not become 0 (0x%08" PRIx32 " after %u ms): the reset does not end, or writes do not arrive",
            ntr_bits_get(to->fault.step.bits)->name, word, milliseconds(to));
}

static void explain_enable(const report *to) {
    const char *name = ntr_bits_get(to->fault.step.bits)->name;
    ntr_ram_window window;
    if (explain_absence(to)) return;
    if (!to->fault.step.value) {
        say(to, "%s does not become 0 after %u ms", name, milliseconds(to));
    } else if (target_is_ram(to->component) && bring_up_window(&to->target->on, to->component, &window) == NTR_OK) {
        say(to,
            "%s stays 0: Start 0x%" PRIx64 " Limit 0x%" PRIx64 " WP 0x%" PRIx64
            " contradict each other, or are outside "
            "of the memory that the sink reaches",
            name, window.start, window.limit, window.wp);
    } else {
        say(to, "%s stays 0 (Control 0x%08" PRIx32 ")%s", name, word_of(to, to->fault.step.reg),
            to->component->ops->kind == NTR_COMPONENT_PIB ? ": is trPibMode 0?" : "");
    }
}

static void explain_empty(const report *to) {
    const char *name = ntr_bits_get(to->fault.step.bits)->name;
    char receivers[160] = "";
    for (size_t i = 0; i < to->component->output_count; i++) {
        trace_component *one = to->component->outputs[i].to;
        const common_bits *bits = component_bits(one->ops->kind);
        const size_t used = strlen(receivers);
        uint32_t enabled = 0;
        if (is_coresight(one)) continue;
        bring_up_get(&to->target->on, one, bits->enable, &enabled);
        snprintf(receivers + used, sizeof receivers - used, "%s%s has Enable=%" PRIu32, used ? ", " : " while ",
                 one->name, enabled);
    }
    say(to, "%s stays 0 for %u ms%s: data cannot leave; the other components are disabled all the same", name,
        milliseconds(to), receivers);
}

static void explain_set(const report *to) {
    const ntr_bits_info *info = ntr_bits_get(to->fault.step.bits);
    say(to, "%s rejects the value %" PRIu32 " (reads back %" PRIu32 "): this hardware does not support it", info->name,
        to->fault.step.value, to->fault.found);
}

/* ---- CoreSight */

/* A component of the topology that has this csDevType. */
static const trace_component *fits_devtype(const report *to, uint32_t found) {
    const ntr_system *system = to->target->system;
    for (size_t i = 0; i < system->count; i++)
        if (is_coresight(system->components[i]) && coresight_devtype(system->components[i]) == found)
            return system->components[i];
    return NULL;
}

static void explain_devtype(const report *to) {
    const trace_component *other = fits_devtype(to, to->fault.found);
    if (explain_absence(to)) return;
    say(to, "csDevType reads 0x%02" PRIx32 ", expected 0x%02" PRIx32 " (%s): check the topology%s%s", to->fault.found,
        to->fault.step.value, ntr_bits_meaning(NTR_BITS_CS_DEVTYPE_TYPE, to->fault.step.value),
        other ? "; this base would fit " : "", other ? other->name : "");
}

static void explain_claim(const report *to) {
    if (to->fault.step.value) {
        say(to, "csClaimSet does not set the claim tag (csClaimClr 0x%" PRIx32 "): writes do not arrive",
            word_of(to, NTR_REGISTER_CS_CLAIMCLR));
        return;
    }
    say(to, "claimed by %s (csClaimClr 0x%" PRIx32 "): %s",
        to->fault.step.bits == NTR_BITS_CS_CLAIM_SELF_HOSTED ? "software of the target, such as Linux" : "a debugger",
        word_of(to, NTR_REGISTER_CS_CLAIMCLR),
        to->fault.step.bits == NTR_BITS_CS_CLAIM_SELF_HOSTED
            ? "end its trace (perf, or echo 0 > enable_source and enable_sink), or read what runs with --running"
            : "end the other capture");
}

static void explain_coresight(const report *to) {
    const ntr_bits field = to->fault.step.bits;
    const char *name = ntr_bits_get(field)->name;
    switch (field) {
    case NTR_BITS_CS_DEVTYPE_TYPE: explain_devtype(to); return;
    case NTR_BITS_CS_LSR_LOCKED:
        say(to,
            "csLocked stays 1 after the key 0xc5acce55 was written to csLockAccess: writes do not arrive, or are not permitted");
        return;
    case NTR_BITS_CS_CLAIM_EXTERNAL:
    case NTR_BITS_CS_CLAIM_SELF_HOSTED: explain_claim(to); return;
    case NTR_BITS_CS_DEVID_TMC_TYPE:
        say(to, "csTmcType reads %" PRIu32 " (%s), expected %" PRIu32 " (%s): check the topology", to->fault.found,
            ntr_bits_meaning(field, to->fault.found) ? ntr_bits_meaning(field, to->fault.found) : "unknown",
            to->fault.step.value, ntr_bits_meaning(field, to->fault.step.value));
        return;
    case NTR_BITS_TMC_READY:
        say(to,
            "tmcReady stays 0 after %u ms (tmcStatus 0x%" PRIx32 "): capture does not stop; does the memory answer?",
            milliseconds(to), word_of(to, NTR_REGISTER_TMC_STS));
        return;
    case NTR_BITS_TMC_FLUSH:
        say(to,
            "tmcFlushMan stays 1 for %u ms (tmcStatus 0x%" PRIx32
            "): the flush does not end; a component before it has no clock, or nothing takes its data",
            milliseconds(to), word_of(to, NTR_REGISTER_TMC_STS));
        return;
    default: break;
    }
    if (to->fault.step.kind == STEP_SET)
        say(to, "%s keeps 0x%" PRIx32 " after 0x%" PRIx32 " was written%s", name, to->fault.found, to->fault.step.value,
            field == NTR_BITS_TMC_CAPTURE ? ": capture does not start"
                                          : ": the register does not work, or is too narrow");
    else
        say(to, "%s reads %" PRIu32 ", expected %" PRIu32, name, to->fault.found, to->fault.step.value);
}

static void explain_value(const report *to) {
    const common_bits *bits = component_bits(to->component->ops->kind);
    const ntr_bits field = to->fault.step.bits;
    if (is_coresight(to->component))
        explain_coresight(to);
    else if (to->fault.step.kind == STEP_SET)
        explain_set(to);
    else if (field == bits->active)
        explain_active(to);
    else if (field == bits->enable)
        explain_enable(to);
    else if (field == bits->empty)
        explain_empty(to);
    else if (field == bits->type)
        explain_type(to);
    else if (field == bits->major)
        explain_version(to);
    else if (field == NTR_BITS_TE_PROTOCOL_MAJOR)
        explain_protocol(to);
    else
        say(to, "%s reads %" PRIu32 ", expected %" PRIu32, ntr_bits_get(field)->name, to->fault.found,
            to->fault.step.value);
}

void target_explain(ntr_target *target, char *out, size_t size) {
    /* A copy: reading registers for the report may fail, too. */
    const report to = {target, target->on.fault, target->on.fault.step.component, out, size};
    out[0] = 0;
    if (!to.component) return;
    if (to.fault.status == NTR_E_IO)
        explain_access(&to);
    else
        explain_value(&to);
    target->on.fault = to.fault;
}
