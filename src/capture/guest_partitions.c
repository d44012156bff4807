/* GPT: the second sector is a header, which says where the table is, and how many entries of what size it has. Sectors
 * have 512 or 4096 bytes. MBR: four entries at 446, whose sectors have 512 bytes. An extended partition is a list: each
 * of its sectors has an entry for a logical partition, relative to this sector, and one for the next sector of the
 * list, relative to the extended partition. Example: an extended partition at sector 2048 whose sector has the entries
 * (83, 2048) and (05, 100352): a logical partition at 4096, and the next sector of the list at 102400. */
#include "capture/guest_partitions.h"
#include "base/bytes.h"

#include <stdbool.h>
#include <string.h>

enum {
    SECTOR = 512,
    SECTOR_LARGE = 4096,
    GPT_ENTRY = 128,
    GPT_ENTRY_MOST = 4096,
    MBR_TABLE = 446,
    MBR_ENTRY = 16,
    MBR_ENTRIES = 4
};

struct partitions {
    ntr_bytes disk;
    uint64_t *begins;
    size_t count;
};

/* The bytes of a sector; NULL: the image does not have all of them. */
static const uint8_t *sector_at(ntr_bytes disk, uint64_t number, size_t sector, size_t size) {
    if (number > disk.size / sector || disk.size - number * sector < size) return NULL;
    return disk.data + number * sector;
}

static void add(struct partitions *p, uint64_t number, size_t sector) {
    if (number && number < p->disk.size / sector && p->count < NTR_GUEST_PARTITIONS_MOST)
        p->begins[p->count++] = number * sector;
}

/* ---- GPT */

static void read_gpt(struct partitions *p, const uint8_t *header, size_t sector) {
    static const uint8_t unused[16];
    const uint64_t table = ntr_little_64(header + 72);
    const uint32_t count = ntr_little_32(header + 80), size = ntr_little_32(header + 84);

    if (size < GPT_ENTRY || size > GPT_ENTRY_MOST) return;
    for (uint32_t i = 0; i < count && i < NTR_GUEST_PARTITIONS_MOST; i++) {
        const uint8_t *first = sector_at(p->disk, table, sector, (size_t)(i + 1) * size);
        if (!first) return;
        const uint8_t *entry = first + (size_t)i * size;
        if (memcmp(entry, unused, sizeof unused) != 0) add(p, ntr_little_64(entry + 32), sector);
    }
}

/* ---- MBR */

static bool has_signature(const uint8_t *sector) {
    return sector[SECTOR - 2] == 0x55 && sector[SECTOR - 1] == 0xaa;
}

static const uint8_t *mbr_entry(const uint8_t *sector, unsigned i) {
    return sector + MBR_TABLE + (size_t)i * MBR_ENTRY;
}

static unsigned type_of(const uint8_t *entry) {
    return entry[4];
}

static uint32_t begin_of(const uint8_t *entry) {
    return ntr_little_32(entry + 8);
}

static bool is_extended(unsigned type) {
    return type == 0x05 || type == 0x0f || type == 0x85;
}

static void read_extended(struct partitions *p, uint32_t extended) {
    uint64_t at = extended;

    for (unsigned i = 0; i < NTR_GUEST_PARTITIONS_MOST; i++) { /* a damaged list may have no end */
        const uint8_t *sector = sector_at(p->disk, at, SECTOR, SECTOR);
        if (!sector || !has_signature(sector)) return;
        const uint8_t *logical = mbr_entry(sector, 0), *next = mbr_entry(sector, 1);
        if (type_of(logical) && begin_of(logical)) add(p, at + begin_of(logical), SECTOR);
        if (!is_extended(type_of(next)) || !begin_of(next)) return;
        at = (uint64_t)extended + begin_of(next);
    }
}

static void read_mbr(struct partitions *p, const uint8_t *sector) {
    for (unsigned i = 0; i < MBR_ENTRIES; i++) {
        const uint8_t *entry = mbr_entry(sector, i);
        if (is_extended(type_of(entry)))
            read_extended(p, begin_of(entry));
        else if (type_of(entry))
            add(p, begin_of(entry), SECTOR);
    }
}

/* ---- */

size_t ntr_guest_partitions(ntr_bytes disk, uint64_t begins[NTR_GUEST_PARTITIONS_MOST]) {
    static const size_t sectors[] = {SECTOR, SECTOR_LARGE};
    struct partitions p = {disk, begins, 0};

    for (size_t i = 0; i < sizeof sectors / sizeof *sectors; i++) {
        const uint8_t *header = sector_at(disk, 1, sectors[i], SECTOR);
        if (!header || memcmp(header, "EFI PART", 8) != 0) continue;
        read_gpt(&p, header, sectors[i]);
        return p.count;
    }
    const uint8_t *first = sector_at(disk, 0, SECTOR, SECTOR);
    if (first && has_signature(first)) read_mbr(&p, first);
    return p.count;
}
