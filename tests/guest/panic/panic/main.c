/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends in the way that its command line asks for: die=WAY, one of the table at
 * the end of this file. What it has to say then stands in ../cases.py.
 *
 * No way may come back: where one does, the image says so and exits with 1,
 * which no test takes for an end.
 */

#include <arch/boot.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/panic.h>
#include <kernel/service.h>
#include <prof/name.h>
#include <prof/symbols.h>
#include <prof/symtab.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A function that a backtrace is to name must be one. */
#define NAMED __attribute__((noinline, noclone))

/* stack.asm: the stack pointer leads nowhere, then an invalid opcode. */
void lose_stack(void);

/* An invalid opcode and nothing else, no frame of its own. */
void invalid_opcode(void);

/* Calls (function) with (fp) in the frame pointer. */
void call_with_fp(uintptr_t fp, void (*function)(void));

/* The linker's --wrap (ldflags): the kernel's calls come to these. */
void __wrap_prof_name_write(struct prof_text *out,
                            const struct prof_symbol *symbol, size_t width);
void __real_prof_name_write(struct prof_text *out,
                            const struct prof_symbol *symbol, size_t width);
int __wrap_prof_symbols_open(const void *table, size_t bytes,
                             const void *build_id, size_t build_id_bytes);
int __real_prof_symbols_open(const void *table, size_t bytes,
                             const void *build_id, size_t build_id_bytes);

/* ---- what paging has to forbid
 *
 * Addresses go through volatile variables, so that the compiler neither knows
 * nor says what nonsense this is.
 */

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

static void write_null(void)
{
    volatile uint8_t *nowhere = (volatile uint8_t *)null;

    nowhere[8] = 1;
}

static void call_null(void)
{
    call(null);
}

static void write_text(void)
{
    write_to((uintptr_t)write_text);
}

static void write_rodata(void)
{
    write_to((uintptr_t)constant);
}

static void write_symbols(void)
{
    write_to((uintptr_t)prof_symbols_space.table);
}

static void read_guard(void)
{
    volatile uintptr_t last = (uintptr_t)boot_stack_bottom - 1;

    (void)*(volatile uint8_t *)last;
}

static void call_data(void)
{
    call((uintptr_t)code_in_data);
}

static void call_stack(void)
{
    volatile uint8_t code[] = {RET};

    call((uintptr_t)code);
}

static void call_heap(void)
{
    volatile uint8_t *code = malloc(HEAP_BYTES);

    code[HEAP_BYTES - 1] = RET;
    call((uintptr_t)code + HEAP_BYTES - 1);
}

/* ---- stacks and chains of frames that a backtrace must not believe */

#define GARBAGE 0xa5
#define UNMAPPED 8u /* in page 0 */

static volatile unsigned depth_wanted = UINT32_MAX;

NAMED static unsigned dig_deeper(unsigned depth)
{
    volatile uint8_t load[100];

    load[0] = (uint8_t)depth;
    if (depth == depth_wanted)
        return load[0];
    return dig_deeper(depth + 1) + load[0];
}

static void overflow_stack(void)
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

static void smash_stack_and_panic(void)
{
    smash_from(__builtin_frame_address(0));
    panic("the stack is smashed");
}

NAMED static void smashed_caller(void)
{
    smash_from(__builtin_frame_address(0));
}

static void smash_stack_and_return(void)
{
    smashed_caller();
    panic("a return to nowhere came back");
}

NAMED static void out_of_luck(void)
{
    panic("out of luck");
}

static void fp_unaligned(void)
{
    call_with_fp((uintptr_t)__builtin_frame_address(0) + 1, out_of_luck);
}

static void fp_unmapped(void)
{
    call_with_fp(UNMAPPED, out_of_luck);
}

static void fp_in_heap(void)
{
    uintptr_t *frame = calloc(4, sizeof *frame);

    frame[1] = (uintptr_t)out_of_luck;
    call_with_fp((uintptr_t)frame, out_of_luck);
}

/* Room for the caller's frame pointer, but none for a return address. */
static void fp_at_stack_end(void)
{
    call_with_fp((uintptr_t)boot_stack_top - sizeof(uintptr_t), out_of_luck);
}

static void fp_to_itself(void)
{
    volatile uintptr_t frame[2];

    frame[0] = (uintptr_t)frame;
    frame[1] = (uintptr_t)fp_to_itself + 1;
    call_with_fp((uintptr_t)frame, out_of_luck);
}

static void fp_in_fault(void)
{
    call_with_fp(UNMAPPED, invalid_opcode);
}

/* ---- names
 *
 * What the image does to them at boot, by names=WHAT on the command line,
 * before anybody has seen them. The kernel's options are read later, hence the
 * look of our own.
 */

#define TABLE_MAX (256u * 1024)
#define CUT_BYTES 1000u

static _Alignas(8) char table_copy[TABLE_MAX];

static bool asked_for(const char *word)
{
    return strstr(arch_boot.command_line, word) != NULL;
}

int __wrap_prof_symbols_open(const void *table, size_t bytes,
                             const void *build_id, size_t build_id_bytes)
{
    const struct prof_symtab *head = table;

    if (bytes > head->total_bytes)
        bytes = head->total_bytes; /* zeros follow */
    if (bytes > TABLE_MAX)
        bytes = TABLE_MAX;
    memcpy(table_copy, table, bytes);
    if (asked_for("names=none"))
        bytes = 0;
    if (asked_for("names=cut"))
        bytes -= CUT_BYTES;
    if (asked_for("names=damaged"))
        table_copy[bytes / 2] ^= 0x10;
    return __real_prof_symbols_open(table_copy, bytes, build_id,
                                    build_id_bytes);
}

static bool names_option(const char *value)
{
    return strcmp(value, "none") == 0 || strcmp(value, "cut") == 0 ||
           strcmp(value, "damaged") == 0;
}

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

NAMED static void innermost(void)
{
    panic("nothing left");
}

NAMED static void middle(void)
{
    innermost();
}

NAMED static void outermost(void)
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

static void never(void *unused)
{
    (void)unused;
}

int service_main(void)
{
    static struct loop_timer timer; /* an object that is alive */

    loop_once(&timer, NS_PER_S, never, NULL);
    chosen();
    console_line("still alive");
    return 1;
}
