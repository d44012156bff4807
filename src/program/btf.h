/* Types of a Linux kernel in its own form (BPF Type Format): where the members of a struct are. */
#ifndef NTR_PROGRAM_BTF_H
#define NTR_PROGRAM_BTF_H

#include <ntrace/bytes.h>
#include <ntrace/status.h>

#include <stdbool.h>
#include <stdint.h>

/* Finds the types at any offset of `image` that is a multiple of 4: a kernel image that is not compressed, vmlinux, or
 * a dump of memory. *types are those bytes of the image. Returns false when there are none. */
NTR_API bool ntr_btf_find(ntr_bytes image, ntr_bytes *types);

/* The offset in bytes of a member of the struct, which may be in a struct or union without a name inside it. Returns
 * false when there is no such member, or when it is a bit-field. */
NTR_API bool ntr_btf_member(ntr_bytes types, const char *structure, const char *member, uint32_t *offset);

#endif
