/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXITS_H
#define EXITS_H

/*
 * Which samples were taken while the guest had left to its hypervisor.
 *
 * A sample's address is exact, but it is the address at which the guest went
 * on: an instruction that the hypervisor carries out itself is over by then,
 * and the address is that of the next one; one that is tried again, as hlt may
 * be, is still there. So an address counts if such an instruction begins or
 * ends at it. What ends where follows from decoding the function from its
 * beginning. A jump to the next instruction is looked through: under QEMU's
 * software emulation it makes an interrupt come in at its target, and no later.
 *
 * Port input and output, hlt, cpuid, model specific registers and calls of the
 * hypervisor are seen. Access to a device's memory looks like any other access
 * to memory; functions that do nothing else can be named instead.
 */

#include "image.h"

#include <regex.h>

struct exits;

/* Reads the code of (image), i386 or x86_64. (functions) names those that count
 * as a whole, NULL = none; it and the image must outlive the result. NULL if
 * the file cannot be read or is of another machine. */
struct exits *exits_open(const struct image *image, const regex_t *functions);

/* Whether a sample at (address) was in the hypervisor. Takes time by the size
 * of the function; (exits) may be NULL, then nothing was. */
bool exits_at(struct exits *exits, uint64_t address);

void exits_close(struct exits *exits);

#endif
