/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_tasks EVENTS SEED [WRONG [PEER]]: writes a stream of at least so many
 * events of objects to stdout: an event loop starts tasks, which wait for
 * promises that an interrupt resolves. Every 50th event is followed by a sample
 * of the stacks of make_stream. Nothing in it is wrong but, in the middle, what
 * WRONG says: one of the names in put_wrong(). With PEER 0 and with PEER 1 the
 * two exchange packets, of which OFFSET and so on say how their clocks differ.
 *
 * In the end it writes to stderr what is in the stream, as JSON: events,
 * objects, runs (switches to tasks), waits, resolved, failed, irqs, counters.
 */

#include "../unit/host/stream_maker.h"
#include "made_tree.h"

#include <prof/trace.h>

#ifndef SITES
#define SITES 20u
#endif
#define ALIVE 200u
#define VECTOR 0x30u

/* Packets leave PERIOD clocks of peer 0 after each other, by turns, and take
 * DELAY. The clock of peer 1 is OFFSET behind, and gains 100 ppm. */
#define PERIOD 10000u
#define DELAY 3000u
#define OFFSET 50000u
#define GAIN 10000u

enum { SITE = 1, WAITS = 100, REFUSED, QUEUE, COLLECTED, NAMED };

struct task {
    uint32_t id;
    uint32_t promise; /* that it waits for; 0 = it is ready */
    uint32_t result;  /* the one that it waited for */
};

static struct made made = {.packet_room = PROF_PACKET_DEFAULT, .step = 37};
static struct task tasks[ALIVE];
static unsigned task_count;
static uint32_t last_id, first, current;
static struct {
    uint64_t events, runs, waits, resolved, failed, irqs, counters;
} total;

static uint32_t random_below(uint32_t limit)
{
    return chance() % limit;
}

static void put_names(void)
{
    char text[60];

    for (uint16_t i = 0; i < SITES; ++i) {
        struct prof_event_site site = {(uint16_t)(SITE + i), 10u * i + 3};
        uint8_t fields[sizeof site + sizeof text];
        int bytes =
            sprintf(text, "handler_%u@services/made/part_%u.c", i, i / 4u) + 1;

        memcpy(fields, &site, sizeof site);
        memcpy(fields + sizeof site, text, (size_t)bytes);
        made_event(&made, PROF_EVENT_SITE, fields, sizeof site + (size_t)bytes);
    }
    for (uint16_t i = WAITS; i <= NAMED; ++i) {
        static const char *const names[] = {"waits for the disk", "refused",
                                            "queue", "collected", "the first"};
        uint8_t fields[2 + 30];

        memcpy(fields, &i, 2);
        strcpy((char *)fields + 2, names[i - WAITS]);
        made_event(&made, PROF_EVENT_NAME, fields,
                   2 + strlen(names[i - WAITS]) + 1);
    }
}

/* Makes room for an event of an object. Each packet says which object runs and
 * what near numbers count from. */
static void next_event(void)
{
    if (total.events++ % 50 == 49)
        made_sample(&made, sampled_node(0));
    made.step = 5 + random_below(60);
    if (made.used > 0 && made.used + 40 <= made.packet_room)
        return;
    made_flush(&made);
    first = last_id > 30000 ? last_id - 30000 : 0;
    made_word(&made, PROF_EVENT_OBJECTS, first);
    made_word(&made, PROF_EVENT_SWITCH_WIDE, current);
}

/* An event with (bytes) more after the number of an object. */
static void put(enum prof_event plain, enum prof_event wide, uint32_t object,
                const void *more, size_t bytes)
{
    uint8_t fields[16];
    bool is_near;
    uint32_t n;

    next_event();
    is_near = object == 0 || (object > first && object - first < 65535);
    n = is_near && object > 0 ? object - first : object;
    memcpy(fields, &n, is_near ? 2 : 4);
    if (bytes > 0)
        memcpy(fields + (is_near ? 2 : 4), more, bytes);
    made_event(&made, is_near ? plain : wide, fields,
               (is_near ? 2 : 4) + bytes);
}

