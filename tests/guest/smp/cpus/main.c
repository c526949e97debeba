/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernel/cpu.h promises, on as many CPUs as cpus.expect=N says: their
 * numbers and stacks, messages from each to each, timers, the heap, whole lines
 * on the console, promises. Nothing here depends on how fast the host is, nor
 * on when it runs which CPU.
 */

#include "guest/tap.h"

#include <arch/boot.h>
#include <arch/cpu.h>
#include <arch/cpus.h>
#include <kernel/clock.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <kernel/task.h>
#include <prof/causal.h>
#include <prof/cpus.h>
#include <prof/prof.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES 2000u /* from each CPU to each */
#define BLOCKS 300u    /* of the heap, on each CPU */
#define ROUNDS 40u
#define LINES 50u
#define TIMERS 20u

static unsigned expected = 1;
static bool in_experiments; /* everything happens while they run */

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "cpus.expect") == 0)
        expected = (unsigned)atoi(value);
    else if (strcmp(key, "cpus.in_experiments") == 0)
        in_experiments = atoi(value) != 0;
    else
        return false;
    return true;
}

/* ---- all CPUs at once: each calls (work), and CPU 0 waits for all */

static volatile unsigned finished;
static struct cpu_message done_messages[ARCH_CPUS_MAX];

static void on_done(void *context)
{
    (void)context;
    finished++;
}

/* The calling CPU is done: CPU 0 learns of it in its own loop. */
static void done(void)
{
    struct cpu_message *message = &done_messages[cpu_number()];

    message->function = on_done;
    cpu_send(0, message);
}

static void wait_for(unsigned count)
{
    while (finished < count)
        loop_wait();
}

static bool on_all(cpu_function *work, void *context)
{
    bool sent = true;

    finished = 0;
    for (unsigned i = 0; i < cpu_count(); i++)
        sent &= cpu_call(i, work, context);
    wait_for(cpu_count());
    return sent;
}

/* ---- who and where */

static struct {
    unsigned calls;
    uintptr_t stack;
    bool interrupts;
    uint16_t task;
    uint64_t idt, gdt; /* where they are */
} seen[ARCH_CPUS_MAX];

struct pointer {
    uint16_t limit;
    uintptr_t base;
} __attribute__((packed));

static void look(void *context)
{
    struct pointer idt, gdt;
    uint16_t task;

    __asm__ volatile("sidt %0; sgdt %1; str %2"
                     : "=m"(idt), "=m"(gdt), "=r"(task));
    (void)context;
    seen[cpu_number()].calls++;
    seen[cpu_number()].stack = (uintptr_t)&idt;
    seen[cpu_number()].interrupts = (arch_flags() & ARCH_FLAGS_IF) != 0;
    seen[cpu_number()].task = task;
    seen[cpu_number()].idt = idt.base;
    seen[cpu_number()].gdt = gdt.base;
    done();
}

static bool all_different(void)
{
    bool different = true;

    for (unsigned i = 0; i < cpu_count(); i++)
        for (unsigned k = 0; k < i; k++)
            different &=
                seen[i].task != seen[k].task && seen[i].idt != seen[k].idt &&
                (seen[i].stack & ~0xfffful) != (seen[k].stack & ~0xfffful) &&
                seen[i].gdt == seen[k].gdt;
    return different;
}

static bool stacks_are_known(void)
{
    bool known = true;
    struct arch_region stack;

    for (unsigned i = 1; i < cpu_count(); i++)
        known &= arch_cpu_stack(seen[i].stack, &stack) &&
                 seen[i].stack >= stack.begin && seen[i].stack < stack.end;
    return known && !arch_cpu_stack(seen[0].stack, &stack);
}

static void numbers(void)
{
    bool once = true, on = true;

    tap_is_equal(cpu_count(), expected, "as many CPUs as the machine has");
    tap_is_equal(cpu_number(), 0, "the service begins on CPU 0");
    tap_ok(on_all(look, NULL), "there is memory for calls");
    for (unsigned i = 0; i < cpu_count(); i++) {
        once &= seen[i].calls == 1;
        on &= seen[i].interrupts;
    }
    tap_ok(once, "each CPU was called once, and knows its number");
    tap_ok(on, "with interrupts on");
    tap_ok(all_different(), "each has its own task state, IDT and stack");
    tap_ok(stacks_are_known(), "the stacks of further CPUs are known");
}

