/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Start, stop, rate and reset.
 *
 * The kernel's clock must not notice any of them. While we run the PIT faster
 * than the kernel asked for, a tick is the kernel's, too, from pass_due on,
 * which then moves on by the kernel's own period: by the TSC, so that ticks
 * lost on a busy host cost the kernel none of its own. Starting takes over in
 * the middle of a kernel's tick and knows from the PIT how much of it is left;
 * stopping gives the tick back at the end of one (tick.c).
 *
 * At the kernel's own rate the PIT is not touched at all.
 */

#include "control.h"

#include "cpu.h"
#include "drain.h"
#include "frames.h"
#include "gate.h"
#include "jitter.h"
#include "pit.h"
#include "state.h"
#include "stream.h"
#include "tick.h"
#include "watch.h"

/* The PIT's divisor for (hz), within what kernel and sampler can bear. */
static uint32_t divisor_for(uint32_t hz)
{
    uint32_t least = PROF_PIT_HZ / PROF_HZ_MAX;
    uint32_t divisor = (PROF_PIT_HZ + hz / 2) / hz;

    if (divisor < least)
        divisor = least;
    if (divisor > prof_state.config.kernel_divisor)
        divisor = prof_state.config.kernel_divisor;
    return divisor;
}

void prof_control_restart_time(void)
{
    struct prof_timebase before = prof_state.time;

    prof_timebase_set(&prof_state.time, prof_tsc(), prof_state.config.tsc_hz,
                      prof_state.divisor);
    prof_state.time.missed = before.missed < 0 ? 0 : before.missed;
    prof_state.time.last_tsc = before.last_tsc;
    prof_state.time.resume_tsc = before.resume_tsc;
    /* The PIT begins anew just now: what was before is not on its grid. */
    prof_state.time.grid_tsc = prof_state.time.run_begin_tsc;
}

/* Interrupts off: the next tick of the kernel's comes (cycles) from now. */
static void program(uint64_t cycles)
{
    if (prof_tick_is_multiplied()) {
        prof_hot.pass_due = prof_tsc() + cycles;
        prof_hot.pass_period = prof_watch_pass_period();
        prof_jitter_begin();
    } else {
        prof_hot.pass_due = 0;
        prof_hot.pass_period = 0;
    }
}

#define SPILL_BYTES (2 * PROF_SPILL_SLOTS * sizeof(struct prof_slot))
#define ENTRIES_MIN 16u
#define WORDS_MIN 256u /* of the frame vector */

static size_t frames_bytes(uint32_t capacity)
{
    return (capacity + PROF_FRAMES_MARGIN) * sizeof(uint32_t);
}

/*
 * Divides (memory): small table, entries, and up to a half for frames, or an
 * eighth where no callers are asked for to begin with.
 */
static void share_out(void *memory, size_t bytes)
{
    struct prof_slot *slot = memory;
    struct prof_entry *entry = (void *)(slot + 2 * (size_t)PROF_SPILL_SLOTS);
    size_t rest = bytes - SPILL_BYTES;
    size_t most = prof_options()->depth == 0 ? rest / 8 : rest / 2;
    uint32_t capacity = WORDS_MIN;

    while (frames_bytes(capacity * 2) <= most && capacity < 1u << 30)
        capacity *= 2;
    prof_spill_open(&prof_hot.spill, slot, slot + PROF_SPILL_SLOTS);
    prof_hot.ring.begin = entry;
    prof_hot.ring.end = entry + (rest - frames_bytes(capacity)) / sizeof *entry;
    prof_hot.ring.head = prof_hot.ring.tail = prof_state.read = entry;
    for (; entry < prof_hot.ring.end; entry++)
        entry->frames = entry->divisor = 0;
    prof_frames_open(&prof_hot.frames, (uint32_t *)prof_hot.ring.end, capacity);
}

/* What the walk has to know. Code of 4 GiB has no room in its words. */
static void prepare_walks(const struct prof_config *config)
{
    uintptr_t code = config->text.end - config->text.begin;

    prof_hot.text_base = config->text.begin + 1;
    prof_hot.text_bytes = code < UINT32_MAX ? code : 0;
    prof_hot.depth = prof_hot.text_bytes == 0 ? 0 : prof_options()->depth;
    prof_stack_set(config->stack.begin, config->stack.end);
}

