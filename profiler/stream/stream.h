/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STREAM_H
#define PROF_STREAM_H

/*
 * The encoder: converts drained samples to packets (<prof/format.h>), and
 * passes them to a transport. Without a transport, every call returns at once.
 *
 * Contexts: thread, from the drain and the calls around it; never the
 * interrupt. No allocation. Times are TSC values; the stream converts them to
 * its own clock. A time before that of the last event is raised to it.
 */

#include "sample/cpus.h"
#include "stream/packet.h"

#include <prof/config.h>
#include <prof/format.h>
#include <prof/prof.h>
#include <prof/transport.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A node of the tree of stacks, as its owner's records begin. */
struct prof_stream_node {
    uintptr_t address;
    uint32_t parent;
    uint32_t unused; /* not used by the stream */
    uint32_t note;   /* state of the stream for this node, 0 at first */
} __attribute__((may_alias));

/* Returns node (node) of the tree, whose address never changes; NULL: none. */
typedef struct prof_stream_node *prof_stream_tree(uint32_t node);

/* Running totals of losses. The stream emits their increases. */
struct prof_stream_losses {
    int64_t missed;         /* ticks due and not delivered; decreases when one
                               is delivered after all */
    uint64_t stolen_cycles; /* cycles in which the guest did not run */
    uint64_t dropped;       /* samples that the interrupt dropped */
    uint64_t dropped_cycles;
    uint32_t stopped_walks[PROF_WALK_REASONS]; /* by enum prof_walk_stop */
#if PROF_WITH_NMI
    uint32_t nmi_duplicates; /* NMIs that were not samples */
    uint64_t nmi_merged;     /* ticks without an NMI of their own */
#endif
};

struct prof_stream_settings {
    const struct prof_transport *transport; /* open; NULL: no stream */
    prof_stream_tree *tree;                 /* tree of the samples' nodes */
    const struct prof_config *config;       /* MUST remain valid */
    struct prof_stream_losses losses;       /* before this stream */
    bool steal_clock; /* stolen time is the hypervisor's own account */
};

#if PROF_CPUS_MAX > 1
/* The notes of nodes for the packets of a CPU other than the first: each CPU's
 * packets define the nodes that they refer to, as a reader may process them in
 * another order. A node whose slot was taken by another one is defined
 * again. */
#define PROF_NOTES 512u

struct prof_notes {
    struct {
        uint32_t node, note;
    } of[PROF_NOTES];
};
#endif

/* The state of a CPU's stream. Written by stream.c only. */
struct prof_encoder {
    struct prof_packet_writer writer; /* its transport if prof_stream_is_on */
    prof_stream_tree *tree;
    const struct prof_config *config;
    uint64_t bytes; /* of accepted packets */
    struct prof_checked checked;
    struct prof_stream_losses emitted; /* or passed while there was no stream */
    uint64_t sample_begin; /* clock from which the next sample covers time */
    uint32_t rate_mhz, depth;
    bool running;
    bool hello_due;   /* the next packet begins with HELLO */
    bool gap;         /* something was discarded since the last packet */
    bool steal_clock; /* as in the settings */
#if PROF_CPUS_MAX > 1
    bool joined;    /* emits a CPU event after each HELLO */
    int64_t offset; /* what it says, and the writer's clock was set by */
    uint32_t error;
    struct prof_notes notes;
#endif
};

extern struct prof_encoder prof_encoders[PROF_CPUS_MAX];

static inline struct prof_encoder *prof_encoder_of(const struct prof_cpu *cpu)
{
    return &prof_encoders[prof_cpu_number(cpu)];
}

/* Begins a new stream of all CPUs, with a new UUID; (settings) has an element
 * for each CPU. The current stream ends without a last event. */
void prof_stream_open(const struct prof_stream_settings *settings);

#if PROF_CPUS_MAX > 1
/* Reports that (cpu) has joined at (tsc); all its times are of its own TSC. */
void prof_stream_join(const struct prof_cpu *cpu, uint64_t tsc);

/* Does so again if the time stamp counters were compared since: what follows,
 * at (tsc) at the earliest, is on the clock that is better known. */
void prof_stream_compared(const struct prof_cpu *cpu, uint64_t tsc);
#endif

/* Whether there is a stream, with a working transport. */
extern bool prof_stream_is_on;
static inline bool prof_stream_on(void)
{
    return PROF_WITH_STREAM && prof_stream_is_on;
}

/* Report that sampling has (re)started at (tsc), at (rate_mhz) with (depth); or
 * has stopped. */
void prof_stream_start(const struct prof_cpu *cpu, uint64_t tsc,
                       uint32_t rate_mhz, uint32_t depth);
void prof_stream_stop(const struct prof_cpu *cpu, uint64_t tsc);

/* Prepares for a new reader: emits HELLO next, and defines all nodes again. */
void prof_stream_hello(const struct prof_cpu *cpu);

/* Emits a sample at (tsc) of node (node), which is (leaf), after defining the
 * node if the reader may not know it; or, if (node) is 0, an idle sample.
 * (leaf) NULL: the node is not in the tree. Only while there is a stream. */
void prof_stream_sample(const struct prof_cpu *cpu, uint64_t tsc, uint32_t node,
                        struct prof_stream_node *leaf);

