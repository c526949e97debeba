/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_INSTRUCTION_CLASS_H
#define PROF_INSTRUCTION_CLASS_H

/*
 * Classifies samples by the instructions at the sampled address and just before
 * it. At an instruction that exits to the hypervisor (port access, hlt, cpuid,
 * model specific registers) the time is the hypervisor's. Where interrupts are
 * enabled, a pending interrupt is delivered late and its time belongs to
 * earlier code. QEMU's software emulation delivers an interrupt only after a
 * jump, a return included, so that a function that ends with a port access is
 * looked for in the direct call before an address, too. Decoded from the code
 * (unwind/decode.h) when the sums are made; sampling itself records nothing for
 * this.
 *
 * Not recognised: exits by memory access (prof.vmm names such functions), and
 * interrupts enabled by iret.
 */

#include <stdbool.h>
#include <stdint.h>

struct prof_address;

/* At or after an instruction that may exit to the hypervisor. */
#define PROF_INSTRUCTION_VM_EXIT 1u
/* Where a waiting interrupt is delivered: after sti and the instruction that
 * follows it, or after popf. */
#define PROF_INSTRUCTION_ENABLES_INTERRUPTS 2u
/* In struct prof_address: the code was looked at. */
#define PROF_INSTRUCTION_KNOWN 4u

/*
 * The class of the instructions at (address), decoded once: a sum of the first
 * two. 0 where its function is not known. Contexts: thread. Mostly a few
 * comparisons; else some hundred instructions are decoded, and only where they
 * do not suffice the function from its beginning.
 */
uint32_t prof_instruction_class(struct prof_address *address);

/* Whether a tick that came late at (pc) had to wait for interrupts to be
 * enabled. Contexts: the drain. */
bool prof_was_masked(uintptr_t pc);

#endif
