/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls and futures whose times are known. Time passes by instructions, so what
 * the statistics say is compared with what the program has done. do=crowd: more
 * tasks at a time than there is room for.
 */

#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/word.h"

#include <kernel/disk.h>
#include <kernel/service.h>
#include <kernel/sync.h>
#include <kernel/task.h>
#include <prof/loop_stats.h>
#include <string.h>

#define US (GUEST_MS / 1000)
#define WORKERS 10u
#define RUNS 3u
#define SLEEP_MS 2u
#define CROWD 12u

/* ---- what is known of a site */

static const char *wanted;
static struct prof_loop_row found;

static void on_row(const struct prof_loop_row *row, void *unused)
{
    (void)unused;
    if (strcmp(row->site->text, wanted) == 0)
        found = *row;
}

static const struct prof_loop_row *row_of(const char *name)
{
    wanted = name;
    found = (struct prof_loop_row){0};
    prof_loop_visit(on_row, NULL);
    return &found;
}

/* Whether it is (us), and what the runtime takes besides. */
static bool takes(const char *what, uint64_t cycles, uint64_t us)
{
    bool good = cycles >= us * US && cycles <= us * US + us * US / 50 + 60 * US;

    if (!good)
        tap_note("%s: %llu us instead of %llu", what,
                 (unsigned long long)(cycles / US), (unsigned long long)us);
    return good;
}

/* What the program itself has measured, and the same by the statistics, which
 * begin a little later and end a little earlier. */
static uint64_t slept, locked, received;

static bool is_within(const char *what, uint64_t cycles, uint64_t measured)
{
    bool good = cycles <= measured && cycles + 60 * US >= measured;

    if (!good)
        tap_note("%s: %llu us instead of %llu", what,
                 (unsigned long long)(cycles / US),
                 (unsigned long long)(measured / US));
    return good;
}

static uint64_t await(struct promise *promise, uint64_t since)
{
    task_await(promise);
    return arch_tsc() - since;
}

static uint64_t mean(const struct prof_loop_row *row,
                     enum prof_loop_measure measure)
{
    const struct prof_loop_sum *sum = &row->sums[measure];

    return sum->count == 0 ? 0 : sum->cycles / sum->count;
}

static bool has_quantile(const struct prof_loop_row *row,
                         enum prof_loop_measure measure, uint32_t permille,
                         uint64_t us)
{
    return takes(
        "quantile",
        prof_loop_quantile(row->number, measure, permille) + US * us / 50, us);
}

/* ---- calls: worker (n) runs for n * 100 us, three times; one other task has a
 * longer run than all of them, and a shorter life than the last one */

static uintptr_t worker(void *number)
{
    for (unsigned i = 0; i < RUNS; i++) {
        guest_spin((uintptr_t)number * 100 * US);
        if (i + 1 < RUNS)
            task_await(promise_sleep(SLEEP_MS * NS_PER_MS));
    }
    return 0;
}

static uintptr_t burst(void *unused)
{
    (void)unused;
    guest_spin(2000 * US);
    return 0;
}

/* Its child runs in its first run, and after its end. */
static uintptr_t child(void *unused)
{
    (void)unused;
    guest_spin(500 * US);
    slept = arch_tsc();
    slept = await(promise_sleep(20 * NS_PER_MS), slept);
    guest_spin(300 * US);
    return 0;
}

static uintptr_t parent(void *promise)
{
    guest_spin(100 * US);
    *(struct promise **)promise = task_start("child", child, NULL);
    guest_spin(100 * US);
    return 0;
}

/* A bind, whose function is a call of its own, and which is gone then. */
static struct promise *then(void *unused, uintptr_t value)
{
    (void)unused;
    guest_spin(400 * US);
    return promise_of(value);
}

