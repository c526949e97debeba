/* SPDX-License-Identifier: Apache-2.0 */

/* New stacks. */

#include "context.h"

#include "cpu_bits.h"

#include <arch/context.h>

#define X87_CONTROL_DEFAULT 0x037fu /* as after fninit */

uintptr_t arch_context_new(uintptr_t top, void (*entry)(void))
{
    struct context *context = (struct context *)top - 1;

    _Static_assert(sizeof *context <= ARCH_CONTEXT_BYTES, "too large");
    *context = (struct context){
        .mxcsr = MXCSR_DEFAULT,
        .x87_control = X87_CONTROL_DEFAULT,
        .bx = (uintptr_t)entry,
        .return_address = (uintptr_t)arch_context_begin,
    };
    return (uintptr_t)context;
}
