/* SPDX-License-Identifier: Apache-2.0 */

/* What CPUs share, and how one hands over a copy of what it has counted. */

#include "loop/calls.h"
#include "loop/loop.h"
#include "sample/cpus.h"

#include <prof/config.h>
#include <prof/error.h>
#include <stddef.h>

#if PROF_CPUS_MAX > 1

#define WAIT 50u /* for a copy: a part of a second */

enum { RESTS, ASKED, FILLS };

/* Of each further CPU. */
static struct share {
    PROF_OWN_LINE uint32_t state;
    uint32_t sent; /* serial of the last copy that was sent */
    void *memory;  /* written once, before the CPU begins; NULL: none */
    struct prof_loop_snapshot copy;
} shares[PROF_CPUS_MAX];

/* What the others are to follow, written by the first CPU. */
static PROF_OWN_LINE struct {
    uint32_t resets;
    uint32_t changes; /* of the limits, twice; odd: they are being written */
    uint64_t held_cycles, freeze_cycles;
    size_t bytes; /* of memory, for what the first one counts */
    uint64_t tsc_hz;
} orders;

uint8_t prof_loop_slots[PROF_CPU_KEYS];
void (*prof_loop_kick)(uint32_t number);

bool prof_loop_counts_here(void)
{
    return prof_loop_slot() != 0;
}

static void set_slot(uint32_t number)
{
#ifdef PROF_HOSTED
    prof_loop_slots[prof_cpu_number(prof_cpu_here())] = (uint8_t)(number + 1);
#else
    prof_loop_slots[prof_cpu_key_here()] = (uint8_t)(number + 1);
#endif
}

static void pause_for_others(void)
{
    __asm__ volatile("pause" : : : "memory");
}

/* ---- numbers of sites */

static PROF_OWN_LINE uint32_t locked;
static uint32_t numbers; /* that were given */

bool prof_loop_lock(void)
{
    bool on = prof_interrupts_save();

    while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE) != 0)
        pause_for_others();
    return on;
}

void prof_loop_unlock(bool interrupts)
{
    __atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
    prof_interrupts_restore(interrupts);
}

bool prof_loop_next_number(uint32_t *number)
{
    if (numbers >= prof_loop_sites_here()->site_max)
        return false;
    *number = numbers++;
    return true;
}

/* ---- memory */

/* What the copy takes, each in words of eight bytes. */
static size_t sites_bytes(void)
{
    return prof_loop_sites_here()->site_max * sizeof(struct prof_loop_site);
}

static size_t contexts_bytes(void)
{
    return prof_loop_sites_here()->node_max * sizeof(struct prof_loop_context);
}

static size_t notes_bytes(void)
{
    return (prof_loop_sites_here()->site_max + 1u) / 2 * 8;
}

/* The first CPU begins, with (bytes). */
void prof_loop_first(size_t bytes, uint64_t tsc_hz)
{
    orders.bytes = bytes / 8 * 8;
    orders.tsc_hz = tsc_hz;
    numbers = PROF_SITES_FIXED;
    set_slot(0);
}

size_t prof_loop_cpu_bytes(void)
{
    return prof_loop_on == 0
               ? 0
               : orders.bytes + prof_calls_bytes() + sites_bytes() +
                     contexts_bytes() + PROF_LONG_RUNS_BYTES + notes_bytes();
}

/* The parts of (memory) that are the copy's; the rest is the CPU's own. */
static void place_copy(struct prof_loop_snapshot *copy, char *memory)
{
    prof_clear_words(memory, prof_loop_cpu_bytes() / sizeof(void *));
    memory += orders.bytes + prof_calls_bytes();
    copy->sites.sites = (void *)memory;
    memory += sites_bytes();
    copy->contexts = (void *)memory;
    memory += contexts_bytes();
    copy->held = (void *)memory;
    copy->listed = copy->held + PROF_LONG_RUNS_NOTED;
    memory += PROF_LONG_RUNS_BYTES;
    copy->notes = (void *)memory;
}

