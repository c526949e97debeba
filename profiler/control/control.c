/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Start, stop, rate and reset. Everything specific to a source of ticks, such
 * as programming the PIT, is done through the interface in tick/source.h.
 *
 * Each change of state drains first, so that no two samples of one drain were
 * taken at different rates or with a pause between them. Interrupts are off
 * only where a tick could see a half-made change.
 */

#include "control/control.h"

#include "base/busy.h"
#include "base/cpu.h"
#include "base/options.h"
#include "causal/send.h"
#include "aggregate/drain.h"
#include "aggregate/image.h"
#include "aggregate/stats.h"
#include "aggregate/user.h"
#include "loop/loop.h"
#include "sample/cpus.h"
#include "stream/stream.h"
#include "tick/clock.h"
#include "tick/floor.h"
#include "tick/kvm.h"
#include "tick/source.h"
#include "trace/send.h"

#include <prof/config.h>
#include <prof/port.h>

static bool ready;                       /* prof_init() has succeeded */
static struct prof_config kept_config;   /* a copy of what prof_init() got */
static const struct prof_source *source; /* of ticks, from prof_init() on */

#define OVERFLOW_BYTES (2 * PROF_OVERFLOW_SLOTS * sizeof(struct prof_slot))
#define ENTRIES_MIN 16u
#define WORDS_MIN 256u /* of the frame vector */

static size_t frames_bytes(uint32_t capacity)
{
    if (!PROF_WITH_CALLERS)
        return 0;
    return (capacity + PROF_FRAMES_MARGIN) * sizeof(uint32_t);
}

/* Memory of each CPU, of (bytes) at *(memory): whole cache lines. */
static size_t bytes_for_one(void **memory, size_t bytes)
{
#if PROF_CPUS_MAX > 1
    size_t unaligned = -(uintptr_t)*memory % PROF_CACHE_LINE;

    if (bytes < PROF_CACHE_LINE)
        return 0;
    *memory = (char *)*memory + unaligned;
    bytes = (size_t)prof_divide(bytes - unaligned, prof_cpu_count());
    bytes -= bytes % PROF_CACHE_LINE;
#else
    (void)memory;
#endif
    return bytes;
}

/*
 * Divides (memory) among the overflow table, the vector of entries and the
 * frame vector of (cpu). The frame vector's capacity is a power of two and
 * takes at most half of what the overflow table leaves; an eighth if prof.depth
 * is 0, since a command may still ask for callers later.
 */
static void share_out(struct prof_cpu *cpu, void *memory, size_t bytes)
{
    struct prof_slot *slot = memory;
    struct prof_entry *entry = (void *)(slot + 2 * (size_t)PROF_OVERFLOW_SLOTS);
    size_t rest = bytes - OVERFLOW_BYTES;
    size_t most = PROF_OPTION(depth) == 0 ? rest / 8 : rest / 2;
    uint32_t capacity = WORDS_MIN;

    while (PROF_WITH_CALLERS && frames_bytes(capacity * 2) <= most &&
           capacity < 1u << 30)
        capacity *= 2;
    prof_overflow_open(&cpu->overflow, slot);
    prof_ring_open(&cpu->ring, entry,
                   entry + (rest - frames_bytes(capacity)) / sizeof *entry);
    for (; entry < cpu->ring.end; entry++)
        *entry = (struct prof_entry){0};
    if (PROF_WITH_CALLERS)
        prof_frames_open(&cpu->frames, (uint32_t *)cpu->ring.end, capacity);
}

/* The walk stores 32-bit words, so an image with 4 GiB of code or more gets no
 * callers. */
static uint32_t depth_for(uint32_t asked)
{
    return !PROF_WITH_CALLERS || prof_image.text_bytes == 0 ? 0 : asked;
}

static void set_depth(uint32_t asked)
{
    PROF_FOR_EACH_CPU (cpu)
        cpu->depth = depth_for(asked);
}

static void prepare_walks(const struct prof_config *config)
{
    if (PROF_WITH_CALLERS)
        prof_bounds_open(config);
    set_depth(PROF_OPTION(depth));
    prof_stack_set(config->stack.begin, config->stack.end);
}