int prof_init(void *memory, size_t bytes, const struct prof_config *config)
{
    if (prof_state.ready)
        return PROF_ESTATE;
    if (memory == NULL || (uintptr_t)memory % _Alignof(struct prof_slot) != 0 ||
        bytes < SPILL_BYTES + ENTRIES_MIN * sizeof(struct prof_entry) +
                    frames_bytes(WORDS_MIN))
        return PROF_EMEMORY;
    if (config->tsc_hz == 0 || config->tsc_hz >> 36 != 0 ||
        config->kernel_divisor < PROF_PIT_HZ / PROF_HZ_MAX ||
        config->kernel_divisor > 65536)
        return PROF_ECONFIG;
    share_out(memory, bytes);
    prof_state.config = *config;
    prepare_walks(config);
    prof_state.divisor = divisor_for(prof_options()->hz);
    prof_hot.jitter.random = prof_options()->seed;
    prof_timebase_set(&prof_state.time, prof_tsc(), config->tsc_hz,
                      prof_state.divisor);
    prof_state.ready = true;
    return PROF_OK;
}

/* Tells the stream that sampling goes on at (tsc), and how. */
static void tell_start(uint64_t tsc)
{
    prof_stream_start(tsc, prof_rate_mhz(), prof_hot.depth);
}

/* Interrupts off; (on): they were on. False: there is no gate to be taken. */
static bool take_over(bool on)
{
    uint8_t vector = prof_state.config.timer_vector;

    if (prof_tick_is_multiplied())
        prof_tick_settle(on);
    if (!prof_watch_has_stub(prof_gate_handler(vector)) &&
        !prof_gate_take(vector, (uintptr_t)prof_parasite,
                        &prof_hot.next_handler))
        return false;
    program(prof_tick_left());
    return true;
}

int prof_start(void)
{
    bool on, taken = true;
    uint64_t now = 0;

    if (!prof_state.ready)
        return PROF_ESTATE;
    if (prof_state.running)
        return PROF_OK;
    prof_drain(); /* so that the pause lies between samples of two drains */
    on = prof_interrupts_save();
    if (prof_state.config.timer_vector != 0)
        taken = take_over(on);
    if (taken) {
        now = prof_tsc();
        prof_timebase_resume(&prof_state.time, now);
        prof_hot.spill.last_tsc = now;
        prof_hot.enabled = 1;
        prof_state.running = true;
    }
    prof_interrupts_restore(on);
    if (taken)
        tell_start(now);
    return taken ? PROF_OK : PROF_EGATE;
}

/* Interrupts off; (on): they were on. The kernel has its PIT and gate again. */
static void give_back(bool on)
{
    uint8_t vector = prof_state.config.timer_vector;

    if (prof_tick_is_multiplied())
        prof_tick_give_back(on);
    if (prof_gate_handler(vector) == (uintptr_t)prof_parasite)
        prof_gate_return(vector, prof_hot.next_handler);
    /* Whoever stands before the stub goes on to it: all ticks pass. */
    prof_hot.pass_due = prof_hot.pass_period = 0;
}

void prof_stop(void)
{
    bool on;

    if (!prof_state.running)
        return;
    prof_drain(); /* so that the last start lies between samples drained */
    on = prof_interrupts_save();
    if (prof_state.config.timer_vector != 0)
        give_back(on);
    prof_hot.enabled = 0;
    prof_state.running = false;
    prof_interrupts_restore(on);
    if (prof_stream_on()) {
        prof_drain(); /* what came before it is told before it */
        prof_stream_stop(prof_tsc());
    }
}

bool prof_running(void)
{
    return prof_state.running;
}

/* The new rate while the parasite is in place, at least as fast as the
 * kernel's tick before and faster than it afterwards. */
static void change_running(uint32_t divisor)
{
    bool on = prof_interrupts_save(), multiplied = prof_tick_is_multiplied();
    uint64_t left = 0, due = prof_hot.pass_due;

    if (!multiplied) {
        prof_tick_settle(on);
        left = prof_tick_left();
    }
    prof_state.divisor = divisor;
    prof_control_restart_time();
    program(left);
    if (multiplied)
        prof_hot.pass_due = due; /* it may be past, and its tick to come */
    prof_interrupts_restore(on);
    tell_start(prof_state.time.last_tsc);
}