static void make_calls(void)
{
    struct promise *all[WORKERS], *late = NULL;

    for (uintptr_t i = 0; i < WORKERS; i++)
        all[i] = task_start("worker", worker, (void *)(i + 1));
    task_await(promise_join(all, WORKERS, NULL));
    task_await(task_start("burst", burst, NULL));
    task_await(task_start("parent", parent, &late));
    task_await(late);
    task_await(promise_bind(promise_sleep(SLEEP_MS * NS_PER_MS), then, NULL));
}

static void test_calls(void)
{
    const struct prof_loop_row *row = row_of("worker");
    uint64_t burst_longest;

    tap_is_equal((long long)row->sums[PROF_LOOP_SELF].count, WORKERS,
                 "each call that has ended is counted");
    tap_ok(row->sums[PROF_LOOP_SELF].cycles == row->self_cycles,
           "own times of calls are that of the site, to the cycle");
    tap_ok(takes("mean", mean(row, PROF_LOOP_SELF), RUNS * 550),
           "the mean is known");
    tap_ok(has_quantile(row, PROF_LOOP_SELF, 500, RUNS * 500) &&
               has_quantile(row, PROF_LOOP_SELF, 900, RUNS * 900),
           "so are percentiles");
    tap_ok(takes("longest", row->call_longest_cycles, RUNS * 1000) &&
               takes("its run", row->longest_cycles, 1000),
           "the longest call has three runs, of which none is long");
    tap_ok(row->call_longest_object == row->longest_object &&
               row->call_longest_object != 0,
           "it is named");
    burst_longest = row_of("burst")->call_longest_cycles;
    tap_ok(takes("burst", burst_longest, 2000) &&
               row_of("burst")->longest_cycles == burst_longest,
           "a call in one run is that run");
    tap_ok(takes("parent", row_of("parent")->call_longest_cycles, 200) &&
               takes("child", row_of("child")->call_longest_cycles, 800),
           "a child's time is not its parent's, in whose run it begins");
    tap_ok(takes("bind", row_of("bind")->call_longest_cycles, 400),
           "a task may end in its callback");
}

/* ---- futures */

static struct mutex mutex;
static struct mailbox mailbox = {.capacity = 1};

static uintptr_t holder(void *unused)
{
    (void)unused;
    task_await(mutex_lock(&mutex));
    task_await(promise_sleep(7 * NS_PER_MS));
    mutex_unlock(&mutex);
    return 0;
}

static uintptr_t receiver(void *unused)
{
    (void)unused;
    received = arch_tsc();
    received = await(mailbox_receive(&mailbox), received);
    return 0;
}

static uintptr_t sender(void *unused)
{
    (void)unused;
    task_await(promise_sleep(9 * NS_PER_MS));
    task_await(mailbox_send(&mailbox, 1));
    return 0;
}

#define BYTES 4096u
static uint8_t memory[BYTES] __attribute__((aligned(4096)));

static void give_up(struct promise *promise)
{
    promise_cancel(promise);
    (void)promise_result(promise);
    promise_free(promise);
}

static void make_futures(void)
{
    struct promise *all[3], *given_up;

    all[0] = task_start("holder", holder, NULL);
    all[1] = task_start("receiver", receiver, NULL);
    all[2] = task_start("sender", sender, NULL);
    locked = arch_tsc();
    locked = await(mutex_lock(&mutex), locked);
    task_await(promise_join(all, 3, NULL));
    given_up = promise_sleep(NS_PER_S);
    task_await(promise_sleep(3 * NS_PER_MS));
    give_up(given_up);
    if (disk_start())
        for (unsigned i = 0; i < 5; i++)
            task_await(disk_read(i * (BYTES / DISK_SECTOR), memory, BYTES));
}

static bool is_future(const struct prof_loop_row *row, uint64_t made)
{
    if (row->kind == PROF_LOOP_FUTURES && row->self_cycles == 0 &&
        row->calls == made)
        return true;
    tap_note("%s: kind %u, %llu made", wanted, (unsigned)row->kind,
             (unsigned long long)row->calls);
    return false;
}

