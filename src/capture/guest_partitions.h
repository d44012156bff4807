/* Partitions of a disk image: a GUID partition table (GPT), or an MBR with its logical partitions. */
#ifndef NTR_CAPTURE_GUEST_PARTITIONS_H
#define NTR_CAPTURE_GUEST_PARTITIONS_H

#include <ntrace/bytes.h>
#include <stddef.h>
#include <stdint.h>

enum { NTR_GUEST_PARTITIONS_MOST = 128 };

/* Writes where partitions begin, in bytes, in the order of the table. Entries that are empty or begin behind the end of
 * the image are left out. Returns how many; 0: there is no partition table. */
size_t ntr_guest_partitions(ntr_bytes disk, uint64_t begins[NTR_GUEST_PARTITIONS_MOST]);

#endif
