/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SITE_H
#define PROF_SITE_H

/*
 * What the instructions at a sampled address, and just before it, say about the
 * samples there: that the guest was being left (port access, hlt, cpuid, model
 * specific registers), so that their time is the hypervisor's; or that they had
 * to wait until interrupts were on again, so that their time is that of code
 * before. Told from the code bytes (code.h), nothing is noted when sampling.
 *
 * What it cannot tell: exits by memory access (prof.vmm names such functions),
 * and where an iret turned interrupts on.
 */

#include <stdbool.h>
#include <stdint.h>

struct prof_cell;

#define PROF_SITE_EXITS 1u /* at, or behind, an instruction that may exit */
#define PROF_SITE_OPENS                                                        \
    2u                     /* where a waiting interrupt gets in: after sti and
                              the instruction that follows it, or after popf */
#define PROF_SITE_KNOWN 4u /* in a cell: it was looked at */

/* The bits of address (pc) in the function that begins at (begin). Reads code
 * within prof_state.config.text only. Contexts: thread. Linear in the function
 * where it says yes, else a few instructions. */
uint32_t prof_site_at(uintptr_t pc, uintptr_t begin);

/* Whether a tick that came late at (pc) had to wait for interrupts to be turned
 * on. Contexts: thread. */
bool prof_site_opens(uintptr_t pc);

/* Samples and the time that they stand for. */
struct prof_site_sum {
    uint64_t exits, exits_cycles; /* at PROF_SITE_EXITS, or in prof.vmm */
    uint64_t opens, opens_cycles; /* at PROF_SITE_OPENS */
};

/* Those of all functions; the cell of each that has some, or may have, gets the
 * bits in question. Contexts: thread. Linear in the addresses seen. */
struct prof_site_sum prof_site_sum_all(void);

/* Those of the function (function) alone, after that. Contexts: thread. Linear
 * in the addresses where it has such bits, else at once. */
struct prof_site_sum prof_site_sum(const struct prof_cell *function);

#endif
