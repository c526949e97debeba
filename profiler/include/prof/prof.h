/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PROF_H
#define PROF_PROF_H

/*
 * A profiler to be linked into a single-address-space image.
 *
 *     prof_init(memory, sizeof memory, &config);     once, at boot
 *     prof_start();                                  take the timer's gate
 *     every 100 ms, in a timer callback: prof_drain();
 *     every second, in a timer callback: prof_report();
 *
 * The timer interrupt stores (pc, time) in a fixed vector and goes on to the
 * kernel's own handler. The drain moves what is stored into a heap map, where
 * the heap may be used. The report prints the functions that cost most.
 *
 * Error policy: set-up returns 0 or a negative enum prof_error that MUST be
 * looked at. What runs in the interrupt cannot fail, it counts; the counts are
 * printed with every report. Nothing that was sampled is ever lost silently.
 *
 * One CPU: all calls come from the CPU whose timer interrupt is sampled.
 */

#include <prof/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* PIT input clock, shared by every PC (Intel 8254 on a PC/AT board). */
#define PROF_PIT_HZ 1193182u

/* Sampling rates that prof_set_rate() accepts as they are; see there. */
#define PROF_HZ_MAX 20000u
#define PROF_HZ_DEFAULT 1000u

/* Per cent of it by which the sampling period varies to either side. */
#define PROF_JITTER_DEFAULT 50u

/* Callers that a sample carries, unless prof.depth says otherwise. */
#define PROF_DEPTH_DEFAULT 64u

/* Memory that serves prof_init() at the default settings, everything in it. */
#define PROF_MEMORY_DEFAULT (40u * 1024u)

enum prof_weight {
    PROF_WEIGHT_TIME,  /* a share is a share of time (TSC cycles) */
    PROF_WEIGHT_COUNT, /* a share is a share of samples */
};

enum prof_form {
    PROF_FORM_SHARES,  /* share, samples, address and name; and the accounts */
    PROF_FORM_CLASSIC, /* [address + offset] N times: name */
};

enum prof_report_kind {
    PROF_REPORT_TOP,    /* the hottest functions */
    PROF_REPORT_TREE,   /* who calls whom, with shares, from 1 % on */
    PROF_REPORT_FOLDED, /* one line for each call stack: outer;inner;leaf N */
};

/* Half-open range of addresses. Empty where begin == end. */
struct prof_range {
    uintptr_t begin;
    uintptr_t end;
};

/* What the image tells the profiler. Read during prof_init(), not kept. */
struct prof_config {
    uint64_t tsc_hz;         /* time stamp counter's frequency, Hz */
    uint32_t kernel_divisor; /* PIT counts per kernel tick, 1 to 65536 */
    uint8_t timer_vector;    /* IDT vector of the PIT's interrupt */
    struct prof_range text;  /* the image's code */
    struct prof_range idle;  /* where the kernel waits for interrupts */
    struct prof_range stack; /* the present one; empty: no callers are taken */

    /* For the stream (<prof/out.h>); 0 where it is not known. */
    uint64_t boot_tsc;          /* time stamp counter at boot */
    uint64_t boot_unix_seconds; /* wall time then, UTC */
    const uint8_t *build_id;    /* MUST stay where it is */
    size_t build_id_bytes;
    uintptr_t image_offset; /* virtual less physical address of data */
};

/* What is counted since prof_init() or prof_reset(): ticks, or as it says. */
struct prof_stats {
    uint64_t ticks;      /* samples delivered: the sum of the next six */
    uint64_t attributed; /* in a function that has a name, not masked */
    uint64_t masked;     /* in one, where interrupts had just been turned on */
    uint64_t idle;       /* in config.idle */
    uint64_t unresolved; /* in no function of the table */
    uint64_t dropped;    /* address lost: vector and small table full, or
                            no memory for what is new, and many waiting */
    uint64_t queued;     /* still waiting: since the drain, or for memory */
    uint64_t missed;     /* due by the clock, never delivered; not in ticks */
    uint64_t overflowed; /* of ticks: went through the small table */
    uint64_t far;        /* of ticks: function without a frame, whose caller
                            could not be reached */
    uint64_t stopped[7]; /* walks that ended early, by enum prof_walk_stop */
    uint64_t elapsed_cycles; /* time they cover: the sum of the next five */
    uint64_t attributed_cycles;
    uint64_t masked_cycles;
    uint64_t idle_cycles;
    uint64_t unresolved_cycles;
    uint64_t dropped_cycles;
    uint64_t exits; /* of attributed and masked: at an instruction that leaves
                       the guest, or in prof.vmm */
    uint64_t exits_cycles;
    uint64_t stolen_cycles; /* of elapsed: no tick came, nor was one masked */
    uint64_t interrupt_cycles; /* the sampler's own, in the interrupt */
    uint64_t drain_cycles;     /* the sampler's own, in prof_drain() */
    uint64_t report_cycles;    /* the sampler's own, in prof_report() */
    uint32_t addresses;        /* distinct ones in the map */
    uint32_t functions;        /* distinct ones in the map */
    uint32_t stacks;           /* nodes of the tree of call stacks */
    uint32_t refusals;         /* allocations refused */
    uint32_t gate_taken_back;  /* times that the IDT gate had been replaced */
    uint32_t pit_taken_back;   /* times that the PIT had been reprogrammed */
    uint64_t stream_packets;   /* that left the image (<prof/out.h>) */
    uint64_t stream_bytes;     /* in these */
    uint64_t stream_discarded; /* samples refused by the way out, or forgotten
                                  before they were sent; since prof_init() */
    uint64_t forgotten; /* ticks before the last reset, since prof_init() */
};

