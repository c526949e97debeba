/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PROF_H
#define PROF_PROF_H

/*
 * A profiler to be linked into a single-address-space image.
 *
 *     prof_init(memory, sizeof memory, &config);     once, at boot
 *     prof_start();                                  take the timer's gate
 *     prof_poll();                                   as often as you like
 *
 * prof_poll() (<prof/poll.h>) drains, reports and reads commands when that is
 * due; a kernel with timer callbacks may call prof_drain() and prof_report()
 * itself instead.
 *
 * The timer interrupt stores (pc, time) in a fixed vector and continues with
 * the kernel's own handler. The drain runs where the heap may be used, and
 * moves the samples into a tree of call stacks.
 *
 * Error policy: set-up calls return 0 or a negative enum prof_error that MUST
 * be checked. Code in the interrupt cannot fail; it counts what it had to drop,
 * and every report prints these counts. No sample is lost silently.
 *
 * Make all calls on one CPU, the one that prof_init() is called on: its timer
 * interrupt samples. <prof/cpus.h> is about others.
 */

#include <prof/cpus.h>
#include <prof/error.h>
#include <prof/loop.h>
#include <prof/poll.h>
#include <prof/stats.h>
#include <prof/tick.h>
#include <prof/trace.h>
#include <prof/user.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rates in Hz: the highest, and the default. */
#define PROF_HZ_MAX 20000u
#define PROF_HZ_DEFAULT 1000u

/* Defaults of the options prof.jitter, prof.depth and prof.share. */
#define PROF_JITTER_DEFAULT 50u
#define PROF_DEPTH_DEFAULT 64u
#define PROF_SHARE_KIB_DEFAULT 1024u

/* KiB that the recorder of tasks gets for the stacks of suspends, and that are
 * enough for experiments with a few targets and points. */
#define PROF_TRACE_STACKS_KIB 64u
#define PROF_CAUSAL_KIB 384u

/* Bytes of memory that prof_init() needs at the default settings. */
#define PROF_MEMORY_DEFAULT (40u * 1024u)

enum prof_weight {
    PROF_WEIGHT_TIME,  /* a share is a share of time (TSC cycles) */
    PROF_WEIGHT_COUNT, /* a share is a share of samples */
};

enum prof_form {
    PROF_FORM_SHARES,  /* share, samples, address and name; and the accounts */
    PROF_FORM_CLASSIC, /* [address + offset] N times: name */
};

enum prof_loop_by {
    PROF_LOOP_BY_SELF,    /* time of a site's tasks themselves */
    PROF_LOOP_BY_TOTAL,   /* and of their descendants */
    PROF_LOOP_BY_LONGEST, /* longest run */
};

/* Whether the sampling interrupt drains (config.tick_drains). */
enum prof_tick_drains {
    PROF_TICK_DRAINS_DEFAULT, /* where it can, and nobody else does */
    PROF_TICK_DRAINS_ON,      /* prof_init() fails where it cannot */
    PROF_TICK_DRAINS_OFF,
};

enum prof_report_kind {
    PROF_REPORT_TOP,    /* the hottest functions */
    PROF_REPORT_TREE,   /* the call tree, calls from 1 % on */
    PROF_REPORT_FOLDED, /* one line for each call stack: outer;inner;leaf N */
};

/* Half-open range of addresses. Empty where begin == end. */
struct prof_range {
    uintptr_t begin;
    uintptr_t end;
};

/* Facts about the image. Read during prof_init(), not kept. */
struct prof_kvm_steal_time;
struct prof_config {
    uint64_t tsc_hz;        /* time stamp counter's frequency, Hz, below 2^36 */
    uint32_t cpus;          /* that may be sampled (<prof/cpus.h>), 1 to
                               PROF_CPUS_MAX; 0 means 1 */
    struct prof_tick tick;  /* where ticks come from (<prof/tick.h>) */
    struct prof_range text; /* the image's code */
    struct prof_range idle; /* code that waits for interrupts (hlt) */
    struct prof_range stack; /* the current one; empty: see memory */

    /*
     * Where (stack) is empty, and no other was set since: the walk of a sample
     * reads up to 16 KiB from the stack pointer on, within (memory), which MUST
     * be mapped. Where that is empty, too, (mapped_end), called in the
     * interrupt, returns the end of the mapped memory that an address is in, or
     * 0. Without either, the walk stays in the stack pointer's page; without
     * paging, in its 16 KiB.
     */
    struct prof_range memory;
    uintptr_t (*mapped_end)(uintptr_t address);

