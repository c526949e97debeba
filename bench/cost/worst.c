/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The worst case: 64 callers at 20 kHz, and no stack is like one before it.
 * Nothing is recent then, and each sample adds as many stacks as it has
 * addresses. Frames are made up; ticks are the timer's. Drains are when the
 * reference kernel would have them.
 */

#include "handlers.h"

#include <arch/boot.h>
#include <arch/cpu.h>
#include <kernel/clock.h>
#include <prof/format.h>
#include <prof/prof.h>
#include <prof/transport.h>

#define CALLERS 64u
#define SLICES 20000u       /* half a second, the work alone */
#define SLICE_ROUNDS 12500u /* of two instructions: 25 us */
#define CHECK_SLICES 120u   /* so often is it asked whether a drain is due, */
#define SOON_SLICES 40u     /* or so often after one that has left something */
#define PER_MS 1000000u     /* instructions, which are nanoseconds */
#define OUTERMOST 8192u     /* places of the outermost caller */

#ifdef __x86_64__
#define FRAME_POINTER "%%rbp"
#else
#define FRAME_POINTER "%%ebp"
#endif

static struct {
    uint64_t drained, longest;
} drains;

static bool send(const void *packet, size_t bytes)
{
    (void)packet;
    (void)bytes;
    return true;
}

static const struct prof_transport nowhere = {.name = "nowhere", .send = send};

/* A loop that the frames at (frames) seem to have called. */
static __attribute__((noinline)) void loop_below(const uintptr_t *frames)
{
    uint32_t rounds = SLICE_ROUNDS;

    __asm__ volatile("push " FRAME_POINTER "\n\tmov %1, " FRAME_POINTER
                     "\n1:\tdec %0\n\tjnz 1b\n\tpop " FRAME_POINTER
                     : "+r"(rounds)
                     : "r"(frames)
                     : "cc", "memory");
}

static void drain_if_due(void)
{
    uint64_t begin = arch_tsc(), took;

    if (begin - drains.drained + PER_MS < (uint64_t)prof_drain_ms() * PER_MS)
        return;
    drains.drained = begin;
    prof_drain();
    took = arch_tsc() - begin;
    drains.longest = took > drains.longest ? took : drains.longest;
}

/* Returns how long it took. */
static uint64_t work(bool drain)
{
    uintptr_t frames[2 * CALLERS], text = (uintptr_t)text_begin + 64;
    uint64_t begin = arch_tsc();

    for (uint32_t i = 0; i < CALLERS; i++) {
        frames[2 * i] = i + 1 < CALLERS ? (uintptr_t)&frames[2 * i + 2] : 0;
        frames[2 * i + 1] = text + i * 512;
    }
    for (uint32_t i = 0; i < SLICES; i++) {
        frames[2 * CALLERS - 1] = text + i % OUTERMOST * 4;
        frames[2 * CALLERS - 3] = text + i / OUTERMOST * 64;
        loop_below(frames);
        if (drain &&
            i % (prof_drain_ms() == 1 ? SOON_SLICES : CHECK_SLICES) == 0)
            drain_if_due();
    }
    return arch_tsc() - begin;
}

void bench_worst(void)
{
    struct prof_stats before, after;
    uint64_t alone, took;
    bool on = arch_interrupts_save();

    alone = work(false);
    arch_interrupts_restore(on);
    prof_set_depth(CALLERS);
    prof_set_rate(20000);
    prof_transport_use(&nowhere);
    prof_start();
    prof_drain();
    prof_stats(&before);
    took = work(true);
    prof_stats(&after);
    prof_stop();
    prof_transport_use(NULL);
    bench_emit("worst_sample",
               (took - alone) * 100 / (after.ticks - before.ticks));
    bench_emit("worst_drain", drains.longest * 100);
    bench_emit("worst_dropped", (after.dropped - before.dropped) * 100);
    bench_emit("worst_cut", (after.stopped[PROF_WALK_ROOM] -
                             before.stopped[PROF_WALK_ROOM]) *
                                100ull);
    bench_emit("worst_samples", (after.ticks - before.ticks) * 100);
}
