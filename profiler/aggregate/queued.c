/* SPDX-License-Identifier: Apache-2.0 */

/* What is queued for the drain: how much, and without being counted. */

#include "aggregate/accounts.h"
#include "aggregate/drain.h"
#include "aggregate/drain_state.h"

static struct prof_drain_state *const drain = &prof_drain_state;

uint64_t prof_ticks(void)
{
    uint32_t now = __atomic_load_n(&prof_cpus[0].ticks, __ATOMIC_RELAXED);

    drain->ticks += now - (uint32_t)drain->ticks;
    return drain->ticks;
}

/* Samples not drained yet of the half that was taken. */
static uint32_t taken_left(void)
{
    return drain->taken == NULL
               ? 0
               : prof_overflow_samples(drain->taken, drain->taken_at);
}

static uint32_t discard_taken(void)
{
    uint32_t samples = taken_left();

    if (drain->taken != NULL)
        prof_overflow_free(drain->taken);
    drain->taken = NULL;
    return samples;
}

static uint32_t discard_vector(void)
{
    struct prof_cpu *cpu = &prof_cpus[0];
    struct prof_entry *until =
        prof_overflow_until(&cpu->overflow, &cpu->ring, drain->read);
    uint32_t samples =
        (uint32_t)prof_ring_distance(&cpu->ring, drain->read, until);

    if (samples != 0)
        prof_timebase_skip(&prof_clock,
                           prof_entry_tsc(prof_ring_before(&cpu->ring, until)),
                           samples);
    while (drain->read != until)
        prof_drain_pass();
    prof_frames_release(&cpu->frames, drain->frames_read);
    return samples;
}

uint64_t prof_drain_discard(void)
{
    uint64_t samples = 0;

    do {
        samples += discard_taken();
        samples += discard_vector();
        prof_drain_hand_over();
    } while (prof_drain_is_more());
    return samples;
}

uint64_t prof_queued(void)
{
    const struct prof_cpu *cpu = &prof_cpus[0];

    return prof_ring_distance(&cpu->ring, drain->read,
                              prof_ring_head(&cpu->ring)) +
           prof_overflow_waiting(&cpu->overflow, drain->taken) + taken_left();
}

uint64_t prof_dropped(void)
{
    return prof_accounts.dropped.samples + prof_accounts.no_memory.samples +
           prof_overflow_dropped(&prof_cpus[0].overflow, drain->taken);
}
