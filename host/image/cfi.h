/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_CFI_H
#define IMAGE_CFI_H

/*
 * Call frame information as rules that can be followed with three registers.
 * A rule is looked up by libdw once for an address and kept.
 */

#include <stdbool.h>
#include <stdint.h>

enum cfi_kind {
    CFI_UNKNOWN,   /* no information, or a rule of another form */
    CFI_SP,        /* the frame begins (base) above the stack pointer */
    CFI_FP,        /* above the frame pointer */
    CFI_OUTERMOST, /* there is no caller */
};

struct cfi_rule {
    enum cfi_kind kind;
    bool saves_fp;   /* the caller's frame pointer is at (fp) from there */
    int32_t base;    /* bytes */
    int32_t address; /* where the return address is, from the beginning */
    int32_t fp;
};

struct cfi;

/* Of the ELF file (path); NULL if it has none. */
struct cfi *cfi_open(const char *path);

/* The rule while the instruction at (address) is about to run. */
struct cfi_rule cfi_find(struct cfi *cfi, uint64_t address);

void cfi_close(struct cfi *cfi);

#endif