    /* Memory for the built-in allocator (<prof/port.h>), aligned to 16. Kept
     * for good. NULL, 0: none. */
    void *pool;
    size_t pool_bytes;

    /*
     * For programs that do not yield: the interrupt drains, on a stack of its
     * own, where memory is that of (pool), or the image has prof_port_busy()
     * (<prof/port.h>). Not while one of the profiler's calls is in progress or
     * that function returns true; not while recorder, loop statistics or
     * experiments are on, whose state is the program's; nor with a stream, but
     * to "shm" and to transports that may send in an interrupt
     * (<prof/transport.h>). PROF_WITH_BUILTIN.
     *
     * DEFAULT: once three quarters of a vector are used, while callers are
     * recorded; in portions of a quarter of the sampling period, but four
     * samples at least. Not with PROF_TICK_HOOK, whose ticks may be NMIs.
     * prof_start() allocates the stack. prof.tick_drains=off turns it off.
     * ON: with any source, where no drain has come for twice prof_drain_ms();
     * for up to 550,000 instructions, during which ticks may be missed.
     */
    enum prof_tick_drains tick_drains;

#if PROF_CPUS_MAX > 1
    /* Has CPU (number), which may be halted, come to a turn of its event loop
     * in which it calls prof_cpu_poll(), after this call: a turn that has begun
     * before is not enough. Called on the first CPU, in prof_start(), drains
     * and reports, also again before that turn. NULL: a halted CPU answers when
     * something else ends its halt. */
    void (*kick)(uint32_t number);
#endif

    /* What a report names if a program drains too rarely: the call to be made,
     * MUST remain valid. NULL: "prof_poll()". */
    const char *drained_by;

    /* For the stream (<prof/transport.h>); 0 if not known. */
    uint64_t boot_tsc;          /* time stamp counter at boot */
    uint64_t boot_unix_seconds; /* wall time then, UTC */
    const uint8_t *build_id;    /* not copied: MUST remain valid */
    size_t build_id_bytes;
    uintptr_t image_offset; /* virtual less physical address of data */

    /*
     * Under KVM, (image_offset) is right for the profiler's own data, whose
     * physical address may be given to the hypervisor: which then accounts for
     * stolen time, and knows the frequency of the time stamp counter. MUST NOT
     * be set otherwise. A kernel that has KVM account for stolen time itself,
     * for the CPU that is sampled, says where (<prof/kvm.h>). PROF_WITH_KVM.
     */
    bool physical;
    const volatile struct prof_kvm_steal_time *steal_time; /* or NULL */
};

/*
 * Initialises the profiler with (config) and (bytes) of (memory), which it
 * keeps for good. Nothing else is allocated until prof_drain(). More than
 * PROF_MEMORY_DEFAULT makes the fixed vector longer. Each of config.cpus gets
 * an equal part of (memory).
 *
 * Contexts: boot, once. Returns 0, PROF_EMEMORY, PROF_ECPU, PROF_ECONFIG or
 * PROF_ETIMER; for the latter two it also prints a line: the field and its
 * range, or which timers are missing.
 */
int prof_init(void *memory, size_t bytes, const struct prof_config *config);

/* A field of a configuration and the values that prof_init() takes. */
struct prof_config_problem {
    const char *field; /* "tick.kernel_divisor" */
    uint64_t given, least, most;
};

/* Finds the first field of (config) that prof_init() refuses; false, and
 * *(problem) means nothing, if it takes all. PROF_WITH_BUILTIN. Contexts:
 * any. */
bool prof_config_problem(const struct prof_config *config,
                         struct prof_config_problem *problem);

/*
 * Sets one option, as on a command line: "prof.hz=1000". The options are the
 * members of struct prof_options, and prof.target= and prof.progress=
 * (<prof/causal_functions.h>).
 *
 * Contexts: boot, thread; also before prof_init(). Returns 0; or PROF_EOPTION,
 * PROF_EVALUE or PROF_EABSENT, and then nothing has changed.
 */
int prof_option(const char *word);

/* When causal experiments begin. */
enum prof_causal_mode {
    PROF_CAUSAL_MODE_OFF,  /* by a command */
    PROF_CAUSAL_MODE_ON,   /* at once, with what was named */
    PROF_CAUSAL_MODE_AUTO, /* with hot functions too, once they are known */
};

/* How functions become targets: <prof/causal.h>. */
enum prof_accrue_mode {
    PROF_ACCRUE_AUTO,   /* patched if that can be */
    PROF_ACCRUE_ENTRY,  /* patched */
    PROF_ACCRUE_SMOOTH, /* by samples of handlers */
};