/* ---- messages */

struct numbered {
    struct cpu_message message;
    uint16_t from, number;
};

/* [to][from], written by CPU `to` */
static uint16_t next_of[ARCH_CPUS_MAX][ARCH_CPUS_MAX];
static unsigned arrived[ARCH_CPUS_MAX], disordered[ARCH_CPUS_MAX];
static volatile unsigned unsent;

static void arrive(void *context)
{
    struct numbered *one = context;
    const unsigned here = cpu_number();

    if (one->number != next_of[here][one->from]++)
        disordered[here]++;
    free(one);
    if (++arrived[here] == MESSAGES * cpu_count())
        done();
}

static void send_all(void *context)
{
    (void)context;
    for (unsigned i = 0; i < MESSAGES; i++)
        for (unsigned to = 0; to < cpu_count(); to++) {
            struct numbered *one = malloc(sizeof *one);

            if (one == NULL) {
                __atomic_add_fetch(&unsent, 1, __ATOMIC_RELAXED);
                continue;
            }
            *one = (struct numbered){
                .message = {.function = arrive, .context = one},
                .from = (uint16_t)cpu_number(),
                .number = (uint16_t)i,
            };
            cpu_send(to, &one->message);
        }
}

static void messages(void)
{
    unsigned all = 0, wrong = 0;

    (void)on_all(send_all, NULL);
    for (unsigned i = 0; i < cpu_count(); i++) {
        all += arrived[i];
        wrong += disordered[i];
    }
    tap_is_equal(unsent, 0, "all messages have memory");
    tap_is_equal(all, (long long)MESSAGES * cpu_count() * cpu_count(),
                 "each message arrives once");
    tap_is_equal(wrong, 0, "in the order in which its CPU sent them");
}

/* ---- who is awake is not woken */

static volatile unsigned interrupts; /* that messages sent to CPU 1 */
static volatile bool is_awake, may_end;

void __real_arch_cpu_interrupt(unsigned number);
void __wrap_arch_cpu_interrupt(unsigned number);

void __wrap_arch_cpu_interrupt(unsigned number)
{
    if (number == 1)
        __atomic_add_fetch(&interrupts, 1, __ATOMIC_RELAXED);
    __real_arch_cpu_interrupt(number);
}

static void stay_awake(void *context)
{
    (void)context;
    is_awake = true;
    while (!may_end)
        arch_pause();
}

static void say_done(void *context)
{
    (void)context;
    done();
}

static void to_awake(void)
{
    bool sent = true;
    unsigned before = 0;

    finished = 0;
    if (cpu_count() > 1) {
        sent &= cpu_call(1, stay_awake, NULL);
        while (!is_awake)
            arch_pause();
        before = interrupts;
        sent &= cpu_call(1, say_done, NULL);
        sent &= interrupts == before;
        may_end = true;
        wait_for(1);
    }
    tap_ok(sent, "a message to a CPU that is awake sends no interrupt");
}

/* ---- timers */

static struct {
    struct loop_timer timer, cancelled;
    uint64_t due_ns;
    unsigned fired, early, elsewhere;
} timers[ARCH_CPUS_MAX];

static void never(void *context)
{
    timers[(uintptr_t)context].elsewhere = 1000;
}

static void fire(void *context)
{
    const uintptr_t owner = (uintptr_t)context;
    const unsigned here = cpu_number();

    timers[owner].early += clock_ns() < timers[owner].due_ns;
    timers[owner].elsewhere += here != owner;
    timers[owner].due_ns += NS_PER_MS;
    if (++timers[owner].fired < TIMERS)
        return;
    loop_cancel(&timers[owner].timer);
    loop_cancel(&timers[owner].cancelled);
    done();
}

static void arm(void *context)
{
    const unsigned here = cpu_number();
    void *self = (void *)(uintptr_t)here;

    (void)context;
    timers[here].due_ns = clock_ns() + NS_PER_MS;
    loop_every(&timers[here].timer, NS_PER_MS, fire, self);
    loop_once(&timers[here].cancelled, 3600 * NS_PER_S, never, self);
}