int prof_loop_open_cpu(uint32_t number, void *memory)
{
    struct share *share;

    if (prof_loop_on == 0 || !prof_cpu_is_first())
        return PROF_ESTATE;
    if (number == 0 || number >= prof_cpu_count())
        return PROF_EVALUE;
    if (memory == NULL || (uintptr_t)memory % 8 != 0)
        return PROF_EMEMORY;
    share = &shares[number];
    if (share->memory != NULL)
        return PROF_ESTATE;
    share->copy.number = number;
    place_copy(&share->copy, memory);
    __atomic_store_n(&share->memory, memory, __ATOMIC_RELEASE);
    if (prof_loop_kick != NULL)
        prof_loop_kick(number);
    return PROF_OK;
}

bool prof_loop_may_count(uint32_t number)
{
    return shares[number].memory != NULL;
}

uint32_t prof_loop_without_memory(void)
{
    uint32_t count = 0;

    for (uint32_t i = 1; i < prof_cpu_count(); i++)
        count += !prof_loop_may_count(i);
    return count;
}

bool prof_loop_others_begun(void)
{
    return prof_loop_without_memory() + 1 < prof_cpu_count();
}

/* ---- the CPU that counts */

/* A reset that comes meanwhile is followed once more, at the next turn. */
static void begin_statistics(uint32_t number)
{
    uint32_t resets = __atomic_load_n(&orders.resets, __ATOMIC_ACQUIRE);
    bool on = prof_interrupts_save();
    char *memory = shares[number].memory;

    prof_cpu_keep_number(number);
    set_slot(number);
    prof_calls_open_here(memory + orders.bytes);
    prof_loop_open_here(memory, orders.bytes, orders.tsc_hz);
    prof_loop_cpu_here()->resets = resets;
    prof_interrupts_restore(on);
}

/* Both halves of each limit, unless the first CPU writes them meanwhile: then
 * the next turn follows. */
static void follow_limits(struct prof_loop_cpu *cpu)
{
    uint32_t changes = __atomic_load_n(&orders.changes, __ATOMIC_ACQUIRE);
    uint64_t held = *(const volatile uint64_t *)&orders.held_cycles;
    uint64_t freeze = *(const volatile uint64_t *)&orders.freeze_cycles;
    bool on;

    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (changes % 2 != 0 ||
        changes != __atomic_load_n(&orders.changes, __ATOMIC_RELAXED))
        return;
    cpu->changes = changes;
    on = prof_interrupts_save(); /* the guard reads its limit there */
    prof_long_runs_set_limits(held, UINT64_MAX);
    prof_guard_set(freeze, NULL);
    prof_interrupts_restore(on);
}

static void follow(struct prof_loop_cpu *cpu)
{
    uint32_t resets = __atomic_load_n(&orders.resets, __ATOMIC_ACQUIRE);

    if (__atomic_load_n(&orders.changes, __ATOMIC_RELAXED) != cpu->changes)
        follow_limits(cpu);
    if (resets != cpu->resets) {
        cpu->resets = resets;
        prof_loop_reset_here();
    }
}

/* The site in the copy that (site) is, which the CPU goes on to write. */
static struct prof_loop_site *copied(struct prof_loop_snapshot *copy,
                                     const struct prof_loop_site *site)
{
    return &copy->sites.sites[prof_loop_site_number(site)];
}

static void copy_run(struct prof_loop_snapshot *copy, struct prof_long_run *to,
                     const struct prof_long_run *from)
{
    *to = *from;
    to->site = copied(copy, from->site);
    to->node = NULL;
}

static void add_held(const struct prof_long_run *run)
{
    struct prof_loop_snapshot *copy = prof_loop_cpu_here()->filled;

    copy_run(copy, &copy->held[copy->held_count++], run);
}

