/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_ADDRESSES_H
#define PROF_ADDRESSES_H

/*
 * The address cache: function, class and caller of each code address, looked up
 * once. It has no counts; those are in the stack tree (stacks.h).
 */

#include "aggregate/table.h"

#include <stdbool.h>

struct prof_address {
    struct prof_record record; /* key: the address; link: number of its
                                  function (functions.h) */
    uint32_t class : 2;        /* not idle (accounts.h) */
    uint32_t counted : 1;      /* in the sums (sums.c) */
    uint32_t instructions : 3; /* their class (instruction_class.h), 0 = not
                                  decoded yet */
    uint32_t caller : 26;      /* PROF_CALLER_* */
    uint32_t pending; /* samples with callers since caller is unknown */
};

/* How the caller of an address is found: not known yet, by the frame pointer,
 * or, from PROF_CALLER_IN_WORD on, in word (value - PROF_CALLER_IN_WORD) above
 * the stack pointer. */
#define PROF_CALLER_UNKNOWN 0u
#define PROF_CALLER_BY_FRAME 1u
#define PROF_CALLER_IN_WORD 2u

/*
 * Most return addresses are found by the frame pointer. After the prologue the
 * only other place is the top of the stack, in an epilogue: a sample without a
 * code address there shows that it is not one. Elsewhere the prologue is not
 * analysed before a sample has a code address among its kept words, which might
 * be the return address; or until so many samples are pending, so that those
 * that follow need not look; or a report asks.
 */
#define PROF_CALLER_PENDING_MAX 8u

extern struct prof_table prof_addresses;

/* The record (number), which exists. */
static inline struct prof_address *prof_address_at(uint32_t number)
{
    return PROF_TABLE_AT(&prof_addresses, struct prof_address, number);
}

/* Creates an empty table. Contexts: boot. */
void prof_addresses_open(void);

/* Where the number of the record of (address) is, or would be; 0 there if there
 * is none. Until the next is created. Contexts: thread. */
uint32_t *prof_address_slot(uintptr_t address);

/* The number at that (slot). Creates the record if it is new. 0: no memory.
 * Contexts: the drain. */
uint32_t prof_address_in(uint32_t *slot, uintptr_t address);

/*
 * The number of the function that contains the call instruction before the
 * return address (address), 0 without memory. A call may be a function's last
 * instruction (a function that does not return), so (address) itself may be in
 * the next function. Contexts: the drain.
 */
uint32_t prof_address_calling_function(uintptr_t address);

/* Analyses the prologues of addresses that have pending samples, the older ones
 * first, (most) at most, and until (steps) instructions were decoded; else a
 * report would have to, and take long. Contexts: the drain. */
void prof_addresses_catch_up(uint32_t most, uint32_t steps);

/* The word on top of the stack is no code address in a sample at (address),
 * whose caller is unknown. Returns whether it is known by that. Contexts: the
 * drain. */
bool prof_address_without_top(struct prof_address *address);

/* How the caller of code at (address) is found, PROF_CALLER_*. Analyses the
 * prologue the first time, and then counts the samples that were pending.
 * Contexts: thread. */
uint32_t prof_address_caller(struct prof_address *address);

#endif