/* Makes the current CPU the first. */
static int open_cpus(const struct prof_config *config)
{
    uint32_t cpus = config->cpus == 0 ? 1 : config->cpus;

    if (cpus > PROF_CPUS_MAX) {
        if (PROF_WITH_BUILTIN)
            prof_config_print_problem(config);
        return PROF_ECONFIG;
    }
#if PROF_CPUS_MAX > 1
    if (!prof_cpus_open(cpus))
        return PROF_ECPU;
#endif
    return PROF_OK;
}

static int init(void *memory, size_t bytes, const struct prof_config *config)
{
    int error = open_cpus(config);

    if (error != PROF_OK)
        return error;
    if (memory == NULL || (uintptr_t)memory % _Alignof(struct prof_slot) != 0)
        return PROF_EMEMORY;
    bytes = bytes_for_one(&memory, bytes);
    if (bytes < OVERFLOW_BYTES + ENTRIES_MIN * sizeof(struct prof_entry) +
                    frames_bytes(WORDS_MIN))
        return PROF_EMEMORY;
    if (!PROF_WITH_PIT && config->tick.kind != PROF_TICK_HOOK)
        return PROF_EABSENT;
    if (!PROF_WITH_LAPIC && config->tick.kind == PROF_TICK_LAPIC)
        return PROF_EABSENT;
    kept_config = *config;
    if (PROF_WITH_BUILTIN && config->tsc_hz == 0)
        kept_config.tsc_hz =
            prof_calibrate(config->physical, config->image_offset);
    if (PROF_WITH_LAPIC) {
        error = prof_source_choose(&kept_config);
        if (error != PROF_OK)
            return error;
    } else if (PROF_WITH_PIT && config->tick.kind == PROF_TICK_AUTO) {
        kept_config.tick.kind = config->tick.kernel_divisor != 0
                                    ? PROF_TICK_PIT
                                    : PROF_TICK_OWN_PIT;
    }
    config = &kept_config;
    source = prof_source_open(config);
    if (source == NULL) {
        if (PROF_WITH_BUILTIN)
            prof_config_print_problem(config);
        return PROF_ECONFIG;
    }
    PROF_FOR_EACH_CPU (cpu)
        share_out(cpu, (char *)memory + prof_cpu_number(cpu) * bytes, bytes);
    if (PROF_WITH_KVM)
        prof_kvm_open(config);
    prof_drain_open(config);
    prof_stats_open();
    prepare_walks(config);
    if (PROF_WITH_BUILTIN) {
        prof_pool_open(config->pool, config->pool_bytes);
        prof_poll_open(config->tsc_hz);
        if (!prof_tick_drain_open(config->tick_drains))
            return PROF_ECONFIG;
    }
    return PROF_OK;
}

int prof_init(void *memory, size_t bytes, const struct prof_config *config)
{
    int error;

    if (ready)
        return PROF_ESTATE;
    error = init(memory, bytes, config);
    ready = error == PROF_OK;
#if PROF_CPUS_MAX > 1
    if (!ready)
        prof_cpu_limit = 0; /* nobody may join */
    if (PROF_WITH_LOOP && ready)
        prof_loop_kick = kept_config.kick;
    if (ready)
        prof_trace_kick_by(kept_config.kick);
#endif
    return error;
}

/* The time from which the next sample on that clock covers time. */
static uint64_t begin_of(const struct prof_timebase *clock)
{
    return clock->last_tsc > clock->resume_tsc ? clock->last_tsc
                                               : clock->resume_tsc;
}

/* Emits a START event of each CPU at the begin of its next sample, which says
 * the rate and depth that hold from then on, and the names that a reader may
 * not know. */
static void emit_start(void)
{
    PROF_FOR_EACH_CPU (cpu) {
        const struct prof_timebase *clock = prof_clock_of(cpu);

        if (prof_drain_reads(cpu))
            prof_stream_start(cpu, begin_of(clock), prof_rate_mhz(),
                              cpu->depth);
    }
    prof_user_send(begin_of(prof_clock_of(PROF_CPU_FIRST)));
}

static void emit_change(void)
{
    if (prof_running())
        emit_start();
}

