/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: what epoll says, RAM and files that it knows nothing of, and what
 * is due by the clock. */

#include "collect/parts.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 256
#define WAIT_MS 100
#define RAM_WAIT_MS 5
#define FILES_KEPT 80u
#define FILES_KEPT_SHARD 8u
#define END_SECONDS 15 /* without progress: above the pause of retries */

int64_t now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int64_t steady_ms(void)
{
    return (int64_t)(seconds_now() * 1000);
}

/* Files that connections leave: for the spool, the state, packets that are
 * kept, images and the pages' readers; and for each server of the store a
 * connection, its name's look-up and a batch. At most half of all. */
static uint64_t kept_files(const struct collector_options *options,
                           uint64_t limit)
{
    uint64_t kept = FILES_KEPT;

    if (options->store != NULL)
        kept += FILES_KEPT_SHARD * store_shards(options->store);
    return kept < limit / 2 ? kept : limit / 2;
}

/* The number that the next file has is the lowest that is free. */
bool files_remain(const struct collector *collector)
{
    int next = fcntl(collector->wake, F_DUPFD_CLOEXEC, 0);
    struct rlimit limit;
    uint64_t kept;

    if (next < 0)
        return false;
    close(next);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    kept = kept_files(&collector->options, limit.rlim_cur);
    if ((uint64_t)next < limit.rlim_cur - kept)
        return true;
    errno = EMFILE;
    return false;
}

/* As many files as may be: each guest and reader has one. */
static void raise_files(const struct collector_options *options)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur -= kept_files(options, limit.rlim_cur);
    if (limit.rlim_cur < options->guests)
        log_info("only %llu files can be open, fewer than --guests",
                 (unsigned long long)limit.rlim_cur);
}

struct collector *collector_open(const struct collector_options *options)
{
    struct collector *collector = xreallocarray(NULL, 1, sizeof *collector);

    *collector = (struct collector){.options = *options};
    if (collector->options.bucket_seconds == 0)
        collector->options.bucket_seconds = STORE_BUCKET_SECONDS;
    if (options->host != NULL)
        snprintf(collector->host, sizeof collector->host, "%s", options->host);
    else if (gethostname(collector->host, sizeof collector->host - 1) != 0)
        strcpy(collector->host, "localhost");
    if (options->images != NULL)
        builds_give(&collector->builds, options->images);
    collector->batches.store = options->store;
    pthread_mutex_init(&collector->lock, NULL);
    signal(SIGPIPE, SIG_IGN); /* one guest or reader that went is no end */
    collector->epoll = epoll_create1(EPOLL_CLOEXEC);
    collector->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (collector->epoll < 0 || collector->wake < 0)
        die("epoll: %s", strerror(errno));
    raise_files(options);
    guests_open(collector);
    state_read(collector);
    lines_open(collector);
    return collector;
}

static void take_events(struct collector *collector,
                        const struct epoll_event *events, int count)
{
    for (int i = 0; i < count; ++i) {
        struct handle *handle = events[i].data.ptr;
        uint64_t number;

        if (handle == NULL)
            (void)!read(collector->wake, &number, sizeof number);
        else if (handle->kind == HANDLE_READER)
            readers_event(collector, (struct reader *)(void *)handle,
                          events[i].events);
        else
            lines_event(collector, handle, events[i].events);
    }
}

/* What is due each second, and after a bucket. */
static void tick(struct collector *collector)
{
    int64_t now = now_ms(), steady = steady_ms();

    lines_tick(collector, steady);
    if (collector->ticked == now / 1000)
        return;
    collector->ticked = now / 1000;
    guests_tick(collector, now);
    for (size_t i = 0; i < collector->guest_count; ++i)
        raw_flush(collector, collector->guests[i]);
    orders_tick(collector, steady / 1000);
    captures_tick(collector, now / 1000);
    collector->state_due = collector->state_due || collector->state_new;
    if (steady / 1000 >= collector->pruned + STORE_BUCKET_SECONDS) {
        collector->pruned = steady / 1000;
        raw_prune(collector, now / 1000);
    }
}

/* Which rows were lost is not known here: guests and stacks, without which
 * samples say little, are sent again. */
static void notice_losses(struct collector *collector)
{
    struct store_state state;

    store_state(collector->options.store, &state);
    if (state.lost_batches == collector->lost_batches)
        return;
    collector->lost_batches = state.lost_batches;
    builds_send_again(&collector->builds);
    for (size_t i = 0; i < collector->guest_count; ++i)
        collector->guests[i]->sent = false;
}

/* Buckets that were closed go out together: of a thousand guests they are a
 * few batches. */
static void send_closed(struct collector *collector)
{
    if (!collector->state_due)
        return;
    if (collector->options.store != NULL) {
        store_batches_send(&collector->batches);
        notice_losses(collector);
    }
    if (collector->options.rows != NULL)
        fflush(collector->options.rows);
    state_write(collector);
}

/* What is not sent now is only later in the store, so one that does not answer
 * is not waited for. */
static void wait_store(struct store *store)
{
    struct store_state state;

    if (store_flush(store, END_SECONDS))
        return;
    store_state(store, &state);
    log_info("the store has not taken all: %llu batches, %.1f MB, are in the "
             "spool for the next run%s%s",
             (unsigned long long)state.spool_batches,
             (double)state.spool_bytes / 1e6,
             state.problem[0] != '\0' ? ": " : "", state.problem);
}

void collector_run(struct collector *collector)
{
    struct epoll_event wake = {.events = EPOLLIN};
    struct epoll_event events[EVENTS];
    bool any = false;

    epoll_ctl(collector->epoll, EPOLL_CTL_ADD, collector->wake, &wake);
    while (!signals_caught() && lines_remain(collector)) {
        int count = epoll_wait(collector->epoll, events, EVENTS,
                               any ? RAM_WAIT_MS : WAIT_MS);

        pthread_mutex_lock(&collector->lock);
        take_events(collector, events, count);
        any = lines_poll(collector);
        tick(collector);
        send_closed(collector);
        lines_sweep(collector);
        readers_sweep(collector);
        pthread_mutex_unlock(&collector->lock);
    }
    pthread_mutex_lock(&collector->lock);
    captures_end(collector);
    guests_close_all(collector);
    send_closed(collector);
    pthread_mutex_unlock(&collector->lock);
    if (collector->options.store != NULL)
        wait_store(collector->options.store);
}

void collector_close(struct collector *collector)
{
    readers_close(collector);
    lines_close(collector);
    guests_free(collector);
    builds_free(&collector->builds);
    store_batches_free(&collector->batches);
    close(collector->epoll);
    close(collector->wake);
    free(collector->captures);
    free(collector->kept);
    free(collector);
}
