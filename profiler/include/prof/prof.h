/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PROF_H
#define PROF_PROF_H

/*
 * A sampling profiler that is linked into a single-address-space image.
 *
 *     prof_init(memory, sizeof memory, &config);     once, at boot
 *     prof_start();                                  takes the timer's gate
 *     prof_poll();                                   as often as you like
 *
 * prof_poll() (<prof/poll.h>) drains samples, prints reports and executes
 * commands when they are due. A kernel with timer callbacks may call
 * prof_drain() and prof_report() itself instead.
 *
 * The timer interrupt stores (pc, time) in a vector of fixed size and chains to
 * the kernel's own handler. The drain runs where the heap may be used, and
 * moves the samples into a tree of call stacks.
 *
 * Error policy: set-up calls return 0 or a negative enum prof_error, which MUST
 * be checked. Code in the interrupt cannot fail: it counts what it drops, and
 * every report prints these counts. No sample is lost silently.
 *
 * Make all calls on the CPU that calls prof_init(), unless stated otherwise.
 * That CPU's timer interrupt takes the samples. See <prof/cpus.h> for sampling
 * several CPUs.
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

/* KiB that the task recorder allocates for stacks of suspends, and KiB that are
 * enough for causal experiments with a few targets and progress points. */
#define PROF_TRACE_STACKS_KIB 64u
#define PROF_CAUSAL_KIB 384u

/* Bytes of memory that prof_init() needs at the default settings. */
#define PROF_MEMORY_DEFAULT (40u * 1024u)

enum prof_weight {
    PROF_WEIGHT_TIME,  /* shares are of time (TSC cycles) */
    PROF_WEIGHT_COUNT, /* shares are of samples */
};

enum prof_form {
    PROF_FORM_SHARES,  /* share, samples, address, name; then the accounts */
    PROF_FORM_CLASSIC, /* [address + offset] N times: name */
};

enum prof_loop_by {
    PROF_LOOP_BY_SELF,    /* self time of the site's tasks */
    PROF_LOOP_BY_TOTAL,   /* self time, and that of all descendants */
    PROF_LOOP_BY_LONGEST, /* longest run */
};

/* Whether the sampling interrupt drains (config.tick_drains). */
enum prof_tick_drains {
    PROF_TICK_DRAINS_DEFAULT, /* if it can, and nothing else drains */
    PROF_TICK_DRAINS_ON,      /* prof_init() fails if it cannot */
    PROF_TICK_DRAINS_OFF,
};

enum prof_report_kind {
    PROF_REPORT_TOP,    /* the hottest functions */
    PROF_REPORT_TREE,   /* the call tree, without calls below 1 % */
    PROF_REPORT_FOLDED, /* one line for each call stack: outer;inner;leaf N */
};

/* A half-open range of addresses, [begin, end). Empty if begin == end. */
struct prof_range {
    uintptr_t begin;
    uintptr_t end;
};

/* Describes the image and the machine. prof_init() copies the struct; what its
 * pointers refer to is not copied. */
struct prof_kvm_steal_time;
struct prof_config {
    uint64_t tsc_hz;         /* TSC frequency in Hz, below 2^36; 0: prof_init()
                                reads it from CPUID or kvmclock, or measures it
                                (PROF_WITH_BUILTIN) */
    uint32_t cpus;           /* CPUs that may be sampled (<prof/cpus.h>), 1 to
                                PROF_CPUS_MAX; 0 means 1 */
    struct prof_tick tick;   /* source of ticks (<prof/tick.h>) */
    struct prof_range text;  /* the image's code */
    struct prof_range idle;  /* code that waits for interrupts (hlt) */
    struct prof_range stack; /* the current stack; empty: see (memory) */

