/* ELF files: any file is refused or read, and look-ups work in every file that was read. */
#include "fuzz.h"

#include <ntrace/debug_info.h>
#include <ntrace/program_files.h>
#include <unistd.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static void ask(const ntr_program *program, uint64_t address) {
    ntr_insn insn;
    ntr_symbol symbol;
    ntr_code_range range;
    uint8_t bytes[16];
    ntr_program_read(program, ntr_place_at(NULL, NTR_POSITION_ANY, address), bytes, sizeof bytes);
    ntr_program_insn(program, ntr_place_at(NULL, NTR_POSITION_ANY, address), &insn);
    if (ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, address), &symbol) == NTR_OK)
        ntr_program_find(program, symbol.name, &symbol);
    else if (ntr_program_code_range(program, ntr_place_at(NULL, NTR_POSITION_ANY, address), &range) == NTR_OK)
        fuzz_must(address - range.address < range.size, "a range contains its address");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd;
    const char *path = fuzz_file((ntr_bytes){data, size}, &fd);
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_image_info info;
    if (!program) return 0;
    if (ntr_program_add_elf(program, path, NULL) == NTR_OK && ntr_program_image(program, 0, &info) == NTR_OK) {
        for (uint64_t i = 0; i < 64; i++) ask(program, info.low + i * ((info.high - info.low) / 64));
        ask(program, info.high);
        ask(program, info.low - 1);
        ntr_program_add_debug_symbols(program, 0, (ntr_bytes){data, size});
        ask(program, info.low);
    } else {
        fuzz_must(ntr_program_error(program)[0] != 0, "a refused file has an error message");
    }
    ntr_program_free(program);
    close(fd);
    return 0;
}