static void add_context(const struct prof_loop_context *node, void *context)
{
    struct prof_loop_snapshot *copy = context;

    copy->contexts[copy->context_count++] = *node;
}

static void copy_sites(struct prof_loop_snapshot *copy)
{
    const struct prof_loop_sites *own = prof_loop_sites_here();

    for (uint32_t i = 0; i < own->site_count; i++) {
        const struct prof_loop_site *site = &own->sites[i];
        struct prof_loop_site *to = &copy->sites.sites[i];

        if (!prof_loop_site_begun(site))
            continue;
        prof_copy_words(to, site, sizeof *site / sizeof(void *));
        to->oldest = to->newest = NULL;
        prof_loop_read_row(site, copy->tsc, &to->row);
    }
    copy->sites.site_count = own->site_count;
    copy->sites.begun = own->begun;
}

static void copy_freeze(struct prof_loop_snapshot *copy)
{
    struct prof_freeze *freeze = &copy->freeze;

    copy->has_freeze = prof_guard_take(freeze);
    if (!copy->has_freeze)
        return;
    freeze->site = copied(copy, freeze->site);
    freeze->outer = copied(copy, freeze->outer);
}

static void copy_listed(struct prof_loop_snapshot *copy)
{
    const struct prof_long_run *run;

    for (uint32_t i = 0; i < PROF_LONG_RUNS_LISTED; i++) {
        run = prof_long_runs_listed(i);
        if (run != NULL)
            copy_run(copy, &copy->listed[i], run);
        else
            copy->listed[i].site = NULL;
    }
}

static void fill(struct prof_loop_cpu *cpu, struct prof_loop_snapshot *copy)
{
    cpu->filled = copy;
    copy->held_count = copy->context_count = 0;
    prof_long_runs_finish(add_held);
    copy_freeze(copy);
    copy_listed(copy);
    prof_loop_hold_still(true);
    prof_loop_account(&copy->account);
    copy->tsc = cpu->read_tsc;
    copy_sites(copy);
    prof_loop_contexts(add_context, copy);
    prof_loop_hold_still(false);
    copy->resets = cpu->resets;
    copy->serial++;
}

/* Whether there is something to follow, or it was asked for a copy. */
static bool is_due(const struct share *share, const struct prof_loop_cpu *cpu)
{
    return __atomic_load_n(&share->state, __ATOMIC_RELAXED) == ASKED ||
           __atomic_load_n(&orders.resets, __ATOMIC_RELAXED) != cpu->resets ||
           __atomic_load_n(&orders.changes, __ATOMIC_RELAXED) != cpu->changes;
}

/* Begun first: then it also follows what was ordered before it was asked. */
static void hand_over(struct share *share)
{
    uint32_t asked = ASKED;
    bool begun =
        __atomic_compare_exchange_n(&share->state, &asked, FILLS, false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);

    follow(prof_loop_cpu_here());
    if (!begun)
        return;
    fill(prof_loop_cpu_here(), &share->copy);
    __atomic_store_n(&share->state, RESTS, __ATOMIC_RELEASE);
}

void prof_loop_poll(void)
{
    uint32_t number = prof_cpu_number(prof_cpu_here());
    struct prof_loop_frame frame;
    struct share *share;

    if (prof_loop_slot() == 0) {
        if (number == 0 || number >= PROF_CPUS_MAX ||
            __atomic_load_n(&shares[number].memory, __ATOMIC_ACQUIRE) == NULL)
            return;
        begin_statistics(number);
    }
    share = &shares[prof_loop_slot() - 1]; /* it may have left since */
    if (!is_due(share, prof_loop_cpu_here()))
        return;
    prof_loop_put_profiler(&frame);
    hand_over(share);
    prof_loop_leave(&frame);
}

/* ---- the first CPU */

/* What was handed over before is sent before. */
void prof_loop_reset_others(void)
{
    for (uint32_t i = 1; i < prof_cpu_count(); i++)
        prof_loop_send_copy(i);
    __atomic_add_fetch(&orders.resets, 1, __ATOMIC_RELEASE);
}

