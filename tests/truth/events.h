/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EVENTS_H
#define EVENTS_H

/*
 * What the plugin knows, and what changes it: callbacks for the instructions
 * and blocks that matter, each with its (owner). truth.c registers them.
 */

#include "truth.h"

#include "qemu.h"

#define MARKS_MAX 256u

/* What is executed from a block's beginning on. */
struct block {
    uint64_t address;
    size_t insns;
    struct function *of[]; /* where each of them belongs */
};

struct truth {
    struct function *functions;
    size_t count; /* with the last one, for what is in none */
    uint64_t all; /* instructions executed */
    uint64_t in_handlers;
    uint64_t all_at[2]; /* at the first tick, and the last before the stop */
    uint64_t enter;     /* addresses */
    uint64_t stop;
    uint64_t mark;
    uint64_t thief;
    uint64_t ticks;
    uint64_t judged; /* of these, up to the stop */
    bool stopped;
    uint64_t unmatched_then; /* at the first tick: what boots is odd */
    uint64_t left_then;
    uint64_t period; /* of ideal samplers, instructions */
    uint64_t masked; /* ticks that waited until interrupts were turned on */
    uint64_t thefts; /* by the thief */
    uint64_t stolen; /* instructions */
    struct {
        uint64_t ticks, masked; /* there were */
    } marks[MARKS_MAX];         /* each time */
    size_t marks_count;
    FILE *tick_lines;
};

extern struct truth truth;

/* Where interrupts begin that are not the sampler's: addresses in hexadecimal
 * with "+" between them. Whether (text) is that. */
bool traps_read(const char *text);
bool traps_begin_at(uint64_t address);

/* Instructions at addresses that the arguments give. */
qemu_executed on_tick; /* (enter) */
qemu_executed on_stop;
qemu_executed on_mark;

/* Instructions of a kind. The owner of sti and popf is the function that they
 * are in, that of a call its struct call. */
qemu_executed on_cli;
qemu_executed on_sti;
qemu_executed on_popf;
qemu_executed on_halt;
qemu_executed on_iret;
qemu_executed on_call;
qemu_executed on_return;

/* A block begins: the thief's first one; one where another interrupt than the
 * sampler's begins; each, after that, with its struct block. */
qemu_executed on_thief;
qemu_executed on_trap;
qemu_executed on_block;

#endif