static void timers_of_each(void)
{
    unsigned fired = 0, early = 0, elsewhere = 0;

    (void)on_all(arm, NULL);
    for (unsigned i = 0; i < cpu_count(); i++) {
        fired += timers[i].fired;
        early += timers[i].early;
        elsewhere += timers[i].elsewhere;
    }
    tap_is_equal(fired, (long long)TIMERS * cpu_count(),
                 "timers of all CPUs fire");
    tap_is_equal(early, 0, "not before they are due");
    tap_is_equal(elsewhere, 0, "on the CPU that has armed them");
}

/* ---- the heap */

static unsigned spoilt[ARCH_CPUS_MAX];

static void use_heap(void *context)
{
    const unsigned here = cpu_number();
    unsigned seed = here + 1;
    unsigned char **blocks = calloc(BLOCKS, sizeof *blocks);
    uint16_t bytes[BLOCKS] = {0};

    (void)context;
    for (unsigned i = 0; i < BLOCKS * ROUNDS && blocks != NULL; i++) {
        const unsigned at = (seed >> 8) % BLOCKS;
        const unsigned char mark = (unsigned char)(here * 31 + at);

        seed = seed * 1664525u + 1013904223u;
        for (unsigned k = 0; k < bytes[at]; k++)
            spoilt[here] += blocks[at][k] != mark;
        bytes[at] = (uint16_t)(1 + (seed >> 10) % 700);
        blocks[at] = realloc(blocks[at], bytes[at]);
        if (blocks[at] == NULL) {
            spoilt[here]++;
            bytes[at] = 0;
            continue;
        }
        memset(blocks[at], mark, bytes[at]);
    }
    for (unsigned i = 0; i < BLOCKS && blocks != NULL; i++)
        free(blocks[i]);
    spoilt[here] += blocks == NULL;
    free(blocks);
    done();
}

static void heap(void)
{
    unsigned wrong = 0;

    (void)on_all(use_heap, NULL);
    for (unsigned i = 0; i < cpu_count(); i++)
        wrong += spoilt[i];
    tap_is_equal(wrong, 0, "no CPU's memory is another's");
}

/* ---- the console: ../cases.py looks for lines that are not whole */

static void print(void *context)
{
    (void)context;
    for (unsigned i = 0; i < LINES; i++)
        console_line("# a line of CPU %u, %u: "
                     "the quick brown fox jumps over the lazy dog.",
                     cpu_number(), i);
    done();
}

/* ---- promises */

static struct promise *promises[ARCH_CPUS_MAX];
static struct cpu_resolve resolves[ARCH_CPUS_MAX];
static const struct promise_producer nobody = {.kind = PROF_TRACE_PROMISE};

static void resolve(void *context)
{
    const unsigned here = cpu_number();

    (void)context;
    cpu_resolve(&resolves[here], promises[here], here + 100);
    done();
}

static uintptr_t await_all(void *context)
{
    uintptr_t wrong = 0;

    (void)context;
    for (unsigned i = 0; i < cpu_count(); i++) {
        struct promise_result result = task_await(promises[i]);

        wrong += result.state != PROMISE_RESOLVED || result.value != i + 100;
    }
    return wrong;
}

static void resolved_elsewhere(void)
{
    struct promise *all;
    struct promise_result result;

    for (unsigned i = 0; i < cpu_count(); i++)
        promises[i] = promise_new(&nobody, NULL, "of another CPU");
    all = task_start("all", await_all, NULL);
    (void)on_all(resolve, NULL);
    while (promise_state(all) == PROMISE_PENDING)
        loop_wait();
    result = promise_result(all);
    tap_ok(result.state == PROMISE_RESOLVED && result.value == 0,
           "a task has the values of promises that all CPUs resolve");
    promise_free(all);
    tap_is_equal(promise_stats().errors, 0, "none is used wrongly");
}

/* ---- the profiler */

static void joined(void)
{
    struct prof_cpu_stats stats;
    bool all = true;

    prof_drain(); /* which notices who has joined */
    for (unsigned i = 0; i < cpu_count(); i++)
        all &= prof_cpu_stats(i, &stats) && stats.joined;
    tap_ok(all, "all CPUs have joined the profiler");
    tap_ok(!prof_cpu_stats(cpu_count(), &stats) || !stats.joined,
           "and no others");
}

int service_main(void)
{
    while (in_experiments && !prof_causal_running())
        loop_wait();
    tap_plan(20);
    joined();
    numbers();
    messages();
    to_awake();
    timers_of_each();
    heap();
    tap_ok(on_all(print, NULL), "all CPUs print");
    resolved_elsewhere();
    return tap_end();
}
