/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_FUNCTIONS_H
#define PROF_FUNCTIONS_H

/*
 * The function table: each function that occurs in a call stack. An address in
 * no function of the symbol table is treated as a function without a name that
 * begins there.
 *
 * Its sums are computed from the stack tree on demand (sums.h).
 */

#include "aggregate/amount.h"
#include "aggregate/table.h"

struct prof_function {
    struct prof_record record; /* key: start address; link: next function in
                                  the sorted list (hottest.c) */
    struct prof_amount self;   /* samples in it, without its callees */
    uint64_t total;            /* weight of it and of its callees */
    uint64_t vm_exit;          /* weight of self at exits to the VMM
                                  (instruction_class.h) */
    uint64_t by_caller;        /* scratch of the report: weight of its calls of
                                  the function in prof.callers */
    uint32_t bytes;            /* its size, 0 if it has no name */
    uint32_t masked : 1;       /* some samples of self are masked */
    uint32_t framed : 31;      /* where its frame is set up
                                  (unwind/prologue.h) */
};

extern struct prof_table prof_functions;

/* Returns the function (number), which MUST exist. */
static inline struct prof_function *prof_function_at(uint32_t number)
{
    return PROF_TABLE_AT(&prof_functions, struct prof_function, number);
}

/* Returns whether it is in the symbol table. */
static inline bool prof_function_is_named(const struct prof_function *function)
{
    return function->bytes != 0;
}

/* Creates an empty table. Contexts: boot. */
void prof_functions_open(void);

/*
 * Returns the number of the function that contains (address), after creating
 * its record if it is new; 0: no memory. Contexts: the drain.
 */
uint32_t prof_function_of(uintptr_t address);

/* Returns the number of the first function after number (after) that has this
 * name, mangled or demangled; 0 if there is none. Contexts: thread. */
uint32_t prof_function_named(const char *name, uint32_t after);

#endif
