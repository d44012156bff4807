/* Prints docs/system.md: how a topology is written, with every option from the table. */
#include "system/component.h"

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
    "# Systems\n"
    "\n"
    "`ntrace/system.h` models the trace hardware that is reached by its registers ([registers.md](registers.md)). A topology lists the\n"
    "components, their addresses and how they are connected. `examples/system.c` is a complete example.\n"
    "\n"
    "```json\n"
    "{\"components\": [\n"
    "  {\"name\": \"te0\", \"type\": \"encoder\", \"base\": \"0x10000000\", \"hart\": 0, \"to\": \"funnel:0\"},\n"
    "  {\"name\": \"te1\", \"type\": \"encoder\", \"base\": \"0x10001000\", \"hart\": 1, \"to\": \"funnel:1\",\n"
    "   \"preset\": \"minimal\", \"modes\": [3, 6], \"set\": {\"trTeInstMode\": 6}},\n"
    "  {\"name\": \"funnel\", \"type\": \"funnel\", \"base\": \"0x10010000\", \"to\": \"ram\"},\n"
    "  {\"name\": \"ram\", \"type\": \"ram\", \"base\": \"0x10020000\", \"sram\": 4096}]}\n"
    "```\n"
    "\n"
    "Numbers may be written as text (`\"0x1000\"`). An unknown key is an error. Error messages have the place, what was\n"
    "expected and what was found. The limits are 256 components and 1 MiB of text.\n"
    "\n"
    "| key | |\n"
    "|---|---|\n"
    "| `about` | beside `components`: any value; ignored |\n"
    "| `name` | required; unique; at most 64 letters, digits and `_ . -`, the first no `-` |\n"
    "| `type` | required: encoder, funnel, ram, pib, atb; Arm CoreSight: csfunnel, etb, etf, etr (or tmc with `tmc_type`) |\n"
    "| `base` | required: address, a multiple of 0x1000, unique |\n"
    "| `to` | the receivers, a name or a list of names; required for encoders and funnels; an ATB bridge and an ETF without it are sinks; `\"funnel:3\"` is input 3, `\"funnel\"` the first free input |\n"
    "| `preset` | minimal, typical (default) or maximal: the default of every key below |\n"
    "| `ts_source` | the encoder or funnel that provides shared timestamps (trTsMode 4) |\n"
    "| `set` | names and values of fields that `ntr_system_start` writes |\n"
    "| `prefer` | the same for values that the hardware need not accept |\n"
    "\n"
    "## Behaviour where the specification leaves a choice\n"
    "\n"
    "* A sender passes a message to all of its receivers that are enabled, when all of these have space. While no receiver\n"
    "  is enabled, the message waits. Thus no order of enabling and disabling loses messages. Resetting a component\n"
    "  (Active = 0) discards what its receivers do not take, and counts it.\n"
    "* A write of an unsupported value to a WARL field keeps the old value; a field that is not 0 never becomes 0 in this way.\n"
    "  Buffer addresses are set to the nearest end of their range. After a reset, undefined fields have their lowest\n"
    "  legal value.\n"
    "* While a component is not active, all registers except Control read 0. A RAM sink with contradicting addresses,\n"
    "  and a PIB sink in mode 0, cannot be enabled: Enable reads back 0. trRamMode, trPibMode and the addresses of a sink\n"
    "  that is enabled cannot be changed. trRamStopOnWrap sets WP = Start, Wrap = 1, Enable = 0 (TC-3).\n"
    "* Flushing takes no time. A disabled encoder waits 16 cycles for the target of its last jump; after that it reports the\n"
    "  jump by I-CNT only. A new configuration takes effect when trTeEnable is set.\n"
    "* A comparator with input iaddr is true for a block when it is true for at least one of the block's instructions. The\n"
    "  window of an exception or interrupt filter extends from the block that the trap ends to the block that the return\n"
    "  ends.\n"
    "* An ATB bridge with a receiver gives its trace ID to its messages; funnels of either kind keep it. A CoreSight funnel\n"
    "  takes messages from enabled inputs only; at the others they wait.\n"
    "* The sinks that `ntrace run --topology` reads are those that pass nothing on. An ETR needs `smem_start` and `smem_size`.\n"
    "* A TMC takes its configuration when tmcTraceCaptEn is set, and then ignores writes to all registers but\n"
    "  tmcFormatterControl. Clearing tmcTraceCaptEn without a flush loses the frame that is not complete. The read pointer of a\n"
    "  circular buffer is the write pointer once it has wrapped. A formatter repeats the trace ID at least every 10 frames. An\n"
    "  ETR whose memory or table of pages does not answer stops with tmcMemErr.\n"
    "* `rate` 0 means no limit. Without rates and without PIB sinks, a system needs no call of `ntr_system_step`.\n";

int main(void) {
    printf("%s", text);
    for (unsigned kind = 0; kind < NTR_COMPONENT_COUNT; kind++)
        if (ntr_component_get(kind)->type) print_component((ntr_component)kind);
    return 0;
}