/* The options in force; only prof_option() changes them. */
struct prof_options {
    uint32_t hz;             /* rate asked for, 1 to 20000 */
    uint32_t top;            /* rows of the table, 1 to 1000000 */
    uint32_t width;          /* columns for a name, 0 = whole */
    uint32_t every_ms;       /* prof.every: between reports, 0 = none */
    uint32_t drain_ms;       /* prof.drain: between drains, 1 to 10000; 0, the
                          default = as prof_drain_ms() says */
    uint32_t reports;        /* tables until the image ends, 0 = for ever */
    enum prof_weight weight; /* time or count */
    enum prof_form form;     /* shares or classic */
    enum prof_report_kind report; /* top, tree or folded */
    const char *callers; /* list the callers of this function, "" = none */
    bool start;          /* on or off: sample from boot on */
    bool tick_drains;    /* on or off: the interrupt may drain */
    const char *vmm; /* function whose samples all count as the hypervisor's,
                        such as one that notifies a device; "" = none */
    uint32_t jitter_percent; /* prof.jitter: of the period, to either side, 0 to
                                50; at rates above the kernel's tick */
    uint32_t seed;           /* of the jitter */
    uint32_t depth;          /* callers with each sample, 0 to 127 */
    const char *out; /* where the stream goes: off, serial, uart2, e9, virtio,
                        vsock or shm */
    uint32_t share_kib; /* prof.share: memory for shm, a power of two, 64 to
                           1048576 */
    enum prof_trace_mode trace; /* recorder of tasks: off, stream or flight */
    uint32_t trace_kib;         /* prof.trace_kb: its memory, 24 to 1048576; 0,
                                   the default: PROF_TRACE_KIB_... */
    uint32_t trace_stacks;      /* callers with each suspend, 0 to 64 */
    uint32_t loop_rows;         /* prof.loop: of the table of the event loop, 0
                                   to 4096; 0 = no statistics */
    enum prof_loop_by loop_by;  /* their order: self, total or longest */
    uint32_t loop_kib;       /* prof.loop_kb: memory of these, 48 to 1048576 */
    uint32_t loop_calls;     /* prof.loop_calls: tasks and futures at a time of
                                which calls are counted, 0 to 65536 */
    uint32_t loop_held_ms;   /* prof.loop_held: list longer runs with their
                              functions, 0 = none */
    uint32_t loop_freeze_ms; /* prof.loop_freeze: report longer runs while they
                                still run, 0 = none */
    bool loop_trigger;       /* on or off: that stops the flight recorder */
    enum prof_causal_mode causal; /* experiments: off, on or auto */
    enum prof_accrue_mode accrue; /* their targets: auto, entry or smooth */
    uint32_t causal_for_s;        /* prof.causal_for: they end after so long, 1
                                     to 86400; 0, the default: they do not */
    uint32_t causal_until;        /* prof.causal_until: or when no interval is
                                     wider, per cent, 1 to 19; 0: the same */
    enum prof_tick_choice tick;   /* prof.tick: kernel, pit, lapic or auto; read
                                     by prof_init() */
#if PROF_CPUS_MAX > 1
    uint32_t cpu; /* prof.cpu: tables have samples of this CPU only, and the
                     stream has all; PROF_CPU_ALL, the default: of all. Read by
                     prof_init() */
#endif
};
const struct prof_options *prof_options(void);

/* Starts sampling, if that is not so already. Contexts: thread; interrupts may
 * be on. Drains first, and so may allocate. Returns 0, PROF_ESTATE, PROF_EGATE,
 * PROF_EONE_SHOT, PROF_ELAPIC or PROF_EPORT. */
int prof_start(void);

/*
 * Stops sampling, and restores the kernel's gate and timer. Samples are kept.
 * Contexts: thread. Drains first, and so may allocate. If the timer was sped
 * up, waits for the end of the kernel's tick, for two ticks at most; with
 * interrupts off it does not, and the kernel's clock may lose a part of one.
 */
void prof_stop(void);

/* Whether sampling is started. Contexts: any. */
bool prof_running(void);

/*
 * Sets the sampling rate, also while sampling; prof_rate_mhz() returns the
 * result. A rate below that of the kernel's ticks, which does not change, is
 * raised to it, and one above PROF_HZ_MAX lowered to that. One from the
 * kernel's own on is raised so far that the period can vary by prof.jitter: by
 * the half, if that is 50.
 *
 * Contexts: thread. Drains, and so may allocate. Waits like prof_stop() if the
 * new rate is the kernel's own. Returns 0; or PROF_ERATE for 0, or PROF_EFIXED
 * if the source's rate cannot be changed; then nothing has changed.
 */