    /*
     * What the frame walk may read while (stack) is empty and prof_stack_set()
     * has set no other: up to 16 KiB from the stack pointer upwards, within
     * (memory), which MUST be mapped. If (memory) is empty, too, the interrupt
     * calls (mapped_end), which returns the end of the mapped region that
     * contains (address), or 0. Without either, the walk stays in the stack
     * pointer's page, or, if paging is off, in its 16 KiB.
     */
    struct prof_range memory;
    uintptr_t (*mapped_end)(uintptr_t address);

    /* Memory for the built-in allocator (<prof/port.h>), aligned to 16 bytes,
     * which the profiler keeps. NULL, 0: none. */
    void *pool;
    size_t pool_bytes;

    /*
     * Whether the sampling interrupt drains: for programs that do not yield.
     * The drain runs on a stack of its own. It requires that allocations come
     * from (pool), or that the image defines prof_port_busy() (<prof/port.h>).
     * PROF_WITH_BUILTIN.
     *
     * The interrupt does not drain
     *   - during a call of the profiler, or while prof_port_busy() returns true
     *   - while the task recorder, the statistics of the event loop or causal
     *     experiments are on, as the program changes their state
     *   - with a stream, unless its transport is "shm" or one that may send in
     *     an interrupt (<prof/transport.h>)
     *
     * DEFAULT: drains once three quarters of a vector are used, if callers are
     * recorded, for a quarter of the sampling period at a time, but at least
     * four samples. Not with PROF_TICK_HOOK, whose ticks may be NMIs.
     * prof_start() allocates the stack. prof.tick_drains=off disables it.
     * ON: drains with any source but NMIs, after no drain for twice
     * prof_drain_ms(), for up to 550,000 instructions, during which ticks may
     * be missed.
     */
    enum prof_tick_drains tick_drains;

#if PROF_CPUS_MAX > 1
    /* Makes CPU (number), which may be halted, begin a turn of its event loop
     * and call prof_cpu_poll() in it. A turn that began before the kick does
     * not count. Called on the first CPU by prof_start(), drains and reports,
     * possibly again before that turn. NULL: a halted CPU answers when
     * something else wakes it. */
    void (*kick)(uint32_t number);
#endif

    /* The call that a report recommends if the program drains too rarely; MUST
     * remain valid. NULL: "prof_poll()". */
    const char *drained_by;

    /* For the stream (<prof/transport.h>); 0 if unknown. */
    uint64_t boot_tsc;          /* TSC at boot */
    uint64_t boot_unix_seconds; /* wall time at boot, UTC */
    const uint8_t *build_id;    /* not copied: MUST remain valid */
    size_t build_id_bytes;
    uintptr_t image_offset; /* virtual minus physical address of data */

    /*
     * For guests of KVM. Set (physical) only if (image_offset) holds for the
     * profiler's own data: the profiler may then register the physical address
     * of its data with the hypervisor, which reports stolen time and the TSC
     * frequency there. A kernel that has registered a steal-time area of its
     * own, for the CPU that is sampled, passes it in (steal_time), else NULL.
     * See <prof/kvm.h>. PROF_WITH_KVM.
     */
    bool physical;
    const volatile struct prof_kvm_steal_time *steal_time;
};

/*
 * Initialises the profiler with (config) and (bytes) bytes at (memory), aligned
 * to 8 bytes, which it keeps. Each of config.cpus gets an equal part: at least
 * PROF_MEMORY_DEFAULT bytes at the default settings. More memory makes the
 * sample vector longer. Allocates nothing else, unless config.tick_drains is
 * ON.
 *
 * Contexts: boot, once; privileged. Returns 0, PROF_EMEMORY (NULL, misaligned,
 * or too little), PROF_ESTATE (initialised already), PROF_ECPU, PROF_EABSENT
 * (the source of ticks is not in this image), PROF_ECONFIG or PROF_ETIMER. The
 * latter two also print a line: the field and its range, or which timers are
 * missing.
 */
int prof_init(void *memory, size_t bytes, const struct prof_config *config);

