/* SPDX-License-Identifier: Apache-2.0 */

/*
 * An interrupt while functions are patched, called and restored: the trap flag
 * makes one after each instruction of it. With interrupts on, its handler calls
 * the function that is being patched, as any handler might, and it must be what
 * it was or wholly patched. With interrupts off only an NMI can come, which
 * samples. Or the handler takes a long time after one instruction, as a host
 * does that runs something else. QEMU counts instructions, so all figures
 * repeat.
 */

#include "guest/entry.h"
#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/wraps.h"
#include "unit/single_step.h"

#include <kernel/service.h>
#include <prof/causal.h>
#include <prof/origin.h>
#include <string.h>

#define TRAP_VECTOR 1u
#define FLAGS_IF 0x200u
#define JUMP_BYTES 5u
#define ROUNDS 3u
#define ROUNDS_OF_CALL 50u
#define STOLEN_ROUNDS 50000u
#define NAMED __attribute__((noinline, noclone))

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    struct prof_config own = *config;

    own.tick = (struct prof_tick){.kind = PROF_TICK_HOOK, .rate_mhz = 1000000};
    return __real_prof_init(memory, bytes, &own);
}

NAMED HANDLER uint32_t called(uint32_t value);
NAMED HANDLER uint32_t called(uint32_t value)
{
    /* a patch sees it, and the virtual clock that it takes some time */
    for (unsigned i = 0; i < ROUNDS_OF_CALL; i++)
        __asm__ volatile("" : "+r"(value) : : "memory");
    return 3 * value + 1;
}

static PROF_PROGRESS(unit, "unit");
static const struct prof_causal_settings settings = {
    .tsc_hz = GUEST_TSC_HZ,
    .speedups = 1,
    .speedup = {PROF_ONE / 2},
    .held = 4,
    .cycles_max = 1, /* each turn of the loop begins another experiment */
};

static volatile uint32_t step_count;
static struct {
    bool takes;        /* this alone */
    uint32_t at, step; /* the instruction after which, and the last one */
} host;
static uint8_t original[JUMP_BYTES], patched[JUMP_BYTES];
static struct {
    uint32_t original, patched; /* steps with interrupts on, by the code */
    uint32_t broken;            /* and neither of the two */
    uint32_t half;              /* the same with interrupts off */
    uint32_t wrong;             /* results */
    uint32_t back;              /* the virtual clock's delay has become less */
    uint32_t late;              /* and virtual time */
    uint32_t grown;             /* the delay has become more */
} seen;

HANDLER static bool is_there(const uint8_t *bytes)
{
    const volatile uint8_t *code = (const volatile uint8_t *)(uintptr_t)called;

    for (unsigned i = 0; i < JUMP_BYTES; i++)
        if (code[i] != bytes[i])
            return false;
    return true;
}

/* What an interrupt adds to the delay must not be lost. */
HANDLER static void look_at_clock(void)
{
    static uint64_t delay, time;
    struct prof_causal_stats stats;
    uint64_t now;

    prof_causal_stats(&stats);
    seen.back += stats.delay_cycles < delay;
    seen.grown += stats.delay_cycles > delay;
    delay = stats.delay_cycles;
    now = prof_causal_time();
    seen.late += now < time;
    time = now;
}

/* The profiler cannot see that this time was stolen. */
HANDLER static void take_time(void)
{
    if (++host.step != host.at)
        return;
    for (unsigned i = 0; i < STOLEN_ROUNDS; i++)
        __asm__ volatile("");
}

/* The trap after each instruction; samples as an NMI's handler would. */
HANDLER static void on_step(uintptr_t *pushed)
{
    bool as_it_was, whole;

    if (host.takes) {
        take_time();
        return;
    }
    as_it_was = is_there(original);
    whole = as_it_was || is_there(patched);
    step_count++;
    guest_sample(pushed);
    if ((pushed[PUSHED_FLAGS] & FLAGS_IF) == 0) {
        seen.half += !whole;
        return;
    }
    look_at_clock();
    seen.broken += !whole;
    if (!whole)
        return;
    seen.original += as_it_was;
    seen.patched += !as_it_was;
    seen.wrong += called(step_count) != 3 * step_count + 1;
    look_at_clock();
}

static bool is_right;

/* Patches the function, calls it, and restores it. */
static void run(const struct prof_target *target)
{
    is_right = prof_causal_start(&settings) == 0 &&
               prof_causal_fix(target, PROF_ONE / 2) == 0;
    for (uint32_t i = 0; i < 4; i++)
        is_right = is_right && called(i) == 3 * i + 1;
    prof_causal_stop();
}

static void test_steps(const struct prof_target *target)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        STEP_ON();
        run(target);
        STEP_OFF();
        tap_ok(is_right, "patched, called and restored step by step");
        tap_ok(is_there(original), "the code is as it was");
        tap_is_equal(target->inside, 0, "each call has ended");
    }
    tap_note("%u steps; interrupts on: %u before, %u patched; %u half patched",
             (unsigned)step_count, (unsigned)seen.original,
             (unsigned)seen.patched, (unsigned)seen.half);
    tap_ok(seen.original > 1000 && seen.patched > 1000,
           "interrupts came before, meanwhile and afterwards");
    tap_ok(seen.half >= ROUNDS * 2 * (JUMP_BYTES - 1),
           "code is half written after each byte but the last");
    tap_is_equal(seen.broken, 0, "and never while an interrupt may come");
    tap_is_equal(seen.wrong, 0, "the function is right in each of them");
}

