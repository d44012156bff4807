/* HTIF: two words of memory, tohost and fromhost, by which a program of machine `spike` prints and ends. */
#ifndef NTR_CAPTURE_HTIF_H
#define NTR_CAPTURE_HTIF_H

/* QEMU takes the places of these words from the symbols of the firmware, and refuses symbols without a size. Those of
 * riscv-tests and of many linker scripts have none. Returns the descriptor of a copy in memory in which they have their
 * size, 8; or -1: the file is no ELF file, has no such symbols, or they have a size. */
int ntr_capture_htif_copy(const char *path);

#endif
