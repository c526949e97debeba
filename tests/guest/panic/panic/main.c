/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends in the way that its command line asks for: die=WAY, one of the table at
 * the end of this file. What the way has to say on the serial line stands in
 * the file `expect` of the test that boots this image for it; they all do, and
 * name it in their file `image`.
 *
 * No way may come back: where one does, the image says so and exits with 1,
 * which no test takes for an end.
 */

#include "ways.h"

#include <arch/boot.h>
#include <kernel/console.h>
#include <kernel/panic.h>
#include <kernel/service.h>
#include <stdlib.h>
#include <string.h>

/* ---- with names, and without heap: the plain panic */

static void take_all_memory(void)
{
    for (size_t bytes = 1 << 20; bytes > 0; bytes /= 2) {
        while (malloc(bytes) != NULL)
            ;
    }
    if (malloc(1) != NULL)
        console_line("not all memory was taken");
}

void innermost(void)
{
    panic("nothing left");
}

void middle(void)
{
    innermost();
}

void outermost(void)
{
    middle();
}

static void panic_without_heap(void)
{
    take_all_memory();
    outermost();
}

/* ---- in the middle of a panic: whatever it asks for a name */

static void (*when_naming)(void);

void __wrap_prof_name_write(struct prof_text *out,
                            const struct prof_symbol *symbol, size_t width)
{
    if (when_naming != NULL)
        when_naming();
    __real_prof_name_write(out, symbol, width);
}

static void panic_again(void)
{
    panic("the second panic");
}

static void panic_in_panic(void)
{
    when_naming = panic_again;
    panic("the first panic");
}

static void fault_in_panic(void)
{
    when_naming = invalid_opcode;
    panic("the first panic");
}

static void fault_in_fault(void)
{
    when_naming = write_null;
    invalid_opcode();
}

/* ---- the C library's ways */

static void divide_by_zero(void)
{
    volatile int zero = 0, one = 1;

    one = one / zero;
}

static const struct {
    const char *name;
    void (*die)(void);
} ways[] = {
    {"without_heap", panic_without_heap},
    {"panic_in_panic", panic_in_panic},
    {"fault_in_panic", fault_in_panic},
    {"fault_in_fault", fault_in_fault},
    {"divide", divide_by_zero},
    {"abort", abort},
    {"null_write", write_null},
    {"null_call", call_null},
    {"text_write", write_text},
    {"rodata_write", write_rodata},
    {"symbols_write", write_symbols},
    {"guard_read", read_guard},
    {"data_call", call_data},
    {"stack_call", call_stack},
    {"heap_call", call_heap},
    {"stack_overflow", overflow_stack},
    {"stack_lost", lose_stack},
    {"stack_smashed", smash_stack_and_panic},
    {"stack_smashed_return", smash_stack_and_return},
    {"fp_unaligned", fp_unaligned},
    {"fp_unmapped", fp_unmapped},
    {"fp_in_heap", fp_in_heap},
    {"fp_at_stack_end", fp_at_stack_end},
    {"fp_to_itself", fp_to_itself},
    {"fp_in_fault", fp_in_fault},
};

static void (*chosen)(void) = outermost;

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "names") == 0)
        return names_option(value);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(key, "die") == 0 && strcmp(value, ways[i].name) == 0) {
            chosen = ways[i].die;
            return true;
        }
    }
    return false;
}

int service_main(void)
{
    chosen();
    console_line("still alive");
    return 1;
}
