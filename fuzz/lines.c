/* Line tables and ranges of units, which coverage reads: any file is refused or gives rows and units that keep their
 * rules. The same bytes are an index of a package. */
#include "fuzz.h"

#include "analysis/debug_units.h"
#include "analysis/dwarf_index.h"
#include "base/bytes.h"

#include <unistd.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static ntr_status check_unit(void *user, const ntr_debug_unit *unit) {
    size_t *visited = user;
    for (size_t i = 0; i < unit->range_count; i++)
        fuzz_must(unit->ranges[i][0] < unit->ranges[i][1], "a range of a unit is not empty");
    for (size_t i = 0; i < unit->statement_count; i++)
        fuzz_must(unit->statements[i].file != NULL, "a statement has a file");
    return ++*visited == 64 ? NTR_END : NTR_OK;
}

static void check_rows(const ntr_line_row *rows, size_t count) {
    for (size_t i = 1; i < count; i++) fuzz_must(rows[i - 1].address <= rows[i].address, "rows are sorted");
}

static void check_index(ntr_bytes bytes) {
    ntr_dwarf_index index;
    ntr_dwarf_part parts[NTR_DWO_SECTIONS];
    if (ntr_dwarf_index_read(&index, bytes)) return;
    for (uint32_t i = 0; i < index.slots && i < 64; i++) {
        const uint32_t row = ntr_dwarf_index_find(&index, ntr_little_64(index.hashes + i * (size_t)8));
        fuzz_must(row <= index.units, "a row is one of the index");
        if (row) ntr_dwarf_index_parts(&index, row, parts);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { FRAMES_MAX = 16 };
    ntr_frame frames[FRAMES_MAX];
    const ntr_line_row *rows;
    size_t count = 0, visited = 0;
    int fd;
    check_index((ntr_bytes){data, size});
    const char *path = fuzz_file((ntr_bytes){data, size}, &fd);
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_debug_info *debug = NULL;
    if (program && ntr_program_add_elf(program, path, NULL) == NTR_OK) ntr_debug_info_new(program, NULL, &debug);
    if (debug && ntr_debug_info_lines(debug, 0, &rows, &count) == NTR_OK) {
        check_rows(rows, count);
        for (size_t i = 0; i < count && i < 256; i++) {
            size_t found =
                ntr_debug_info_frames(debug, ntr_place_at(NULL, NTR_POSITION_ANY, rows[i].address), frames, FRAMES_MAX);
            fuzz_must(found <= FRAMES_MAX, "frames fit");
        }
        ntr_debug_info_units(debug, 0, check_unit, &visited);
    }
    ntr_debug_info_free(debug);
    ntr_program_free(program);
    close(fd);
    return 0;
}
