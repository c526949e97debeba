/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CALIBRATE_H
#define PROF_CALIBRATE_H

#include <stdint.h>

/*
 * The time stamp counter's frequency in Hz: what the hypervisor says (CPUID
 * leaf 0x40000010), what the CPU says (leaf 0x15), what channel 2 of the PIT
 * shows in some 30 ms, or the CPU's nominal frequency (leaf 0x16). 0: none of
 * these. Port 0x61, the speaker's, is as before.
 *
 * Contexts: boot.
 */
uint64_t prof_calibrate(void);

#endif
