/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_PATCH_H
#define ARCH_PATCH_H

/* Writing to the image's code, which is mapped read-only. */

#include <stddef.h>
#include <stdint.h>

/*
 * Copies (count) bytes to (address) in the code, with interrupts off. No return
 * address may point into them. Contexts: thread, one CPU.
 */
void arch_patch(uintptr_t address, const void *bytes, size_t count);

#endif