#define PUT(NAME, object)                                                      \
    put(PROF_EVENT_##NAME, PROF_EVENT_##NAME##_WIDE, object, NULL, 0)

static void run(uint32_t object)
{
    PUT(SWITCH, object);
    current = object;
    total.runs += object > 0;
}

static uint32_t create(enum prof_trace_kind kind, unsigned site)
{
    struct prof_event_create_wide event = {++last_id, (uint8_t)kind,
                                           (uint16_t)site};

    next_event();
    MADE_EVENT(&made, PROF_EVENT_CREATE_WIDE, event);
    return last_id;
}

/* With STACKS tasks are suspended in one of so many functions, called by a
 * common one; the loop has no stack. */
#ifndef STACKS
#define STACKS 0u
#endif
#define STACK_CALLER 0x104001u /* return addresses */
#define STACK_LEAF(stack) (0x105001u + 64u * (stack))

static void put_stacks(void)
{
    for (uint32_t i = 1; i <= STACKS; ++i) {
        made_node(&made, PROF_SUSPEND_NODE(i, 1), 0, STACK_CALLER);
        made_node(&made, PROF_SUSPEND_NODE(i, 0), PROF_SUSPEND_NODE(i, 1),
                  STACK_LEAF(i));
    }
}

static void suspend(void)
{
    uint8_t why = WAITS;

    next_event();
    if (STACKS > 0 && current != 0) {
        struct prof_event_suspend_stack event = {
            WAITS, (uint16_t)(1 + current % (STACKS + !STACKS))};

        MADE_EVENT(&made, PROF_EVENT_SUSPEND_STACK, event);
    } else {
        MADE_EVENT(&made, PROF_EVENT_SUSPEND, why);
    }
}

/* The current task waits for a promise of its own, or ends. */
static void go_on(struct task *task)
{
    if (random_below(3) == 0) {
        PUT(RESOLVE, task->id);
        run(0);
        *task = tasks[--task_count];
        return;
    }
    task->promise = create(PROF_TRACE_PROMISE, SITE + random_below(SITES));
    PUT(TRY_READ, task->promise);
    suspend();
    run(0);
    ++total.waits;
}

static void start_task(void)
{
    struct task *task = &tasks[task_count++];
    uint16_t label = NAMED;

    *task = (struct task){
        .id = create(PROF_TRACE_TASK, SITE + random_below(SITES))};
    run(task->id);
    if (task->id == 1)
        put(PROF_EVENT_LABEL, PROF_EVENT_LABEL_WIDE, 1, &label, 2);
    go_on(task);
}

/* An interrupt resolves what a task waits for, and wakes it. */
static void interrupt(struct task *task)
{
    uint8_t vector = VECTOR;
    uint16_t why = REFUSED;
    struct prof_event_wake_wide wake;

    next_event();
    MADE_EVENT(&made, PROF_EVENT_IRQ_ENTER, vector);
    ++total.irqs;
    if (random_below(10) == 0) {
        put(PROF_EVENT_FAIL, PROF_EVENT_FAIL_WIDE, task->promise, &why, 2);
        ++total.failed;
    } else {
        PUT(RESOLVE, task->promise);
        ++total.resolved;
    }
    wake = (struct prof_event_wake_wide){task->id, task->promise};
    next_event();
    MADE_EVENT(&made, PROF_EVENT_WAKE_WIDE, wake);
    next_event();
    MADE_EVENT(&made, PROF_EVENT_IRQ_EXIT, vector);
    task->result = task->promise;
    task->promise = 0;
}

static void count(void)
{
    struct prof_event_counter counter = {QUEUE, (int16_t)task_count};

    next_event();
    MADE_EVENT(&made, PROF_EVENT_COUNTER, counter);
    ++total.counters;
}

static void collect(void)
{
    struct prof_event_pause pause = {COLLECTED, 4};

    next_event();
    MADE_EVENT(&made, PROF_EVENT_PAUSE, pause);
}

/* Something that no program does; the loop runs. */
static bool put_wrong(const char *what)
{
    uint32_t promise = create(PROF_TRACE_PROMISE, SITE);
    uint32_t other = create(PROF_TRACE_TASK, SITE);
    uint16_t name = 999;

    if (strcmp(what, "created_twice") == 0) {
        --last_id;
        create(PROF_TRACE_TASK, SITE);
    } else if (strcmp(what, "never_created") == 0) {
        PUT(READ, promise + 1000);
    } else if (strcmp(what, "ended_twice") == 0) {
        PUT(RESOLVE, promise);
        PUT(RESOLVE, promise);
    } else if (strcmp(what, "read_early") == 0) {
        PUT(READ, promise);
    } else if (strcmp(what, "runs_ended") == 0) {
        PUT(CANCEL, other);
        run(other);
        run(0);
    } else if (strcmp(what, "not_nested") == 0) {
        run(promise);
        run(other);
        run(0);
    } else if (strcmp(what, "no_name") == 0) {
        put(PROF_EVENT_LABEL, PROF_EVENT_LABEL_WIDE, other, &name, 2);
    } else {
        return strcmp(what, "nothing") == 0;
    }
    return true;
}

/* The packets that are due, by the network's callback. */
static void exchange(unsigned peer)
{
    static uint32_t network, next = OFFSET / PERIOD + 1;

    if (network == 0)
        network = create(PROF_TRACE_CALLBACK, SITE);
    for (;; ++next) {
        bool sends = next % 2 == peer;
        uint64_t due = (uint64_t)next * PERIOD + (sends ? 0 : DELAY);

        if (peer == 1)
            due = (due - OFFSET) + (due - OFFSET) / GAIN;
        if (made.time < due)
            return;
        run(network);
        next_event();
        if (sends)
            MADE_EVENT(&made, PROF_EVENT_SEND, next);
        else
            MADE_EVENT(&made, PROF_EVENT_RECEIVE, next);
        run(0);
    }
}

static void step(void)
{
    struct task *task = &tasks[random_below(task_count + 1)];
    unsigned choice = random_below(100);

    if (choice == 0)
        count();
    else if (choice == 1)
        collect();
    else if (choice == 2)
        suspend(); /* the loop is idle */
    else if (task == &tasks[task_count] && task_count < ALIVE)
        start_task();
    else if (task == &tasks[task_count])
        count();
    else if (task->promise != 0)
        interrupt(task);
    else {
        run(task->id);
        PUT(READ, task->result);
        go_on(task);
    }
}

static void make_until(uint64_t events, const char *peer)
{
    while (total.events < events) {
        step();
        if (peer != NULL)
            exchange((unsigned)atoi(peer));
    }
}

int main(int argc, char **argv)
{
    uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    const char *wrong = argc > 3 ? argv[3] : "nothing";

    if (argc < 3)
        return 2;
    make_tree((unsigned)atoi(argv[2]), NULL);
    made_hello(&made, 64);
    made_start(&made, 1000000, 64);
    put_names();
    for (uint32_t i = 1; i <= NODES; ++i)
        made_node(&made, i, parents[i], node_addresses[i]);
    put_stacks();
    run(0);
    make_until(events / 2, argc > 4 ? argv[4] : NULL);
    if (!put_wrong(wrong))
        return 2;
    make_until(events, argc > 4 ? argv[4] : NULL);
    made_flush(&made);
    fwrite(made.bytes, 1, made.count, stdout);
    fprintf(stderr,
            "{\"events\": %llu, \"objects\": %u, \"runs\": %llu, "
            "\"waits\": %llu, \"resolved\": %llu, \"failed\": %llu, "
            "\"irqs\": %llu, \"counters\": %llu}\n",
            (unsigned long long)total.events, last_id,
            (unsigned long long)total.runs, (unsigned long long)total.waits,
            (unsigned long long)total.resolved,
            (unsigned long long)total.failed, (unsigned long long)total.irqs,
            (unsigned long long)total.counters);
    return 0;
}
