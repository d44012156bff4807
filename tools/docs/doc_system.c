/* Prints docs/system.md: how a topology is written, with every option from the table. */
#include "system/options.h"

#include <inttypes.h>
#include <stdio.h>

static void print_value(const option_info *info, uint64_t value) {
    if (value == OPTION_NONE) {
        printf("-");
    } else if (info->type == OPTION_FLAG) {
        printf("%s", value ? "true" : "false");
    } else if (info->type == OPTION_NUMBER) {
        printf("%" PRIu64, value);
    } else {
        const char *between = "";
        for (unsigned n = 0; n < 64; n++)
            if (value >> n & 1) {
                printf("%s%u", between, n);
                between = " ";
            }
    }
}

static void print_option(const option_info *info) {
    static const char *const types[] = {"number", "true, false", "list"};
    printf("| `%s` | %s", info->name, types[info->type]);
    if (info->type != OPTION_FLAG) printf(", %" PRIu64 " to %" PRIu64, info->least, info->most);
    for (unsigned preset = 0; preset < PRESET_COUNT; preset++) {
        printf(" | ");
        print_value(info, info->preset[preset]);
    }
    printf(" | %s |\n", info->meaning);
}

static void print_component(ntr_component kind) {
    const option_info *info;
    printf("\n## %s: `%s`\n\n| key | value | minimal | typical | maximal | |\n|---|---|---|---|---|---|\n",
           ntr_component_get(kind)->title, ntr_component_get(kind)->name);
    for (size_t i = 0; (info = option_get(i)); i++)
        if (info->components >> kind & 1) print_option(info);
}

static const char text[] =
    "# Systems\n\n"
    "`ntrace/system.h` is the trace hardware as software, behind its registers (`docs/registers.md`). A topology says\n"
    "which components there are, where, and how they are connected. `examples/system.c` shows the whole use.\n\n"
    "```json\n"
    "{\"components\": [\n"
    "  {\"name\": \"te0\", \"type\": \"encoder\", \"base\": \"0x10000000\", \"hart\": 0, \"to\": \"funnel:0\"},\n"
    "  {\"name\": \"te1\", \"type\": \"encoder\", \"base\": \"0x10001000\", \"hart\": 1, \"to\": \"funnel:1\",\n"
    "   \"preset\": \"minimal\", \"modes\": [3, 6], \"set\": {\"trTeInstMode\": 6}},\n"
    "  {\"name\": \"funnel\", \"type\": \"funnel\", \"base\": \"0x10010000\", \"to\": \"ram\"},\n"
    "  {\"name\": \"ram\", \"type\": \"ram\", \"base\": \"0x10020000\", \"sram\": 4096}]}\n"
    "```\n\n"
    "Numbers may be written as text (`\"0x1000\"`). A key that is not known is an error; errors name the place, what was\n"
    "expected and what was found. At most 256 components in at\n"
    "most 1 MiB of text.\n\n"
    "| key | |\n|---|---|\n"
    "| `about` | beside `components`: anything |\n"
    "| `name` | needed, without colon, once |\n"
    "| `type` | needed: encoder, funnel, ram, pib, atb |\n"
    "| `base` | needed: a multiple of 0x1000, once |\n"
    "| `to` | encoders and funnels: where the trace goes, a name or a list of names; `\"funnel:3\"` is input 3, `\"funnel\"` the first free one |\n"
    "| `preset` | minimal, typical (when not given) or maximal: values of everything below that is not given |\n"
    "| `ts_source` | the encoder or funnel that shared timestamps (trTsMode 4) come from |\n"
    "| `set` | fields by name and values: what `ntr_system_start` writes |\n\n"
    "## Behaviour where the specification leaves a choice\n\n"
    "* A sender gives a message to those of its receivers that are enabled, when all of these have room; while none is\n"
    "  enabled it waits. Wrong orders of switching lose nothing; resetting a component (Active = 0) discards what its\n"
    "  receivers do not take, and counts it.\n"
    "* A WARL field that is given a value it does not support keeps the old one; what is not 0 never becomes 0. Buffer\n"
    "  addresses go to the nearest end of their range. After a reset undefined fields hold their lowest legal value.\n"
    "* While a component is not active everything but Control reads 0. A RAM sink whose addresses contradict each other,\n"
    "  and a PIB sink in mode 0, cannot be enabled: Enable reads back 0. trRamMode, trPibMode and the addresses of a sink\n"
    "  that is at work stay. trRamStopOnWrap: WP = Start, Wrap = 1, Enable = 0 (TC-3).\n"
    "* Flushing takes no time. A disabled encoder waits 16 cycles for the target of its last jump, then tells the jump\n"
    "  by I-CNT only. A new configuration takes effect when trTeEnable is set.\n"
    "* A comparator that looks at iaddr is true for a block when one of the block's instructions makes it true. The window\n"
    "  of an exception or interrupt filter goes from the block that the trap ends to the one that the return ends.\n"
    "* `rate` 0 is no limit: without rates, and without PIB sinks, a system works without a single step.\n";

int main(void) {
    printf("%s", text);
    for (unsigned kind = 0; kind < NTR_COMPONENT_COUNT; kind++)
        if (ntr_component_get(kind)->type) print_component((ntr_component)kind);
    return 0;
}
