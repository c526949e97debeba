/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_IMAGE_H
#define PROF_IMAGE_H

/* Facts about the image. Constant after prof_drain_open(). */

#include <prof/prof.h>
#include <stdbool.h>
#include <stdint.h>

struct prof_image {
    struct prof_range text; /* the code */
    struct prof_range idle; /* where the kernel waits for interrupts */

    /*
     * Return addresses are stored as 32-bit offsets from text_base, the second
     * byte of the code, because no call returns to the first. An offset of
     * text_bytes or more is not in the code.
     */
    uintptr_t text_base;
    uintptr_t text_bytes;   /* 0 if the code is too large for such offsets */
    const char *drained_by; /* config.drained_by */
};

extern struct prof_image prof_image;

/* Return whether (address), or the address with the lower half (word), is in
 * the code, so that it may be a return address. */
static inline bool prof_is_code(uintptr_t address)
{
    return address - prof_image.text_base < prof_image.text_bytes;
}

static inline bool prof_is_code_word(uint32_t word)
{
    return word - (uint32_t)prof_image.text_base < prof_image.text_bytes;
}

#endif