/* Rows are by the place in the source: several are called "sleep". */
static uint64_t sleeps, sleeps_cancelled, sleeps_longest;

static void add_sleeps(const struct prof_loop_row *row, void *unused)
{
    (void)unused;
    if (strcmp(row->site->text, "sleep") != 0)
        return;
    sleeps += row->calls;
    sleeps_cancelled += row->cancelled;
    if (row->cancelled == 0 && row->call_longest_cycles > sleeps_longest)
        sleeps_longest = row->call_longest_cycles;
}

static void test_futures(void)
{
    const struct prof_loop_row *row;

    prof_loop_visit(add_sleeps, NULL);
    tap_ok(sleeps == WORKERS * (RUNS - 1) + 6 && sleeps_cancelled == 1,
           "each sleep is counted, and the one that is cancelled");
    tap_ok(is_within("sleep", sleeps_longest, slept),
           "how long one is, is known");
    row = row_of("mutex");
    tap_ok(is_future(row, 1) && locked >= 6900 * US &&
               is_within("mutex", row->call_longest_cycles, locked),
           "a mutex is waited for until it is unlocked");
    row = row_of("receive");
    tap_ok(is_future(row, 1) &&
               is_within("receive", row->call_longest_cycles, received) &&
               received >= 9000 * US &&
               mean(row, PROF_LOOP_WALL) == row->call_longest_cycles,
           "a mailbox until something is sent");
    row = row_of("send");
    tap_ok(is_future(row, 1) && takes("send", row->call_longest_cycles, 0),
           "there is room at once for what is sent");
    row = row_of("disk read");
    tap_ok(is_future(row, 5) && row->resolved == 5 &&
               mean(row, PROF_LOOP_WALL) >= 1000 * US &&
               row->sums[PROF_LOOP_WALL].cycles >= 5 * 1000 * US,
           "requests to the disk take as long as the disk");
}

static void test_pending(void)
{
    static PROF_TRACE_SITE(site, "never");
    uint64_t since = arch_tsc();
    struct promise *never = mailbox_receive_at(&site, &mailbox);
    const struct prof_loop_row *row = &found;

    task_await(promise_sleep(4 * NS_PER_MS));
    wanted = "never";
    since = arch_tsc() - since;
    prof_loop_visit(on_row, NULL);
    tap_ok(row->pending == 1 && row->oldest_cycles + 60 * US >= since &&
               row->oldest_cycles < since + 500 * US,
           "one that never comes is pending, with its age");
    prof_loop_reset();
    give_up(never);
    row = row_of("worker");
    tap_ok(row->sums[PROF_LOOP_SELF].count == 0 &&
               row->call_longest_cycles == 0,
           "a reset forgets them");
}

/* ---- more than there is room for */

static uintptr_t waits(void *promise)
{
    task_await(promise_sleep(NS_PER_MS));
    return (uintptr_t)promise;
}

static int crowd(void)
{
    struct promise *all[CROWD];
    struct prof_loop_account account;
    const struct prof_loop_row *row;

    for (unsigned i = 0; i < CROWD; i++)
        all[i] = task_start("crowd", waits, NULL);
    task_await(promise_join(all, CROWD, NULL));
    prof_loop_account(&account);
    row = row_of("crowd");
    console_line("crowd: %llu of %llu, refused %llu",
                 (unsigned long long)row->sums[PROF_LOOP_SELF].count,
                 (unsigned long long)row->calls,
                 (unsigned long long)account.calls_refused);
    return 0;
}

int service_main(void)
{
    struct prof_loop_account account;

    if (guest_is("crowd"))
        return crowd();
    tap_plan(18);
    make_calls();
    make_futures();
    test_calls();
    test_futures();
    prof_loop_account(&account);
    tap_is_equal((long long)account.calls_refused, 0, "nothing is refused");
    prof_loop_report(40);
    test_pending();
    return tap_end();
}
