/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STREAM_H
#define PROF_STREAM_H

/*
 * The encoder: drained samples become packets (<prof/format.h>), which go to a
 * transport. With no transport chosen every call returns at once.
 *
 * Contexts: thread, from the drain and the calls around it; never the
 * interrupt. Nothing is allocated. Times are TSC values; the stream converts
 * them to its own clock. A time before the last event's counts as that one.
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
    uint32_t unused; /* by the stream */
    uint32_t note;   /* the stream's own about this node, 0 at first */
} __attribute__((may_alias));

/* Node (node) of that tree; NULL: there is none. Stays where it is. */
typedef struct prof_stream_node *prof_stream_tree(uint32_t node);

/* Running totals of what left no sample. The stream emits by how much they have
 * grown since it last saw them. */
struct prof_stream_losses {
    int64_t missed;         /* ticks due and not delivered; may fall, when one
                               is delivered after all */
    uint64_t stolen_cycles; /* in which the guest did not run */
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
    prof_stream_tree *tree;                 /* of the nodes samples name */
    const struct prof_config *config;       /* of image and boot; MUST stay */
    struct prof_stream_losses losses;       /* before this stream */
    bool steal_clock; /* stolen time is the hypervisor's own account */
};

#if PROF_CPUS_MAX > 1
/* The notes of nodes that the packets of a CPU but the first define: each CPU's
 * packets define what they mention, as a reader may have them in another order.
 * A node whose place another one has taken is defined again. */
#define PROF_NOTES 512u

struct prof_notes {
    struct {
        uint32_t node, note;
    } of[PROF_NOTES];
};
#endif

/* The state of a CPU's stream. Written by stream.c alone. */
struct prof_encoder {
    struct prof_packet_writer writer; /* its transport if prof_stream_is_on */
    prof_stream_tree *tree;
    const struct prof_config *config;
    uint64_t bytes; /* of the packets that were taken */
    struct prof_checked checked;
    struct prof_stream_losses emitted; /* or passed while there was no stream */
    uint64_t sample_begin; /* clock that the next sample's time begins at */
    uint32_t rate_mhz, depth;
    bool running;
    bool hello_due;   /* the next packet begins with HELLO */
    bool gap;         /* something was discarded since the last packet */
    bool steal_clock; /* as in the settings */
#if PROF_CPUS_MAX > 1
    bool joined; /* it is to say who it is after each HELLO */
    struct prof_notes notes;
#endif
};

extern struct prof_encoder prof_encoders[PROF_CPUS_MAX];

static inline struct prof_encoder *prof_encoder_of(const struct prof_cpu *cpu)
{
    return &prof_encoders[prof_cpu_number(cpu)];
}

/* Begins a new stream with an identity of its own, of all CPUs; (settings) has
 * one for each. The present one ends without a last event. */
void prof_stream_open(const struct prof_stream_settings *settings);

#if PROF_CPUS_MAX > 1
/* (cpu) has joined at (tsc), a time by its own counter as all of its. */
void prof_stream_join(const struct prof_cpu *cpu, uint64_t tsc);
#endif

/* Whether there is a stream: a transport is chosen and works. */
extern bool prof_stream_is_on;
static inline bool prof_stream_on(void)
{
    return PROF_WITH_STREAM && prof_stream_is_on;
}

/* Sampling (re)started at (tsc) at (rate_mhz) with (depth); or stopped. */
void prof_stream_start(const struct prof_cpu *cpu, uint64_t tsc,
                       uint32_t rate_mhz, uint32_t depth);
void prof_stream_stop(const struct prof_cpu *cpu, uint64_t tsc);

/* A reader joins: HELLO comes next, and all nodes are defined again. */
void prof_stream_hello(const struct prof_cpu *cpu);

/* One sample at (tsc) of the node (node), which is (leaf), and is defined first
 * where the reader may not know it; or, if the node is 0, an idle one. NULL:
 * the node is not in the tree. Only while there is a stream. */
void prof_stream_sample(const struct prof_cpu *cpu, uint64_t tsc, uint32_t node,
                        struct prof_stream_node *leaf);

/* (samples) at (address) that cover (cycles), single times unknown; and such of
 * which nothing is known. (tsc) is when the last of them was taken. */
void prof_stream_overflow(const struct prof_cpu *cpu, uint64_t tsc,
                          uintptr_t address, uint32_t samples, uint64_t cycles);
void prof_stream_drop(const struct prof_cpu *cpu, uint64_t tsc,
                      uint32_t samples, uint64_t cycles);

/*
 * So many ticks were missed and cycles stolen before (tsc). The sample at (tsc)
 * is not charged for the stolen ones. Called for each sample, hence inline.
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

/* So many samples, which cover so many cycles, were dropped in all, the last of
 * them at (tsc). */
void prof_stream_dropped(const struct prof_cpu *cpu, uint64_t tsc,
                         uint64_t dropped, uint64_t cycles);

/* So many walks stopped early, by enum prof_walk_stop. */
void prof_stream_stopped_walks(const struct prof_cpu *cpu, uint64_t tsc,
                               const uint32_t samples[PROF_WALK_REASONS]);

/* The next sample, at (tsc), was taken with interrupts off. PROF_WITH_NMI. */
void prof_stream_irqs_off(const struct prof_cpu *cpu, uint64_t tsc);

/* So many NMIs were no samples, and so many ticks that are not lost ones had
 * none of their own, of (cpu) and since prof_init(). PROF_WITH_NMI. */
void prof_stream_nmis(const struct prof_cpu *cpu, uint64_t tsc,
                      uint32_t duplicates, uint64_t merged);

/* At the end of each drain: sends what is old enough to be sent. */
void prof_stream_flush(const struct prof_cpu *cpu, uint64_t tsc);

/*
 * In a panic: sends the packet in the making as it is; counts (samples) as
 * discarded. Contexts: also in the middle of any other call to here.
 */
void prof_stream_push(void);
void prof_stream_discard(const struct prof_cpu *cpu, uint64_t samples);

/* The image ends with (code): sends everything, with a last event. Closes the
 * stream. */
void prof_stream_end(uint64_t tsc, uint32_t code);

/*
 * The profiler's own transport: a ring in memory, which the host reads (struct
 * prof_share). prof_shared_memory_open() makes it, of (bytes) bytes or the next
 * power of two below, from prof_port_alloc(); its physical address is
 * (image_offset) below its virtual one. False: no memory.
 */
extern const struct prof_transport prof_shared_memory_transport;
bool prof_shared_memory_open(size_t bytes, uintptr_t image_offset);

/* What it has cost so far: the members stream_... of (stats). */
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
