/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What paging has to forbid. Addresses go through volatile variables, so that
 * the compiler neither knows nor says what nonsense this is.
 */

#include "ways.h"

#include <arch/boot.h>
#include <prof/symbols.h>
#include <stdlib.h>

#define RET 0xc3               /* the instruction */
#define HEAP_BYTES (8ul << 20) /* reaches into the large pages */

static volatile uintptr_t null;
static const uint8_t constant[] = {1, 2};
static volatile uint8_t code_in_data[] = {RET};

/* With its old value, so that a write that is let through does no harm. */
static void write_to(uintptr_t address)
{
    volatile uint8_t *byte = (volatile uint8_t *)address;

    *byte = *byte;
}

static void call(uintptr_t address)
{
    void (*volatile function)(void) = (void (*)(void))address;

    function();
}

void write_null(void)
{
    volatile uint8_t *nowhere = (volatile uint8_t *)null;

    nowhere[8] = 1;
}

void call_null(void)
{
    call(null);
}

void write_text(void)
{
    write_to((uintptr_t)write_text);
}

void write_rodata(void)
{
    write_to((uintptr_t)constant);
}

void write_symbols(void)
{
    write_to((uintptr_t)prof_symbols_space.table);
}

void read_guard(void)
{
    volatile uintptr_t last = (uintptr_t)boot_stack_bottom - 1;

    (void)*(volatile uint8_t *)last;
}

void call_data(void)
{
    call((uintptr_t)code_in_data);
}

void call_stack(void)
{
    volatile uint8_t code[] = {RET};

    call((uintptr_t)code);
}

void call_heap(void)
{
    volatile uint8_t *code = malloc(HEAP_BYTES);

    code[HEAP_BYTES - 1] = RET;
    call((uintptr_t)code + HEAP_BYTES - 1);
}
