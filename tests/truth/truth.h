/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRUTH_H
#define TRUTH_H

/*
 * What a guest really does, counted to the instruction, as a plugin of QEMU:
 *
 *     -plugin truth.so,map=FILE,enter=HEX,stop=HEX,out=FILE,ticks=FILE,
 *         period=INSTRUCTIONS,mark=HEX,thief=HEX
 *
 * (map) has lines "START END FIRST" in hexadecimal, the functions by rising
 * start; those with the same FIRST, the start of the first of them, are one
 * group and count together; (enter) is where the sampler's interrupt begins. An
 * interrupt lasts from there to the next iret, and what is executed in it is
 * counted apart. Truth is what was executed from the first tick to the last one
 * before the address (stop), where sampling ends; for each function:
 *
 *     self     instructions in it
 *     total    in it, or while a call that it made has not returned
 *     handler  in it, in interrupts
 *     masked   of self, with interrupts off
 *     opened   in any function with interrupts off, until this one turned them
 *              on: what a sampler that is an interrupt sees in it
 *     whole    in it, outside interrupts, from the machine's start to its end
 *     ideal_*  what samplers without fault found with this (period) (ideal.h)
 *
 * The interrupt that begins at (thief) plays a host that takes the CPU away:
 * what is executed in it is counted apart as well, and "thief" gets how often
 * it came, and how many instructions that were.
 *
 * (ticks) gets one line for each tick: the interrupted address, which is the
 * one that is executed next, and the return addresses of the calls that have
 * not returned, the innermost first; hexadecimal, spaces between. Whenever
 * (mark) is executed, "marks" gets how many ticks there were, and how many of
 * them came just after an instruction that turns interrupts on.
 */

#include "ideal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct function {
    uint64_t start;
    uint64_t end;
    size_t group;      /* where the first of its group is */
    uint64_t executed; /* instructions, by the generated code itself */
    uint64_t handler;  /* of these, in interrupts */

    /* calls that it made and that have not returned */
    uint64_t pending;
    uint64_t since;    /* clock at the first one of them */
    uint64_t own_then; /* own() at that time */
    uint64_t called;   /* clock that passed in such times */
    uint64_t covered;  /* of which in itself, again */

    uint64_t self[2]; /* at the first and at the last tick */
    uint64_t total[2];
    uint64_t executed_at_entry; /* of the interrupt that is on */

    uint64_t own_at_cli; /* the last one, if a block of it began since */
    bool is_seen_off;    /* which this says, and what links them */
    struct function *next_seen_off;
    uint64_t masked;       /* own instructions, with interrupts off */
    uint64_t opened;       /* all instructions with them off, until it opened */
    uint64_t masked_at[2]; /* the first and the last tick */
    uint64_t opened_at[2];

    struct ideal_sums *ideal; /* NULL where it was never met */
    uint64_t stamp;           /* the last ideal sample that it was in */
};

/* The first of the group of the function that holds (address), or the last one,
 * which holds the rest. */
struct function *truth_function_at(uint64_t address);

/* Instructions executed in (function) outside interrupts. */
static inline uint64_t truth_own(const struct function *function)
{
    return function->executed - function->handler;
}

/* Instructions executed outside interrupts, in all. */
uint64_t truth_clock(void);

/* The stack of calls (calls.c): what happens to it, outside interrupts. */
struct call {
    struct function *caller;
    uint64_t back; /* the address that it returns to */
};

void calls_push(const struct call *call);

/* A return, to (address), which ends as many calls as it takes. One that fits
 * no call is a longjmp: it ends all calls from the last one that was made by
 * the function that it leads to. */
void calls_return(uint64_t address);

/* Returns that fit nothing; calls that a return has skipped; calls that a
 * longjmp has ended. */
uint64_t calls_unmatched(void);
uint64_t calls_left(void);
uint64_t calls_jumped(void);

/* Clock that passed while (function) had called somebody, or was executing. */
uint64_t calls_total(const struct function *function);

/* How many have not returned, and who made the one numbered (at), from 0 on,
 * the outermost first. */
size_t calls_depth(void);
struct function *calls_caller(size_t at);

/* Writes the return addresses, each after a space. */
void calls_print(FILE *out);

#endif