/* Emit (samples) samples that cover (cycles) together, at (address), or at
 * unknown addresses. (tsc): time of the last of them. */
void prof_stream_overflow(const struct prof_cpu *cpu, uint64_t tsc,
                          uintptr_t address, uint32_t samples, uint64_t cycles);
void prof_stream_drop(const struct prof_cpu *cpu, uint64_t tsc,
                      uint32_t samples, uint64_t cycles);

/*
 * Emits the increase of the totals of ticks missed and cycles stolen before
 * (tsc). The sample at (tsc) is not charged for stolen cycles. Called for each
 * sample, hence inline.
 */
void prof_stream_emit_lost_ticks(const struct prof_cpu *cpu, uint64_t tsc,
                                 int64_t missed, uint64_t stolen_cycles);
static inline void prof_stream_lost_ticks(const struct prof_cpu *cpu,
                                          uint64_t tsc, int64_t missed,
                                          uint64_t stolen_cycles)
{
    const struct prof_stream_losses *emitted = &prof_encoder_of(cpu)->emitted;

    if (PROF_WITH_STREAM &&
        (missed > emitted->missed || stolen_cycles != emitted->stolen_cycles))
        prof_stream_emit_lost_ticks(cpu, tsc, missed, stolen_cycles);
}

/* Emits the increase of the totals of samples dropped, and of the cycles that
 * they cover; the last was dropped at (tsc). */
void prof_stream_dropped(const struct prof_cpu *cpu, uint64_t tsc,
                         uint64_t dropped, uint64_t cycles);

/* Emits the increase of the totals of walks that ended early, by enum
 * prof_walk_stop. */
void prof_stream_stopped_walks(const struct prof_cpu *cpu, uint64_t tsc,
                               const uint32_t samples[PROF_WALK_REASONS]);

/* Emits that the next sample, at (tsc), was taken with interrupts off.
 * PROF_WITH_NMI. */
void prof_stream_irqs_off(const struct prof_cpu *cpu, uint64_t tsc);

/* Emits the totals, for (cpu) and since prof_init(), of NMIs that were not
 * samples, and of ticks that are not lost and had no NMI of their own.
 * PROF_WITH_NMI. */
void prof_stream_nmis(const struct prof_cpu *cpu, uint64_t tsc,
                      uint32_t duplicates, uint64_t merged);

/* Sends the current packet if it is old enough; called at the end of each
 * drain. */
void prof_stream_flush(const struct prof_cpu *cpu, uint64_t tsc);

/*
 * For a panic. The first sends the current packet as it is. The second counts
 * (samples) as discarded. Contexts: any, also during another of these calls.
 */
void prof_stream_push(void);
void prof_stream_discard(const struct prof_cpu *cpu, uint64_t samples);

/* Sends everything and a last event with the exit code (code), and closes the
 * stream. */
void prof_stream_end(uint64_t tsc, uint32_t code);

/*
 * The profiler's own transport, "shm": a ring in memory, which the host reads
 * (struct prof_share). prof_shared_memory_open() allocates it with
 * prof_port_alloc(), (bytes) rounded down to a power of two; its physical
 * address is (image_offset) below its virtual one. Returns false if there is no
 * memory.
 */
extern const struct prof_transport prof_shared_memory_transport;
bool prof_shared_memory_open(size_t bytes, uintptr_t image_offset);

/* Fills the members stream_... of (stats). */
void prof_stream_stats(struct prof_stats *stats);

#if !PROF_WITH_STREAM
#define prof_stream_join(...) PROF_LEFT_OUT(prof_stream_join(__VA_ARGS__))
#define prof_stream_start(...) PROF_LEFT_OUT(prof_stream_start(__VA_ARGS__))
#define prof_stream_stop(...) PROF_LEFT_OUT(prof_stream_stop(__VA_ARGS__))
#define prof_stream_hello(cpu) PROF_LEFT_OUT(prof_stream_hello(cpu))
#define prof_stream_sample(...) PROF_LEFT_OUT(prof_stream_sample(__VA_ARGS__))
#define prof_stream_overflow(...)                                              \
    PROF_LEFT_OUT(prof_stream_overflow(__VA_ARGS__))
#define prof_stream_drop(...) PROF_LEFT_OUT(prof_stream_drop(__VA_ARGS__))
#define prof_stream_dropped(...) PROF_LEFT_OUT(prof_stream_dropped(__VA_ARGS__))
#define prof_stream_irqs_off(...)                                              \
    PROF_LEFT_OUT(prof_stream_irqs_off(__VA_ARGS__))
#define prof_stream_nmis(...) PROF_LEFT_OUT(prof_stream_nmis(__VA_ARGS__))
#define prof_stream_stopped_walks(...)                                         \
    PROF_LEFT_OUT(prof_stream_stopped_walks(__VA_ARGS__))
#define prof_stream_flush(...) PROF_LEFT_OUT(prof_stream_flush(__VA_ARGS__))
#define prof_stream_discard(...) PROF_LEFT_OUT(prof_stream_discard(__VA_ARGS__))
#define prof_stream_stats(...) PROF_LEFT_OUT(prof_stream_stats(__VA_ARGS__))
#endif

#endif
