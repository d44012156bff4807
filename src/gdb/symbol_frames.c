/* A common entry (CIE) has the rules of all code of the file; entries (FDEs) of code have only their addresses. Those
 * of return places have their rules, too, because each one saves words in another place. */
#include "gdb/symbol_frames.h"
#include "base/allocator.h"
#include "base/bytes.h"
#include "unwind/invented_stack.h"

ntr_status ntr_gdb_region_add(ntr_gdb_regions *regions, uint64_t low, uint64_t high, uint64_t gap) {
    ntr_gdb_region *last = regions->count ? &regions->items[regions->count - 1] : NULL;
    if (last && (low <= last->high || low - last->high <= gap)) {
        if (high > last->high) last->high = high;
        return NTR_OK;
    }
    if (regions->count >= NTR_GDB_REGIONS_MAX) return NTR_OK;
    if (ntr_reserve(regions->allocator, (void **)&regions->items, &regions->capacity, regions->count + 1,
                    sizeof *regions->items))
        return NTR_E_MEMORY;
    regions->items[regions->count++] = (ntr_gdb_region){.low = low, .high = high};
    return NTR_OK;
}

bool ntr_gdb_regions_contain(const ntr_gdb_regions *regions, uint64_t address) {
    for (size_t i = 0; i < regions->count; i++)
        if (address >= regions->items[i].low && address < regions->items[i].high) return true;
    return false;
}

enum {
    ENTRY_MOST = 64,       /* bytes */
    PC_COLUMN = 64,        /* DWARF number of the alternate frame return column (psABI); no register */
    DATA_FACTOR = 0x7f,    /* -1: offsets are distances below the CFA */
};

/* Instructions. */
enum { CFA_NOP = 0x00, CFA_OFFSET_EXTENDED = 0x05, CFA_DEF_CFA = 0x0c };

/* Places of the words of a frame, in words below the CFA; it has FRAME_WORDS words. */
enum { RETURN_WORD = 1, RA_WORD = 2, FP_WORD = 3, FRAME_WORDS = 4 };

typedef struct cfi_writer {
    uint8_t *bytes;
    size_t size;
} cfi_writer;

ntr_frame_rule ntr_gdb_symbol_frames_rule(unsigned xlen) {
    const int64_t word = xlen / 8;
    return (ntr_frame_rule){
        .offset = FRAME_WORDS * word,
        .by_t0 = true,
        .t0 = {.saved = true, .offset = -RETURN_WORD * word},
        .ra = {.saved = true, .offset = -RA_WORD * word},
        .fp = {.saved = true, .offset = -FP_WORD * word},
    };
}

static void put(cfi_writer *w, uint64_t value, unsigned bytes) {
    ntr_little_put(w->bytes + w->size, value, bytes);
    w->size += bytes;
}

static void put_leb128(cfi_writer *w, uint64_t value) {
    for (; value > 0x7f; value >>= 7) put(w, (value & 0x7f) | 0x80, 1);
    put(w, value, 1);
}

/* The value of a register (or the return address) is saved so many bytes below the CFA. */
static void put_saved(cfi_writer *w, unsigned column, uint64_t below) {
    put(w, CFA_OFFSET_EXTENDED, 1);
    put_leb128(w, column);
    put_leb128(w, below);
}

/* Ends an entry that begins at `start`: pads it, and stores its length. */
static void end_entry(cfi_writer *w, size_t start, unsigned word) {
    while ((w->size - start - 4) % word) put(w, CFA_NOP, 1);
    const size_t size = w->size;
    w->size = start;
    put(w, size - start - 4, 4);
    w->size = size;
}

static void put_common_entry(cfi_writer *w, ntr_gdb_symbol_kind kind, unsigned word) {
    enum { CIE_VERSION = 1, CIE_CODE_FACTOR = 1 };
    const bool places = kind == NTR_GDB_SYMBOL_RETURN_PLACES;
    const size_t start = w->size;
    put(w, 0, 4);
    put(w, UINT32_MAX, 4);
    put(w, CIE_VERSION, 1);
    if (places) put(w, 'S', 1); /* a signal frame: its caller is looked up at its address, not at the one before */
    put(w, 0, 1);
    put(w, CIE_CODE_FACTOR, 1);
    put(w, DATA_FACTOR, 1);
    put(w, places ? PC_COLUMN : NTR_REG_T0, 1);
    put(w, CFA_DEF_CFA, 1);
    put_leb128(w, NTR_REG_SP);
    put_leb128(w, places ? 0 : FRAME_WORDS * word);
    if (!places) {
        put_saved(w, NTR_REG_T0, RETURN_WORD * word);
        put_saved(w, NTR_REG_RA, RA_WORD * word);
        put_saved(w, NTR_REG_FP, FP_WORD * word);
    }
    end_entry(w, start, word);
}

static void put_range(cfi_writer *w, uint64_t low, uint64_t size, unsigned word) {
    put(w, 0, 4); /* the length is stored later */
    put(w, 0, 4); /* where the common entry is */
    put(w, low, word);
    put(w, size, word);
}

static void put_code(cfi_writer *w, const ntr_gdb_regions *regions, unsigned word) {
    for (size_t i = 0; i < regions->count; i++) {
        const size_t start = w->size;
        put_range(w, regions->items[i].low, regions->items[i].high - regions->items[i].low, word);
        end_entry(w, start, word);
    }
}

static void put_return_places(cfi_writer *w, uint64_t address, unsigned word) {
    static const unsigned columns[NTR_RETURN_WORDS] = {
        [NTR_RETURN_WORD_PC] = PC_COLUMN,
        [NTR_RETURN_WORD_SP] = NTR_REG_SP,
        [NTR_RETURN_WORD_RA] = NTR_REG_RA,
        [NTR_RETURN_WORD_T0] = NTR_REG_T0,
    };
    for (unsigned place = 1; place <= NTR_RETURN_PLACES; place++, address += NTR_RETURN_PLACE_SIZE) {
        const size_t start = w->size;
        put_range(w, address, NTR_RETURN_PLACE_SIZE, word);
        for (unsigned i = 0; i < NTR_RETURN_WORDS; i++)
            put_saved(w, columns[i], ntr_return_place_word(place, (ntr_return_word)i, word * 8));
        end_entry(w, start, word);
    }
}

size_t ntr_gdb_symbol_frames_most(const ntr_gdb_regions *regions) {
    return (regions->count + NTR_RETURN_PLACES + 1) * ENTRY_MOST;
}

size_t ntr_gdb_symbol_frames_write(const ntr_gdb_regions *regions, ntr_gdb_symbol_kind kind, unsigned xlen,
                                   uint8_t *out) {
    cfi_writer w = {.bytes = out};
    const unsigned word = xlen / 8;
    put_common_entry(&w, kind, word);
    if (kind == NTR_GDB_SYMBOL_RETURN_PLACES && regions->count) put_return_places(&w, regions->items[0].low, word);
    if (kind == NTR_GDB_SYMBOL_CODE) put_code(&w, regions, word);
    return w.size;
}