/* A configuration field, its value, and the range that prof_init() accepts. */
struct prof_config_problem {
    const char *field; /* such as "tick.kernel_divisor" */
    uint64_t given, least, most;
};

/* Finds the first field of (config) that is out of range. Returns true and
 * fills *problem; or false, with *problem undefined, if all are in range. A
 * tsc_hz of 0 counts as out of range. PROF_WITH_BUILTIN. Contexts: any. */
bool prof_config_problem(const struct prof_config *config,
                         struct prof_config_problem *problem);

/*
 * Sets one option, written as on a command line: "prof.hz=1000". The options
 * are the members of struct prof_options, and prof.target= and prof.progress=
 * (<prof/causal_functions.h>).
 *
 * Contexts: boot, thread; also before prof_init(). Returns 0; or PROF_EOPTION,
 * PROF_EVALUE or PROF_EABSENT, without effect.
 */
int prof_option(const char *word);

/* When causal experiments begin. */
enum prof_causal_mode {
    PROF_CAUSAL_MODE_OFF,  /* on command */
    PROF_CAUSAL_MODE_ON,   /* at once, with the targets named */
    PROF_CAUSAL_MODE_AUTO, /* once the hot functions are known: these are
                              targets, too */
};

/* How time in a target function is measured (<prof/causal_functions.h>). */
enum prof_accrue_mode {
    PROF_ACCRUE_AUTO,   /* its entry is patched, if possible */
    PROF_ACCRUE_ENTRY,  /* its entry is patched */
    PROF_ACCRUE_SMOOTH, /* from the samples of handlers */
};

/* The options in force. A comment names the option where it differs from the
 * member. Only prof_option() changes them. */
struct prof_options {
    uint32_t hz;             /* requested rate in Hz, 1 to 20000 */
    uint32_t top;            /* rows of the table, 1 to 1000000 */
    uint32_t width;          /* columns for a name, 0 = whole names */
    uint32_t every_ms;       /* prof.every: ms between reports, 0 = none */
    uint32_t drain_ms;       /* prof.drain: ms between drains, 1 to 10000; 0,
                                the default: chosen by prof_drain_ms() */
    uint32_t reports;        /* reports until the image exits, 0 = no limit */
    enum prof_weight weight; /* time or count */
    enum prof_form form;     /* shares or classic */
    enum prof_report_kind report; /* top, tree or folded */
    const char *callers; /* list the callers of this function, "" = none */
    bool start;          /* on or off: sample from boot on */
    bool tick_drains;    /* on or off: the interrupt may drain */
    const char *vmm; /* function whose samples all count as the hypervisor's,
                        such as one that notifies a device; "" = none */
    uint32_t jitter_percent; /* prof.jitter: per cent of the period, to either
                                side, 0 to 50; at rates above the kernel's
                                tick */
    uint32_t seed;           /* seed of the jitter */
    uint32_t depth;          /* callers recorded with each sample, 0 to 127 */
    const char *out; /* the stream's transport: off, serial, uart2, e9, virtio,
                        vsock or shm */
    uint32_t share_kib; /* prof.share: KiB of memory for shm, a power of two, 64
                           to 1048576 */
    enum prof_trace_mode trace; /* task recorder: off, stream or flight */
    uint32_t trace_kib;         /* prof.trace_kb: its KiB, 24 to 1048576; 0, the
                                   default: PROF_TRACE_KIB_... */
    uint32_t trace_stacks;      /* callers recorded with each suspend, 0 to
                                   64 */
    uint32_t loop_rows;         /* prof.loop: rows of the event loop's table, 0
                                   to 4096; 0 = no statistics */
    enum prof_loop_by loop_by;  /* order of rows: self, total or longest */
    uint32_t loop_kib;          /* prof.loop_kb: KiB for the statistics, 48 to
                                1048576 */
    uint32_t loop_calls;     /* prof.loop_calls: tasks and futures, alive at a
                                time, whose calls are counted, 0 to 65536 */
    uint32_t loop_held_ms;   /* prof.loop_held: list runs of so many ms or more
                                with their functions, 0 = none */
    uint32_t loop_freeze_ms; /* prof.loop_freeze: report runs of so many ms or
                                more while they still run, 0 = none */
    bool loop_trigger;       /* on or off: such a report stops the flight
                                recorder */
    enum prof_causal_mode causal; /* causal experiments: off, on or auto */
    enum prof_accrue_mode accrue; /* their targets: auto, entry or smooth */
    uint32_t causal_for_s;        /* prof.causal_for: seconds after which they
                                     end, 1 to 86400; 0, the default: never */
    uint32_t causal_until;        /* prof.causal_until: per cent, 1 to 19; they
                                     end once no interval is wider; 0: never */
    enum prof_tick_choice tick;   /* prof.tick: kernel, pit, lapic, nmi or auto;
                                     read by prof_init() */
#if PROF_CPUS_MAX > 1
    uint32_t cpu; /* prof.cpu: the CPU whose samples tables show; PROF_CPU_ALL,
                     the default: all. The stream has the samples of all CPUs.
                     Read by prof_init() */
#endif
};