/*
 * Gives the profiler its (bytes) bytes of (memory), for good, and the facts in
 * (config). Nothing else is allocated until prof_drain().
 *
 * Contexts: boot, once. PROF_MEMORY_DEFAULT is enough for the default
 * settings; more makes the fixed vector longer.
 * Returns 0, PROF_EMEMORY or PROF_ECONFIG.
 */
int prof_init(void *memory, size_t bytes, const struct prof_config *config);

/*
 * Takes one option as it stands on a command line, "prof.hz=1000".
 *
 * Known: prof.hz (1 to 20000), prof.top (rows, 1 to 1000000), prof.width
 * (columns for a name, 0 = whole), prof.every (ms between reports, 0 = none),
 * prof.drain (ms between drains, 1 to 10000; see prof_drain_ms()),
 * prof.reports (tables until the image ends, 0 = for ever), prof.weight (time
 * or count), prof.form (shares or classic), prof.start (on or off), prof.out
 * (off, serial, uart2, e9, virtio or shm: where the stream goes), prof.share
 * (KiB of memory for shm, a power of two from 64 to 1048576), prof.depth
 * (callers with each sample, 0 to 127), prof.jitter (per cent of the sampling
 * period by which it varies to either side, 0 to 50; only at rates above the
 * kernel's tick), prof.seed (of that), prof.report (top, tree or folded),
 * prof.callers (a function whose callers are listed below the table), prof.vmm
 * (a function whose samples are all the hypervisor's, as one that notifies a
 * device by a memory access).
 * Contexts: boot, thread. May be called before prof_init().
 * Returns 0, PROF_EOPTION or PROF_EVALUE; then nothing has changed.
 */
int prof_option(const char *word);

/* The options in force. Read-only for everybody but prof_option(). */
struct prof_options {
    uint32_t hz;       /* rate asked for, Hz */
    uint32_t top;      /* rows of the table */
    uint32_t width;    /* columns for a name, 0 = whole */
    uint32_t every_ms; /* between reports, 0 = none */
    uint32_t drain_ms; /* between drains, 0 = as prof_drain_ms() says */
    uint32_t reports;  /* tables until the image ends, 0 = for ever */
    enum prof_weight weight;
    enum prof_form form;
    enum prof_report_kind report;
    const char *callers; /* function whose callers are wanted, "" = none */
    bool start;          /* sample from boot on */
    const char *vmm; /* function to be counted as the hypervisor's, "" = none */
    uint32_t jitter_percent; /* of the period, to either side, 0 = none */
    uint32_t seed;           /* of the jitter */
    uint32_t depth;          /* callers with each sample, 0 = none */
    const char *out;         /* where the stream goes, "off" = nowhere */
    uint32_t share_kib;      /* memory for the stream in memory */
};
const struct prof_options *prof_options(void);

/*
 * Starts sampling: takes the timer's IDT gate and programs the PIT.
 * Started already: nothing happens.
 *
 * Contexts: thread. Interrupts may be on. Drains first, which allocates where
 * something was left. Returns 0, PROF_ESTATE or PROF_EGATE.
 */
int prof_start(void);

/*
 * Stops sampling: the gate and the PIT are again as the kernel had them. What
 * was sampled stays. Stopped already: nothing happens.
 *
 * Contexts: thread. Drains first, and so may allocate. Where the PIT ran
 * faster it then waits for the end of the kernel's tick, two of them at most;
 * with interrupts off it does not, and the kernel's clock may lose a part of
 * a tick.
 */
void prof_stop(void);

/* Whether prof_start() is in force. Contexts: any. */
bool prof_running(void);