/* What changes the virtual clock: experiments that begin in a turn of the loop,
 * or because there is no room to hold an event, and the calls. They begin
 * before the steps, for the profiler measures its own time then: with a trap
 * after each instruction of it, it finds that of the traps. */
static void test_clock(const struct prof_target *target)
{
    static char event;
    uint64_t due = 0;

    (void)prof_causal_start(&settings);
    seen.grown = seen.back = seen.late = 0;
    STEP_ON();
    for (unsigned i = 0; i < ROUNDS; i++) {
        prof_causal_turn();
        for (unsigned j = 0; j <= settings.held; j++) /* one too many */
            (void)prof_causal_hold(UINT64_MAX / 2, &event);
        while (prof_causal_next(&due))
            (void)prof_causal_take();
        prof_causal_turn();
    }
    (void)prof_causal_fix(target, PROF_ONE / 2);
    for (unsigned i = 0; i < 2 * ROUNDS; i++)
        (void)called(i);
    prof_causal_stop();
    STEP_OFF();
    tap_note("the delay has grown %u times", (unsigned)seen.grown);
    tap_ok(seen.grown > 100, "the function was faster in many of them");
    tap_is_equal(seen.back, 0, "and no delay of the virtual clock was lost");
    tap_is_equal(seen.late, 0, "virtual time never goes back");
}

/* Virtual time of a call with the host taking time after the instruction (at),
 * 0: after none. */
static int64_t time_of_call(uint32_t at)
{
    uint64_t began = prof_causal_time();

    host.at = at;
    host.step = 0;
    STEP_ON();
    (void)called(1);
    STEP_OFF();
    return (int64_t)(prof_causal_time() - began);
}

/* What the host takes is the program's, the target's, half of which is saved,
 * or the profiler's own, all of which is: but not both. */
static void test_host(const struct prof_target *target)
{
    int64_t without, stolen, least = INT64_MAX;
    uint32_t steps, longer = 0, half = 0, same = 0;

    (void)prof_causal_start(&settings);
    (void)prof_causal_fix(target, PROF_ONE / 2);
    host.takes = true;
    without = time_of_call(0);
    steps = host.step;
    stolen = time_of_call(1) - without; /* before the call */
    for (uint32_t at = 1; at <= steps; at++) {
        int64_t more = time_of_call(at) - without;

        least = more < least ? more : least;
        half += more > stolen / 4 && more <= stolen * 3 / 4;
        same += more <= stolen / 4;
        longer += more > stolen * 3 / 4;
    }
    host.takes = false;
    prof_causal_stop();
    tap_note("%u steps: %u in the target, %u in the profiler, %u elsewhere; "
             "of %d the host took, %d at least are in virtual time",
             (unsigned)steps, (unsigned)half, (unsigned)same, (unsigned)longer,
             (int)stolen, (int)least);
    tap_ok(half >= ROUNDS_OF_CALL && same >= ROUNDS_OF_CALL,
           "the host takes time in the function and in the profiler");
    tap_ok(stolen > (int64_t)STOLEN_ROUNDS && least > -stolen / 10,
           "and no time is left out twice");
}

static void test_samples(void)
{
    struct prof_stats stats;

    prof_stop();
    for (unsigned i = 0; i < 2; i++)
        prof_drain();
    stats = guest_stats();
    tap_is_equal((int64_t)(stats.ticks + stats.forgotten), step_count,
                 "each step was a sample");
    tap_is_equal((int64_t)guest_accounted(&stats), (int64_t)stats.ticks,
                 "  in one account");
}

static void test_afterwards(const struct prof_target *target)
{
    uint64_t before;

    (void)prof_causal_start(&settings);
    before = target->visits;
    for (uint32_t i = 0; i < 1000; i++)
        (void)called(i);
    tap_is_equal((long long)(target->visits - before), 1000,
                 "afterwards each call is counted");
    prof_causal_stop();
}

/* The last entry, by which the profiler measures itself: a sample in it must
 * not show the entry. */
static void test_own_entry(void)
{
    extern const uint8_t prof_patch_entries[], prof_patch_returns[];
    const uintptr_t entries = (uintptr_t)prof_patch_entries;
    const uintptr_t end = (uintptr_t)prof_patch_returns;

    tap_ok(prof_origin(end - 1) - entries >= end - entries,
           "where the profiler measures itself is a function of its own");
}

int service_main(void)
{
    const struct prof_target *target;

    tap_plan(3 * ROUNDS + 16);
    prof_causal_add_progress(&unit);
    tap_is_equal(prof_causal_add_function("called", PROF_CAUSAL_TARGET_ENTRY),
                 0, "a function can be patched");
    target = prof_causal_target("called");
    memcpy(original, (const void *)(uintptr_t)called, JUMP_BYTES);
    (void)prof_causal_start(&settings);
    memcpy(patched, (const void *)(uintptr_t)called, JUMP_BYTES);
    prof_causal_stop();
    tap_ok(memcmp(original, patched, JUMP_BYTES) != 0, "and is");
    tap_is_equal(prof_start(), 0, "started");
    guest_set_gate(TRAP_VECTOR, guest_entry(0, on_step));
    test_steps(target);
    test_clock(target);
    test_host(target);
    test_samples();
    test_afterwards(target);
    test_own_entry();
    return tap_end();
}