void prof_loop_limit_others(uint64_t held_cycles, uint64_t freeze_cycles)
{
    __atomic_add_fetch(&orders.changes, 1, __ATOMIC_SEQ_CST);
    orders.held_cycles = held_cycles;
    orders.freeze_cycles = freeze_cycles;
    __atomic_add_fetch(&orders.changes, 1, __ATOMIC_SEQ_CST);
}

static bool rests(const struct share *share)
{
    return __atomic_load_n(&share->state, __ATOMIC_ACQUIRE) == RESTS;
}

void prof_loop_ask(uint32_t number)
{
    struct share *share = &shares[number];
    uint32_t state = __atomic_load_n(&share->state, __ATOMIC_ACQUIRE);

    if (share->memory == NULL || state == FILLS)
        return;
    if (state == RESTS) {
        prof_loop_send_copy(number); /* the next one has not its long runs */
        __atomic_store_n(&share->state, ASKED, __ATOMIC_RELEASE);
    }
    if (prof_loop_kick != NULL)
        prof_loop_kick(number);
}

/* Answers CPUs that join meanwhile: they wait no longer for that. */
static void wait_for(struct share *share, uint64_t begin, uint64_t most)
{
    uint32_t asked = ASKED;

    while (!rests(share) && prof_tsc() - begin < most) {
        prof_cpu_answer();
        pause_for_others();
    }
    (void)__atomic_compare_exchange_n(&share->state, &asked, RESTS, false,
                                      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void prof_loop_wait(uint32_t first, uint32_t count, uint32_t part)
{
    struct prof_loop_cpu *cpu = prof_loop_cpu_here();
    uint64_t begin = prof_tsc(), most = prof_divide(orders.tsc_hz, part);
    struct prof_loop_frame frame;

    prof_loop_profiler(&frame);
    cpu->waits = &frame;
    for (uint32_t i = first; i < first + count && i < prof_cpu_count(); i++)
        wait_for(&shares[i], begin, most);
    cpu->waits = NULL;
    prof_loop_leave(&frame);
}

bool prof_loop_view_copy(uint32_t number)
{
    struct prof_loop_cpu *cpu = prof_loop_cpu_here();
    struct share *share = &shares[number];

    cpu->viewed = NULL;
    if (share->memory == NULL || !rests(share) || share->copy.serial == 0)
        return false;
    cpu->viewed = &share->copy;
    return true;
}

bool prof_loop_copy_counts(void)
{
    return prof_loop_cpu_here()->viewed->resets == orders.resets;
}

bool prof_loop_view(uint32_t number)
{
    prof_loop_cpu_here()->viewed = NULL;
    if (number == 0)
        return true;
    if (number >= prof_cpu_count() || !prof_loop_view_copy(number))
        return false;
    if (prof_loop_copy_counts())
        return true;
    prof_loop_cpu_here()->viewed = NULL;
    return false;
}

bool prof_loop_read_cpu(uint32_t number)
{
    if (!prof_loop_is_first())
        return false;
    (void)prof_loop_view(0);
    if (number != 0 && number < prof_cpu_count()) {
        prof_loop_ask(number);
        prof_loop_wait(number, 1, WAIT);
    }
    return prof_loop_view(number);
}

bool prof_loop_is_unsent(uint32_t number)
{
    return shares[number].sent != shares[number].copy.serial;
}

void prof_loop_set_sent(uint32_t number)
{
    shares[number].sent = shares[number].copy.serial;
}

#ifdef PROF_HOSTED
void prof_loop_forget_others(void)
{
    for (uint32_t i = 0; i < PROF_CPUS_MAX; i++)
        shares[i] = (struct share){0};
    for (uint32_t i = 0; i < PROF_CPU_KEYS; i++)
        prof_loop_slots[i] = 0;
}
#endif

#endif