/*
 * Samples at (hz) from now on, also while running. The kernel's own tick stays
 * what it was. A rate below the kernel's tick is raised to it and one above
 * PROF_HZ_MAX lowered to that, which prof_rate() then tells.
 *
 * Contexts: thread. Drains, and so may allocate; waits as prof_stop() does
 * where the new rate is the kernel's own. Returns 0, or PROF_ERATE for 0 (and
 * changes nothing).
 */
int prof_set_rate(uint32_t hz);

/*
 * Takes up to (depth) callers with each sample from now on, 0 to 127; 0 = none.
 * Contexts: thread. Drains where it runs. Returns 0, or PROF_EVALUE.
 */
int prof_set_depth(uint32_t depth);

/*
 * The present stack is [begin, end) from now on: callers are looked for in
 * there and nowhere else. To be called by kernels whose tasks have stacks of
 * their own, at each switch from one to another; a sample between this and the
 * switch itself is taken without callers. At first it is config.stack.
 *
 * Contexts: thread, interrupts on or off. A few stores. The memory MUST stay
 * readable until the next call.
 */
void prof_stack_set(uintptr_t begin, uintptr_t end);

/*
 * Milliseconds between calls of prof_drain() by which the callers of all
 * samples fit into the memory given at start: prof.drain, or else 100, and
 * less at more than 1.6 kHz; 1 as soon as that memory is half full, as deep
 * stacks fill it earlier. So it is to be asked every few ms. Contexts: thread.
 */
uint32_t prof_drain_ms(void);

/* The rate in force in 1/1000 Hz: what the PIT's whole divisor comes to. */
uint32_t prof_rate_mhz(void);

/* Forgets every sample and count, after a drain that tells the stream of them;
 * sampling goes on. Contexts: thread. Drains, and so may allocate. */
void prof_reset(void);

/*
 * Moves samples from the fixed vector into the heap map, and looks after the
 * gate and the PIT. May allocate. Does not wait, but for one sampling period
 * at most to look at the PIT where ticks were too many or too few.
 *
 * Contexts: thread, on the CPU that samples, interrupts on. Linear in what is
 * queued. Refused memory leaves the rest queued for the next call, up to half
 * of what the vectors hold; beyond that, what is new is dropped and counted.
 */
void prof_drain(void);

/*
 * Drains, then prints the table and the accounts through prof_port_write().
 * Allocates nothing beyond what the drain does. Contexts: thread.
 */
void prof_report(void);

/* Copies the counts. Contexts: thread. Does not drain. Linear in the addresses
 * that were seen. */
void prof_stats(struct prof_stats *stats);

/* What is known of one function, or of one address that is in none. */
struct prof_row {
    uintptr_t address; /* the function's start; the address itself if !named */
    uint64_t samples;
    uint64_t cycles; /* time that they stand for */
    bool named;      /* the symbol table knows the function */
};

/*
 * Calls (visit) with each row and (context), once each, in no order, for what
 * was drained and is not idle: the rows come to attributed plus
 * masked plus unresolved.
 * A row lives as long as the call.
 *
 * Contexts: thread. Neither drains nor allocates. (visit) MUST NOT drain,
 * report, reset or change the rate.
 */
void prof_visit(void (*visit)(const struct prof_row *row, void *context),
                void *context);

/* What is known of one call stack. */
struct prof_stack_row {
    const uintptr_t *addresses; /* the sampled one, then return addresses,
                                   innermost first */
    uint32_t count;             /* of these */
    uint64_t samples;
    uint64_t cycles;    /* time that they stand for */
    uint64_t first_tsc; /* when the first and the last of them were taken */
    uint64_t last_tsc;
};

/*
 * Calls (visit) with each distinct call stack and (context), once each, in no
 * order, for what was drained and is not idle: they come to attributed plus
 * masked plus unresolved. A row and its addresses live as long as the call.
 *
 * Contexts and what (visit) must not do: as prof_visit(). Linear in the stacks;
 * 1 KiB of stack.
 */
void prof_visit_stacks(void (*visit)(const struct prof_stack_row *row,
                                     void *context),
                       void *context);

/*
 * Records one sample: the code address (pc) that was interrupted, with the
 * stack pointer (sp) and frame pointer (fp) it had. For kernels that call the
 * sampler from a hook of their own instead of giving up their gate.
 *
 * Contexts: interrupt or NMI, but always the same one: the vector has a single
 * producer. Wait-free, no allocation, at most 256 bytes of stack, general
 * registers only. Where (sp) and (fp) are not known they may be 0: the sample
 * then has no callers.
 */
void prof_sample(uintptr_t pc, uintptr_t sp, uintptr_t fp);

#ifdef __cplusplus
}
#endif

#endif
