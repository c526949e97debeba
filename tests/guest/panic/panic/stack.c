/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks and chains of frames that a backtrace must not believe. */

#include "ways.h"

#include <arch/boot.h>
#include <kernel/panic.h>
#include <stdlib.h>

#define GARBAGE 0xa5
#define UNMAPPED 8u /* in page 0 */

static volatile unsigned depth_wanted = UINT32_MAX;

unsigned dig_deeper(unsigned depth)
{
    volatile uint8_t load[100];

    load[0] = (uint8_t)depth;
    if (depth == depth_wanted)
        return load[0];
    return dig_deeper(depth + 1) + load[0];
}

void overflow_stack(void)
{
    depth_wanted = dig_deeper(0);
}

/* From (begin) to the end of the stack: all frames of everybody above. */
static inline __attribute__((always_inline)) void smash_from(void *begin)
{
    volatile uint8_t *end = (volatile uint8_t *)boot_stack_top;

    for (volatile uint8_t *byte = begin; byte < end; byte++)
        *byte = GARBAGE;
}

void smash_stack_and_panic(void)
{
    smash_from(__builtin_frame_address(0));
    panic("the stack is smashed");
}

void smashed_caller(void)
{
    smash_from(__builtin_frame_address(0));
}

void smash_stack_and_return(void)
{
    smashed_caller();
    panic("a return to nowhere came back");
}

void out_of_luck(void)
{
    panic("out of luck");
}

void fp_unaligned(void)
{
    call_with_fp((uintptr_t)__builtin_frame_address(0) + 1, out_of_luck);
}

void fp_unmapped(void)
{
    call_with_fp(UNMAPPED, out_of_luck);
}

void fp_in_heap(void)
{
    uintptr_t *frame = calloc(4, sizeof *frame);

    frame[1] = (uintptr_t)out_of_luck;
    call_with_fp((uintptr_t)frame, out_of_luck);
}

/* Room for the caller's frame pointer, but none for a return address. */
void fp_at_stack_end(void)
{
    call_with_fp((uintptr_t)boot_stack_top - sizeof(uintptr_t), out_of_luck);
}

void fp_to_itself(void)
{
    volatile uintptr_t frame[2];

    frame[0] = (uintptr_t)frame;
    frame[1] = (uintptr_t)fp_to_itself + 1;
    call_with_fp((uintptr_t)frame, out_of_luck);
}

void fp_in_fault(void)
{
    call_with_fp(UNMAPPED, invalid_opcode);
}