/* Returns the options in force. Contexts: any; also before prof_init(). */
const struct prof_options *prof_options(void);

/* Starts sampling; no effect if it is already started. Drains first, and so may
 * allocate. Contexts: thread; interrupts may be on. Returns 0, PROF_ESTATE,
 * PROF_EGATE, PROF_EONE_SHOT, PROF_ELAPIC or PROF_EPORT. */
int prof_start(void);

/*
 * Stops sampling, and restores the kernel's gate and timer. Samples are kept.
 * Drains first, and so may allocate. If the timer was sped up, waits for the
 * end of the kernel's tick, at most two ticks; with interrupts off it does not
 * wait, and the kernel's clock may lose a part of a tick. Contexts: thread.
 */
void prof_stop(void);

/* Returns whether sampling is started. Contexts: any. */
bool prof_running(void);

/*
 * Sets the sampling rate to (hz) Hz, also while sampling; prof_rate_mhz()
 * returns the resulting rate. A rate below the kernel's tick rate is raised to
 * it, and one above PROF_HZ_MAX lowered to that. A rate above the kernel's is
 * raised until even the longest period that prof.jitter allows is no longer
 * than the kernel's: to 1.5 times the kernel's rate if prof.jitter is 50. The
 * kernel's own tick rate does not change.
 *
 * Contexts: thread. Drains, and so may allocate. Waits like prof_stop() if the
 * new rate is the kernel's own. Returns 0; or, without effect, PROF_ERATE (hz
 * is 0), PROF_ESTATE (before prof_init()) or PROF_EFIXED (the source's rate
 * cannot be changed). If sampling must be restarted for the new rate, and that
 * fails, returns as prof_start(), and sampling is stopped.
 */
int prof_set_rate(uint32_t hz);

/* Records up to (depth) callers with each sample from now on, 0 to 127. Drains
 * if sampling, and so may allocate. Contexts: thread. Returns 0, PROF_EVALUE or
 * PROF_EABSENT. */
int prof_set_depth(uint32_t depth);

/*
 * Sets the current stack to [begin, end). The frame walk reads nothing outside
 * it, and the memory MUST remain readable until the next call. A kernel whose
 * tasks have their own stacks MUST call this at each switch; a sample between
 * the call and the switch itself has no callers. The initial stack is
 * config.stack. Contexts: thread, interrupts on or off. Takes a few stores.
 */
void prof_stack_set(uintptr_t begin, uintptr_t end);

/* Returns the milliseconds to wait between calls of prof_drain(), so that the
 * vectors do not fill up: prof.drain if set; otherwise 100, less above 1.6 kHz,
 * or 1 while a vector is more than half full or the last drain left samples.
 * Deep stacks fill the frame vector early, so call this every few ms. Contexts:
 * thread. */