int prof_set_rate(uint32_t hz);

/* Records up to (depth) callers with each sample from now on, 0 to 127.
 * Contexts: thread. Drains if sampling. Returns 0, PROF_EVALUE or
 * PROF_EABSENT. */
int prof_set_depth(uint32_t depth);

/*
 * Sets the current stack to [begin, end); the frame walk reads nothing outside
 * it, and the memory MUST stay readable until the next call. A kernel whose
 * tasks have their own stacks must call this at each switch; a sample between
 * this call and the switch itself has no callers. The initial stack is
 * config.stack. Contexts: thread, interrupts on or off. A few stores.
 */
void prof_stack_set(uintptr_t begin, uintptr_t end);

/* Milliseconds between calls of prof_drain() such that the frame vector does
 * not fill up: prof.drain if set; otherwise 100, or less above 1.6 kHz, or 1
 * while the vector is more than half full or the last drain has left samples.
 * Deep stacks fill it early, so call this every few ms. Contexts: thread. */
uint32_t prof_drain_ms(void);

/* The rate in force in 1/1000 Hz: a timer divides its clock by whole
 * numbers. */
uint32_t prof_rate_mhz(void);

/* Whether the sampling period varies enough that no code runs in step with it.
 * Not at the kernel's own rate, with PROF_TICK_HOOK, or with a small
 * prof.jitter. */
bool prof_period_varies(void);

/* Drains, which sends all samples to the stream, then discards every sample
 * and count. Sampling continues. Contexts: thread. May allocate. */
void prof_reset(void);

/*
 * Moves samples from the fixed vector into the tree of call stacks, and checks
 * the source of ticks. May allocate. If there were too many or too few ticks,
 * waits for up to two sampling periods to examine the PIT.
 *
 * Contexts: thread, on the CPU that samples, interrupts on. Linear in what is
 * queued, up to about a millisecond at 1,000 MIPS; the rest stays queued for
 * the next call, which is then due (prof_drain_ms()). The calls that drain
 * before something else drain everything. Without memory the rest stays queued,
 * too; once the vectors are half full, samples that need some are dropped and
 * counted.
 */
void prof_drain(void);

/* Drains, then prints the table and the accounts through prof_port_write().
 * Allocates nothing beyond what the drain does. Contexts: thread. */
void prof_report(void);

/* Copies the counts. Contexts: thread. Does not drain. Linear in the number of
 * stacks if samples were drained since the last call. */
void prof_stats(struct prof_stats *stats);

/* The samples of one function, or of one address that is in none. */
struct prof_row {
    uintptr_t address; /* the function's start; the address itself if !named */
    uint64_t samples;
    uint64_t cycles; /* time that they cover */
    bool named;      /* the function is in the symbol table */
};

/*
 * Calls (visit) with (context) once for each function with samples, in no
 * particular order. Without idle and queued samples and the profiler's own: the
 * rows add up to attributed + masked + unresolved + user. A row is valid during
 * the call only.
 *
 * Contexts: thread. Neither drains nor allocates. (visit) MUST NOT drain,
 * report, reset or change the rate.
 */
void prof_visit(void (*visit)(const struct prof_row *row, void *context),
                void *context);

/* The samples of one call stack. */
struct prof_stack_row {
    const uintptr_t *addresses; /* the sampled one, then return addresses,
                                   innermost first */
    uint32_t count;             /* of these */
    uint64_t samples;
    uint64_t cycles;    /* time that they cover */
    uint64_t first_tsc; /* when the first and the last of them were taken */
    uint64_t last_tsc;
};

/* The same for each distinct call stack; its addresses, too, are valid during
 * the call only. The rows add up as those do, with the profiler's own stacks
 * besides. Linear in the stacks; 1 KiB of stack. */
void prof_visit_stacks(void (*visit)(const struct prof_stack_row *row,
                                     void *context),
                       void *context);

/*
 * Records one sample: the code address (pc) that was interrupted, with the
 * stack pointer (sp) and frame pointer (fp) it had; 0 where they are not known:
 * then without callers. For kernels whose config.tick is PROF_TICK_HOOK.
 *
 * Contexts: interrupt or NMI, but always the same one: the vector has a single
 * producer. Wait-free, no allocation, at most 256 bytes of stack, general
 * registers only.
 */
void prof_sample(uintptr_t pc, uintptr_t sp, uintptr_t fp);

#ifdef __cplusplus
}
#endif

#endif
