/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ATTACH_SAMPLER_H
#define ATTACH_SAMPLER_H

/*
 * The loop of `parasite attach`: stop, take a sample of every CPU, go on.
 *
 * The clock of the samples is the time that the guest ran: pauses are not in
 * it, neither ours nor those of somebody else. So shares are of the guest's
 * own time; what it lost is reported aside.
 */

#include "attach/encoder.h"
#include "attach/inside.h"
#include "attach/pauses.h"
#include "attach/ram.h"
#include "machine/machine.h"
#include "trace/boots.h"
#include "unwind/unwind.h"

#define SAMPLER_WALLS_LOG 8

struct sampler {
    struct machine *machine;
    struct unwinder *unwinder;
    const struct image *image; /* or NULL */
    struct inside inside;      /* the guest's own profiler, if it has one */
    struct ram ram;            /* opened: stacks are read there */
    double hz;
    double seconds; /* time limit, 0 = none */
    double budget;  /* share of time that pauses may take, 0 = any */
    unsigned depth; /* callers */
    int packets;    /* open file that gets them instead of a trace, or -1 */
    bool (*alive)(void *owner); /* of a guest that we started, or NULL */
    void *owner;

    struct boots boots;
    struct encoder encoder;
    struct schedule schedule;
    struct pauses pauses;
    bool refused; /* nobody reads the packets any more */
    double began; /* on the monotonic clock */
    double ended;
    double continued; /* when the guest last went on */
    double ran;       /* seconds, until it was stopped */
    double held;      /* seconds in which somebody else held it */
    double shown;
    uint64_t stops;   /* of which there are samples */
    uint64_t samples; /* of all CPUs */
    uint64_t halted;  /* of these */
    uint64_t scanned; /* of these, with callers found by a scan */
    uint64_t missed;
    uint32_t unwritten; /* of these, since the last sample */
    size_t stack_bytes; /* that most walks read */
    size_t deepest;     /* of the last walks */
    unsigned walks;
    uint64_t walls[1 << SAMPLER_WALLS_LOG]; /* pages that could not be read */
    struct index seen;    /* addresses that may follow a HLT */
    uint8_t *seen_states; /* by number */
};

/* Samples until the time is over, Ctrl-C is pressed or the guest ends, and
 * writes a trace to the folder (path), unless packets go to a file. The other
 * fields have been set. */
void sampler_run(struct sampler *sampler, const char *path);

/* Prints what it has done, and what that has cost. */
void sampler_report(struct sampler *sampler);

/* The guest is stopped: reads (count) bytes at (address), as CPU 0 sees them,
 * but for its stack's window. False unless all are there. */
bool sampler_read(struct sampler *sampler, uint64_t address, uint8_t *to,
                  size_t count);

/* The same as (cpu) sees them; returns how many of the first ones are there. */
size_t sampler_read_some(struct sampler *sampler, size_t cpu, uint64_t address,
                         uint8_t *to, size_t count);

/* The guest is stopped: whether a call of an image returns to (address). */
bool sampler_after_call(struct sampler *sampler, size_t cpu, uint64_t address);

/* The guest is stopped: unwinds (cpu). sampler_walk() returns false instead if
 * the CPU is halted. */
void sampler_unwind(struct sampler *sampler, size_t cpu,
                    struct unwind_stack *stack);
bool sampler_walk(struct sampler *sampler, size_t cpu,
                  struct unwind_stack *stack);

#endif
