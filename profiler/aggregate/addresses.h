/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_ADDRESSES_H
#define PROF_ADDRESSES_H

/*
 * The address cache: stores function, class and caller of each code address
 * after the first lookup. The counts are in the stack tree (stacks.h).
 */

#include "aggregate/table.h"

#include <stdbool.h>

struct prof_address {
    struct prof_record record; /* key: the address; link: number of its
                                  function (functions.h) */
    uint32_t class : 2;        /* enum prof_class, not IDLE (accounts.h) */
    uint32_t counted : 1;      /* in the sums (sums.c) */
    uint32_t instructions : 3; /* class of the instructions
                                  (instruction_class.h), 0 = not decoded yet */
    uint32_t caller : 26;      /* PROF_CALLER_* */
    uint32_t pending; /* samples with callers while (caller) is unknown */
};

/* How the caller of an address is found: unknown yet, by the frame pointer, or,
 * from PROF_CALLER_IN_WORD on, in word (value - PROF_CALLER_IN_WORD) above the
 * stack pointer. */
#define PROF_CALLER_UNKNOWN 0u
#define PROF_CALLER_BY_FRAME 1u
#define PROF_CALLER_IN_WORD 2u

/*
 * Most return addresses are found by the frame pointer. After the prologue the
 * only other location is the top of the stack, in an epilogue: a sample without
 * a code address there shows that the address is in no epilogue. Elsewhere, the
 * prologue is analysed only when a sample has a code address among its stack
 * words, which might be the return address; when this many samples are pending,
 * so that later ones need no search; or when a report needs the caller.
 */
#define PROF_CALLER_PENDING_MAX 8u

extern struct prof_table prof_addresses;

/* Returns the record (number), which MUST exist. */
static inline struct prof_address *prof_address_at(uint32_t number)
{
    return PROF_TABLE_AT(&prof_addresses, struct prof_address, number);
}

/* Creates an empty table. Contexts: boot. */
void prof_addresses_open(void);

/* Returns the hash slot of (address), which contains the number of its record,
 * or 0 if there is none. Valid until the next record is created. Contexts:
 * thread. */
uint32_t *prof_address_slot(uintptr_t address);

/* Returns the number of the record in that (slot), after creating the record if
 * it is new; 0: no memory. Contexts: the drain. */
uint32_t prof_address_in(uint32_t *slot, uintptr_t address);

/*
 * Returns the number of the function that contains the call instruction before
 * the return address (address); 0: no memory. A call of a function that does
 * not return may be the last instruction of its caller, so (address) itself may
 * be in the next function. Contexts: the drain.
 */
uint32_t prof_address_calling_function(uintptr_t address);

/* Analyses the prologues of up to (most) addresses that have pending samples,
 * oldest first, until (steps) instructions are decoded, so that a report need
 * not do all of them at once. Contexts: the drain. */
void prof_addresses_catch_up(uint32_t most, uint32_t steps);

/* Uses a sample at (address), whose caller is unknown, in which the word on top
 * of the stack is not a code address. Returns whether the caller is known by
 * that. Contexts: the drain. */
bool prof_address_without_top(struct prof_address *address);

/* Returns how the caller of code at (address) is found, PROF_CALLER_*. The
 * first call analyses the prologue, and counts the pending samples. Contexts:
 * thread. */
uint32_t prof_address_caller(struct prof_address *address);

#endif
