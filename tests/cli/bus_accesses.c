/* Performs accesses over a connection of <ntrace/target.h>, or on a model without one.
 *
 * usage: bus_accesses KIND PLACE < ACCESSES     KIND: that of ntr_bus_open, or "model" with a topology as PLACE
 *
 * Lines of the input: "r ADDRESS", "w ADDRESS VALUE", "m ADDRESS" (16 bytes of memory). Each is answered by a line. */
#include <ntrace/target.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16, STEPS = 100, BLOCK = 16 };

static ntr_system *model;

static int open_model(ntr_bus *bus, const char *path) {
    static uint8_t text[TEXT_MAX];
    FILE *file = fopen(path, "rb");
    ntr_system_config config;
    ntr_system_config_init(&config);
    if (!file) return 1;
    config.topology = (ntr_bytes){text, fread(text, 1, sizeof text, file)};
    fclose(file);
    ntr_system_new(&config, &model);
    if (!model) return 1;
    ntr_system_bus(model, bus);
    return 0;
}

static int open_connection(ntr_bus *bus, const char *kind, const char *place) {
    char error[200] = "";
    ntr_bus_options options;
    ntr_bus_options_init(&options);
    options.kind = kind;
    options.place = place;
    options.error = error;
    options.error_size = sizeof error;
    const ntr_status status = ntr_bus_open(bus, &options);
    if (status != NTR_OK) fprintf(stderr, "%s %s: %s (%s)\n", kind, place, error, ntr_status_text(status));
    return status != NTR_OK;
}

static ntr_status read_block(const ntr_bus *bus, uint64_t address, uint8_t out[BLOCK]) {
    if (bus->read_memory) return bus->read_memory(bus->user, address, out, BLOCK);
    for (unsigned i = 0; i < BLOCK; i += 4) {
        uint32_t word;
        if (bus->read32(bus->user, address + i, &word) != NTR_OK) return NTR_E_IO;
        for (unsigned k = 0; k < 4; k++) out[i + k] = (uint8_t)(word >> 8 * k);
    }
    return NTR_OK;
}

static void answer(const ntr_bus *bus, const char *line) {
    uint32_t word = 0;
    uint8_t bytes[BLOCK];
    char *end;
    const uint64_t address = strtoull(line + 2, &end, 0);
    ntr_status status = NTR_OK;
    if (*line == 'w')
        status = bus->write32(bus->user, address, (uint32_t)strtoul(end, NULL, 0));
    else if (*line == 'r')
        status = bus->read32(bus->user, address, &word);
    else
        status = read_block(bus, address, bytes);
    if (model) ntr_system_step(model, STEPS);
    if (status != NTR_OK)
        puts("error");
    else if (*line == 'w')
        puts("ok");
    else if (*line == 'r')
        printf("0x%08" PRIx32 "\n", word);
    else
        for (unsigned i = 0; i < BLOCK; i++) printf("%02x%s", bytes[i], i + 1 < BLOCK ? " " : "\n");
}

int main(int argc, char **argv) {
    ntr_bus bus;
    char line[128];
    if (argc != 3 ||
        (strcmp(argv[1], "model") == 0 ? open_model(&bus, argv[2]) : open_connection(&bus, argv[1], argv[2])))
        return 2;
    while (fgets(line, sizeof line, stdin)) answer(&bus, line);
    if (bus.close) bus.close(bus.user);
    ntr_system_free(model);
    return 0;
}
