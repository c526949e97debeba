/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_EXITS_H
#define IMAGE_EXITS_H

/*
 * Which samples were taken while the guest was in its hypervisor.
 *
 * A sample's address is exact, but it is the address at which the guest
 * resumed: an instruction that the hypervisor emulates is complete by then, and
 * the address is that of the next one; one that is restarted, as hlt may be, is
 * still there. So an address counts if such an instruction begins or ends at
 * it. Where instructions end is found by decoding the function from its
 * beginning. A jump to the next instruction is followed: under QEMU's software
 * emulation it delays an interrupt to its target. So does a return, which makes
 * the interrupt the caller's: an address behind a direct call counts if the
 * function that was called returns from such an instruction, with no jump in
 * between.
 *
 * Port input and output, hlt, cpuid, model specific registers and hypercalls
 * are recognised. Access to device memory looks like any other memory access;
 * functions that do nothing else can be named instead.
 */

#include "image/image.h"

#include <regex.h>

struct exits;

/* Reads the code of (image), i386 or x86_64; (functions), or NULL, match what
 * counts as a whole. Both outlive the result; NULL: unreadable, or foreign. */
struct exits *exits_open(const struct image *image, const regex_t *functions);

/* Whether a sample at (address) was in the hypervisor. Takes time proportional
 * to the function's size; (exits) may be NULL, then the result is false. */
bool exits_at(struct exits *exits, uint64_t address);

void exits_close(struct exits *exits);

#endif
