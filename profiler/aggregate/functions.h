/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_FUNCTIONS_H
#define PROF_FUNCTIONS_H

/*
 * The function table: each function that occurs in a call stack. An address in
 * no function of the symbol table is treated as a function without a name that
 * begins there.
 *
 * The sums in it are made from the stack tree on demand (sums.h).
 */

#include "aggregate/amount.h"
#include "aggregate/table.h"

struct prof_function {
    struct prof_record record; /* key: start address; link: next function in
                                  the sorted list (hottest.c) */
    struct prof_amount self;   /* samples in it, not in what it calls */
    uint64_t total;            /* weight of it and all that it calls */
    uint64_t vm_exit;          /* weight of self at a vm_exit
                                  (instruction_class.h) */
    uint64_t by_caller;        /* scratch of the report: weight of its calls of
                                  the function in prof.callers */
    uint32_t bytes;            /* its size, 0 if it has no name */
    uint32_t masked : 1;       /* some samples of self are masked */
    uint32_t framed : 31;      /* what is known of its frame
                                  (unwind/prologue.h) */
};

extern struct prof_table prof_functions;

/* The function (number), which exists. */
static inline struct prof_function *prof_function_at(uint32_t number)
{
    return PROF_TABLE_AT(&prof_functions, struct prof_function, number);
}

/* Whether it is in the symbol table. */
static inline bool prof_function_is_named(const struct prof_function *function)
{
    return function->bytes != 0;
}

/* Creates an empty table. Contexts: boot. */
void prof_functions_open(void);

/*
 * The number of the function that contains (address). Creates the record if it
 * is new; returns 0 without memory. Contexts: the drain.
 */
uint32_t prof_function_of(uintptr_t address);

/* The number of the first function after number (after) that has this name,
 * mangled or not; 0 if there is none. Contexts: thread. */
uint32_t prof_function_named(const char *name, uint32_t after);

#endif