/* On other CPUs the first sample may come before the source's start returns. */
static void begin_others(void)
{
    PROF_FOR_EACH_CPU (cpu) {
        uint64_t now;

        if (cpu == PROF_CPU_FIRST)
            continue;
        now = prof_cpu_tsc_at(cpu, prof_tsc());
        prof_timebase_resume(prof_clock_of(cpu), now);
        prof_overflow_resume(&cpu->overflow, now);
    }
}

/* Arms the source and enables sampling. Called with interrupts off; (on) says
 * whether they were on before. The acknowledge pointer is checked first: an
 * interrupt that cannot be acknowledged would be the last. */
static int begin_sampling(bool on)
{
    struct prof_cpu *cpu = PROF_CPU_FIRST;
    int error;
    uint64_t now;

    if (source->acknowledge != NULL && *source->acknowledge == NULL)
        return PROF_EPORT;
    begin_others();
    error = source->start(on);
    if (error != PROF_OK)
        return error;
    now = prof_tsc();
    prof_timebase_resume(prof_clock_of(cpu), now);
    prof_overflow_resume(&cpu->overflow, now);
    PROF_FOR_EACH_CPU (each)
        each->enabled = 1;
    if (PROF_WITH_NMI && source->let_through != NULL)
        source->let_through();
    return PROF_OK;
}

int prof_start(void)
{
    bool on;
    int error;

    if (!ready)
        return PROF_ESTATE;
    if (prof_running())
        return PROF_OK;
    prof_enter();
    if (PROF_WITH_BUILTIN && PROF_WITH_STREAM)
        prof_transport_default();
    if (PROF_WITH_BUILTIN)
        prof_tick_drain_begin();
    prof_drain_whole(); /* the pause lies between samples of two drains */
    on = prof_interrupts_save();
    error = begin_sampling(on);
    prof_interrupts_restore(on);
    if (error == PROF_OK)
        emit_start();
    prof_leave();
    return error;
}

void prof_stop(void)
{
    bool on;

    if (!prof_running())
        return;
    prof_enter();
    prof_drain_whole(); /* the last start lies between samples drained */
    on = prof_interrupts_save();
    source->stop(on);
    PROF_FOR_EACH_CPU (cpu)
        cpu->enabled = 0;
    prof_interrupts_restore(on);
    if (prof_stream_on()) {
        prof_drain_whole(); /* what came before it is sent before it */
        PROF_FOR_EACH_CPU (cpu)
            if (prof_drain_reads(cpu))
                prof_stream_stop(cpu, prof_cpu_tsc_at(cpu, prof_tsc()));
    }
    prof_leave();
}

const struct prof_config *prof_control_config(void)
{
    return &kept_config;
}

static int set_period(uint32_t hz)
{
    bool on = prof_interrupts_save();
    int error = source->set_period(hz, on);

    prof_interrupts_restore(on);
    return error;
}

static int set_rate(uint32_t hz)
{
    uint32_t before = prof_clock.rate_mhz;
    int error;

    prof_drain_whole();
    error = set_period(hz);
    if (error == PROF_ESTATE) {
        prof_stop();
        prof_drain_whole();
        error = set_period(hz);
        return error == PROF_OK ? prof_start() : error;
    }
    if (prof_clock.rate_mhz != before)
        emit_change();
    return error;
}

#if PROF_WITH_BUILTIN && PROF_WITH_PIT
/* The machine does not keep the rate: takes the next one that it does. */
static void slow_down(void)
{
    prof_enter();
    (void)set_rate(prof_rate_mhz() / 1000);
    prof_floor_slowed_down();
    prof_leave();
}
#endif

#if PROF_WITH_NMI
/* Another source takes its place, where there is one. */
static void take_another_source(void)
{
    const struct prof_source *other = NULL;

    prof_stop();
    prof_drain_whole();
    if (prof_source_choose(&kept_config) == PROF_OK)
        other = prof_source_of(&kept_config);
    if (other == NULL)
        return;
    source = other;
    (void)prof_start();
}