uint32_t prof_drain_ms(void);

/* Returns the rate in force in 1/1000 Hz. It may differ from the requested one,
 * as a timer divides its clock by an integer. Contexts: any. */
uint32_t prof_rate_mhz(void);

/* Returns whether the sampling period varies enough to avoid lockstep with
 * periodic code: not at the kernel's own rate, with PROF_TICK_HOOK, or with a
 * small prof.jitter. Contexts: any. */
bool prof_period_varies(void);

/* Drains, which sends all samples to the stream, then discards all samples and
 * counts. Sampling continues. May allocate. Contexts: thread. */
void prof_reset(void);

/*
 * Moves samples from the sample vector into the tree of call stacks, and checks
 * the source of ticks. May allocate. If there were too many or too few ticks,
 * waits for up to two sampling periods to examine the PIT.
 *
 * One call is linear in the samples queued, and takes up to about a millisecond
 * at 1,000 MIPS; the rest stays queued for the next call, which is then due
 * (prof_drain_ms()). Other calls that drain first drain everything. If an
 * allocation fails, the rest stays queued, too; once a vector is half full,
 * samples that need memory are dropped and counted.
 *
 * Contexts: thread, on the CPU that samples, interrupts on.
 */
void prof_drain(void);

/* Drains, then prints the table and the accounts through prof_port_write().
 * Allocates nothing beyond what the drain does. Contexts: thread. */
void prof_report(void);

/* Copies the counts to (stats). Does not drain. Linear in the number of stacks
 * if samples were drained since the last call. Contexts: thread. */
void prof_stats(struct prof_stats *stats);

/* The samples of one function, or of one address that is in no function. */
struct prof_row {
    uintptr_t address; /* the function's start; the address itself if !named */
    uint64_t samples;
    uint64_t cycles; /* TSC cycles that the samples cover */
    bool named;      /* the function is in the symbol table */
};

/*
 * Calls (visit) with (context) once for each function with samples, in no
 * particular order. Idle samples, queued samples and the profiler's own are
 * left out: the rows add up to attributed + masked + unresolved + user of
 * struct prof_stats. A row is valid during the call only.
 *
 * Contexts: thread. Neither drains nor allocates. (visit) MUST NOT drain,
 * report, reset or change the rate.
 */
void prof_visit(void (*visit)(const struct prof_row *row, void *context),
                void *context);

/* The samples of one call stack. */
struct prof_stack_row {
    const uintptr_t *addresses; /* the sampled address, then return addresses,
                                   innermost first */
    uint32_t count;             /* of addresses */
    uint64_t samples;
    uint64_t cycles;    /* TSC cycles that the samples cover */
    uint64_t first_tsc; /* TSC at the first and at the last of these samples */
    uint64_t last_tsc;
};

/* Like prof_visit(), once for each distinct call stack. The row and its
 * addresses are valid during the call only. The profiler's own stacks are
 * included. Linear in the number of stacks; uses 1 KiB of stack. Without
 * PROF_WITH_TREES it visits nothing. Contexts: as prof_visit(). */
void prof_visit_stacks(void (*visit)(const struct prof_stack_row *row,
                                     void *context),
                       void *context);

/*
 * Records one sample: the interrupted code address (pc), stack pointer (sp) and
 * frame pointer (fp). With (sp) or (fp) 0, for unknown, no callers are
 * recorded. For kernels whose config.tick is PROF_TICK_HOOK.
 *
 * Contexts: interrupt or NMI, but always the same one on a CPU, as its vector
 * has a single producer. Wait-free, no allocation, at most 256 bytes of stack,
 * general registers only.
 */
void prof_sample(uintptr_t pc, uintptr_t sp, uintptr_t fp);

#ifdef __cplusplus
}
#endif

#endif
