/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PANIC_WAYS_H
#define TESTS_PANIC_WAYS_H

/* Ways for an image to end, and what they are made of. */

#include <prof/name.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function that a backtrace is to name must be one. */
#define NAMED __attribute__((noinline, noclone))

/* forbidden.c: doing with memory what its page does not allow. */
void write_null(void);
void call_null(void);
void write_text(void);
void write_rodata(void);
void write_symbols(void);
void read_guard(void);
void call_data(void);
void call_stack(void);
void call_heap(void);

/* stack.c: the stack is full, or gone, or not what it should be. */
void overflow_stack(void);
NAMED unsigned dig_deeper(unsigned depth);
void smash_stack_and_panic(void);
void smash_stack_and_return(void);
NAMED void smashed_caller(void);

/* stack.c: the frame pointer points to where no frame is. */
void fp_unaligned(void);
void fp_unmapped(void);
void fp_in_heap(void);
void fp_at_stack_end(void);
void fp_to_itself(void);
void fp_in_fault(void);
NAMED void out_of_luck(void);

/* lost.asm: the stack pointer leads nowhere, then an invalid opcode. */
void lose_stack(void);

/* lost.asm: an invalid opcode and nothing else, no frame of its own. */
void invalid_opcode(void);

/* lost.asm: calls (function) with (fp) in the frame pointer. */
void call_with_fp(uintptr_t fp, void (*function)(void));

/* main.c: names for the backtrace, each called by the next. */
NAMED void innermost(void);
NAMED void middle(void);
NAMED void outermost(void);

/* The linker's --wrap, see ldflags: panic.c's calls come to the first. */
void __wrap_prof_name_write(struct prof_text *out,
                            const struct prof_symbol *symbol, size_t width);
void __real_prof_name_write(struct prof_text *out,
                            const struct prof_symbol *symbol, size_t width);

/* names.c: whether it knows names=(value); what the kernel calls instead. */
bool names_option(const char *value);
int __wrap_prof_symbols_open(const void *table, size_t bytes,
                             const void *build_id, size_t build_id_bytes);
int __real_prof_symbols_open(const void *table, size_t bytes,
                             const void *build_id, size_t build_id_bytes);

#endif
