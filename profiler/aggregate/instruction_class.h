/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_INSTRUCTION_CLASS_H
#define PROF_INSTRUCTION_CLASS_H

/*
 * Classifies samples by the instructions at the sampled address and just before
 * it. At an instruction that exits to the hypervisor (port access, hlt, cpuid,
 * model-specific registers) the time is the hypervisor's. At an instruction
 * that enables interrupts, a pending interrupt is delivered late, and its time
 * belongs to earlier code. QEMU's software emulation delivers an interrupt only
 * after a jump or a return; so the callee of a direct call before an address is
 * checked for a port access at its end, too. The code is decoded
 * (unwind/decode.h) when the sums are computed; sampling itself records nothing
 * for this.
 *
 * Not recognised: exits by memory access (prof.vmm names such functions), and
 * interrupts enabled by iret.
 */

#include <stdbool.h>
#include <stdint.h>

struct prof_address;

/* At or after an instruction that may exit to the hypervisor. */
#define PROF_INSTRUCTION_VM_EXIT 1u
/* Where a pending interrupt is delivered: after sti and the instruction that
 * follows it, or after popf. */
#define PROF_INSTRUCTION_ENABLES_INTERRUPTS 2u
/* In struct prof_address: the code was decoded. */
#define PROF_INSTRUCTION_KNOWN 4u

/*
 * Returns the class of the instructions at (address), a sum of the first two
 * bits, and decodes them the first time; 0 if its function is unknown. Mostly
 * takes a few comparisons; otherwise decodes some hundred instructions, or, if
 * they do not suffice, the function from its beginning. Contexts: thread.
 */
uint32_t prof_instruction_class(struct prof_address *address);

/* Returns whether a tick that came late at (pc) had to wait until interrupts
 * were enabled. Contexts: the drain. */
bool prof_was_masked(uintptr_t pc);

#endif