int prof_set_rate(uint32_t hz)
{
    bool again = prof_state.running;
    uint32_t divisor;

    if (hz == 0)
        return PROF_ERATE;
    if (!prof_state.ready)
        return PROF_ESTATE;
    prof_drain();
    divisor = divisor_for(hz);
    if (divisor == prof_state.divisor)
        return PROF_OK;
    if (again && prof_state.config.timer_vector != 0 &&
        divisor != prof_state.config.kernel_divisor) {
        change_running(divisor);
        return PROF_OK;
    }
    /* To the kernel's own rate: stopping is what gives the tick back. */
    prof_stop();
    prof_drain();
    prof_state.divisor = divisor;
    prof_control_restart_time();
    return again ? prof_start() : PROF_OK;
}

int prof_set_depth(uint32_t frames)
{
    if (frames > PROF_DEPTH_MAX)
        return PROF_EVALUE;
    if (prof_state.running)
        prof_drain();
    prof_hot.depth = prof_hot.text_bytes == 0 ? 0 : frames;
    if (prof_state.running)
        tell_start(prof_state.time.last_tsc);
    return PROF_OK;
}

void prof_hello(void)
{
    if (prof_state.running)
        prof_drain();
    prof_stream_hello();
    if (prof_state.running)
        tell_start(prof_state.time.last_tsc);
}

/* Samples between two drains for which the frame vector is long enough, at a
 * dozen callers each. */
#define DRAIN_SAMPLES 160u
#define DRAIN_MS_MAX 100u
#define DRAIN_MS_MIN 1u

uint32_t prof_drain_ms(void)
{
    uint32_t asked = prof_options()->drain_ms;
    uint32_t enough = DRAIN_SAMPLES * 1000000u / prof_rate_mhz();

    if (asked != 0)
        return asked;
    /* stacks may be deeper than that */
    if (prof_frames_half_full(&prof_hot.frames, prof_hot.frames.tail))
        return DRAIN_MS_MIN;
    return enough < DRAIN_MS_MAX ? enough : DRAIN_MS_MAX;
}

uint32_t prof_rate_mhz(void)
{
    return (uint32_t)prof_divide((uint64_t)PROF_PIT_HZ * 1000,
                                 prof_state.divisor);
}

/* Interrupts off: remembers how many ticks are forgotten. What could not be
 * drained, for want of memory or because it has just come, the stream has not
 * got and will not get. */
static void forget_ticks(void)
{
    uint64_t queued = prof_queued();

    for (unsigned i = 0; i < 3; i++)
        prof_state.forgotten += prof_state.counts.count[i];
    prof_state.forgotten += prof_dropped() + queued;
    if (prof_stream_on())
        prof_stream_discard(queued);
}

void prof_reset(void)
{
    bool on;

    prof_drain();
    /* The thread's own; with interrupts off it would cost ticks. */
    prof_map_clear(&prof_state.addresses);
    prof_map_clear(&prof_state.functions);
    prof_tree_forget(&prof_state.stacks);
    prof_tree_forget(&prof_state.calls);
    prof_tree_forget(&prof_state.callables);
    on = prof_interrupts_save();
    forget_ticks();
    prof_drain_discard();
    for (uint32_t i = 0; i < PROF_WALK_REASONS; i++)
        prof_state.stopped_before[i] = prof_state.stopped[i];
    prof_state.far = 0;
    prof_state.stolen_cycles = prof_state.stolen_told = 0;
    prof_state.counts = (struct prof_counts){0};
    prof_state.overflowed = 0;
    prof_state.homeless = prof_state.homeless_cycles = 0;
    prof_state.dropped_before = prof_hot.spill.dropped;
    prof_state.dropped_cycles_before = prof_hot.spill.dropped_cycles;
    prof_state.interrupt_before = prof_hot.interrupt_cycles;
    prof_state.drain_cycles = prof_state.report_cycles = 0;
    prof_state.gate_taken_back = prof_state.pit_taken_back = 0;
    prof_state.time.missed = prof_state.missed_told = 0;
    prof_interrupts_restore(on);
    if (prof_state.running)
        tell_start(prof_state.time.last_tsc);
}