static void end_trouble(enum prof_nmi_trouble trouble)
{
    prof_enter();
    if (trouble == PROF_NMI_SILENT) {
        take_another_source();
    } else {
        (void)set_rate(prof_rate_mhz() / 2000 + 1);
        prof_source_nmi_slowed_down();
    }
    prof_leave();
}
#endif

void prof_drain(void)
{
    prof_drain_once();
#if PROF_WITH_NMI
    if (prof_source_nmi_trouble() != PROF_NMI_FINE)
        end_trouble(prof_source_nmi_trouble());
#endif
    if (PROF_WITH_PIT && prof_source_pit_given_up())
        prof_stop();
#if PROF_WITH_BUILTIN && PROF_WITH_PIT
    if (prof_floor_too_fast() && prof_running())
        slow_down();
#endif
}

int prof_set_rate(uint32_t hz)
{
    int error;

    if (hz == 0)
        return PROF_ERATE;
    if (!ready)
        return PROF_ESTATE;
    prof_enter();
    error = set_rate(hz);
    prof_leave();
    return error;
}

int prof_set_depth(uint32_t frames)
{
    if (frames > PROF_DEPTH_MAX)
        return PROF_EVALUE;
    if (!PROF_WITH_CALLERS)
        return frames == 0 ? PROF_OK : PROF_EABSENT;
    prof_enter();
    if (prof_running())
        prof_drain_whole();
    set_depth(frames);
    if (PROF_WITH_BUILTIN && prof_running())
        prof_tick_drain_begin();
    emit_change();
    prof_leave();
    return PROF_OK;
}

#if PROF_WITH_STREAM
void prof_hello(void)
{
    prof_enter();
    if (prof_running())
        prof_drain_whole();
    PROF_FOR_EACH_CPU (cpu)
        prof_stream_hello(cpu);
    prof_trace_hello();
    prof_loop_send_again();
    prof_causal_send_again();
    emit_change();
    prof_leave();
}
#endif

/* As many samples fit into the default frame vector at a dozen callers each. */
#define DRAIN_SAMPLES 160u
#define DRAIN_MS_MAX 100u
#define DRAIN_MS_MIN 1u

uint32_t prof_drain_ms(void)
{
    uint32_t asked = PROF_OPTION(drain_ms);
    uint32_t enough = DRAIN_SAMPLES * 1000000u / prof_rate_mhz();

    if (asked != 0)
        return asked;
    /* deeper stacks fill it sooner, and tasks fill theirs */
    if (prof_drain_is_behind() || prof_trace_is_filling())
        return DRAIN_MS_MIN;
    PROF_FOR_EACH_CPU (cpu)
        if (prof_frames_half_full(&cpu->frames, cpu->frames.tail))
            return DRAIN_MS_MIN;
    return enough < DRAIN_MS_MAX ? enough : DRAIN_MS_MAX;
}

bool prof_period_varies(void)
{
    return !prof_clock.steady;
}

uint32_t prof_rate_mhz(void)
{
    return prof_clock.rate_mhz;
}

/*
 * Discards what is queued and takes the snapshot that later counts start from.
 * What could not be drained, for lack of memory or because it has just come,
 * was not sent and counts as discarded in the stream. If the producer is an
 * NMI, a tick may come in between; the loop then repeats, so that no tick is
 * both discarded and counted.
 */
static void forget_ticks(void)
{
    uint64_t ticks, discarded = 0;

    do {
        ticks = prof_ticks();
        discarded += prof_drain_discard();
        prof_stats_reset();
    } while (prof_ticks() != ticks);
    if (prof_stream_on())
        prof_stream_discard(PROF_CPU_FIRST, discarded);
}

void prof_reset(void)
{
    bool on;

    prof_enter();
    prof_drain_whole();
    /* Only the thread uses the tree. Linear in its size, so it is cleared
       before interrupts are turned off. */
    prof_drain_clear();
    on = prof_interrupts_save();
    forget_ticks();
    prof_clock_reset();
    prof_interrupts_restore(on);
    prof_loop_reset();
    emit_change();
    prof_leave();
}

#ifdef PROF_HOSTED
void prof_control_forget(void)
{
    ready = false;
    PROF_CPU_FIRST->enabled = 0;
}
#endif
