/* SPDX-License-Identifier: Apache-2.0 */
#include "load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 256
#define WAIT_US_MAX 100000u /* so that a signal is noticed in time */
#define FILES_SPARE 16u     /* for other files than sessions' */

struct run {
    struct load *load;
    int epoll;
    uint64_t begin_us;
    uint64_t at_once;
    uint64_t at_once_max;
    uint64_t next_progress_us;
    uint64_t done_before;
    struct session *oldest; /* of the running ones */
    struct session *newest;
    struct session *spare;
};

static uint64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* Raises the limit of open files; returns how many sessions that allows. */
static uint64_t raise_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 256;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur > FILES_SPARE ? limit.rlim_cur - FILES_SPARE : 1;
}

static void list_add(struct run *run, struct session *session)
{
    session->later = NULL;
    session->earlier = run->newest;
    if (run->newest != NULL)
        run->newest->later = session;
    else
        run->oldest = session;
    run->newest = session;
}

static void list_remove(struct run *run, struct session *session)
{
    if (session->earlier != NULL)
        session->earlier->later = session->later;
    else
        run->oldest = session->later;
    if (session->later != NULL)
        session->later->earlier = session->earlier;
    else
        run->newest = session->earlier;
}

/* Counts a session that has ended, and keeps its memory for another one. */
static void finish(struct run *run, struct session *session)
{
    struct load *load = run->load;
    uint64_t end_us = now_us();

    if (session->state == SESSION_DONE) {
        load->done++;
        latency_add(&load->due, end_us - session->due_us);
        latency_add(&load->served, end_us - session->begin_us);
    } else {
        load->failed[session->failure]++;
    }
    load->spent_us = end_us - run->begin_us;
    list_remove(run, session);
    run->at_once--;
    session->later = run->spare;
    run->spare = session;
}

static struct session *new_session(struct run *run)
{
    struct session *session = run->spare;

    if (session == NULL)
        return malloc(sizeof *session);
    run->spare = session->later;
    return session;
}

static bool begin(struct run *run, uint64_t due_us)
{
    struct load *load = run->load;
    struct session *session = new_session(run);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET};

    if (session == NULL)
        return false;
    session->number = load->first + (uint32_t)load->begun;
    session->begin_us = now_us();
    session->due_us = due_us < session->begin_us ? due_us : session->begin_us;
    load->begun++;
    run->at_once++;
    if (run->at_once > load->most_at_once)
        load->most_at_once = run->at_once;
    list_add(run, session);
    session_begin(session, &load->servers[load->begun % load->server_count],
                  &load->plan);
    event.data.ptr = session;
    if (!session_over(session) &&
        epoll_ctl(run->epoll, EPOLL_CTL_ADD, session->socket, &event) != 0)
        session_fail(session, FAILURE_CONNECT);
    if (session_over(session))
        finish(run, session);
    return true;
}

static bool may_begin(const struct run *run, uint64_t us)
{
    const struct load *load = run->load;

    return (load->sessions == 0 || load->begun < load->sessions) &&
           (load->duration_us == 0 || us - run->begin_us < load->duration_us);
}

/* When the next session of an open load is due. */
static uint64_t next_due_us(const struct run *run)
{
    return run->begin_us +
           (uint64_t)((double)run->load->begun * 1e6 / run->load->rate);
}

/* Begins the sessions that are due. If files are short, a session of an open
 * load begins late, but counts from when it was due. */
static bool begin_due(struct run *run)
{
    uint64_t us = now_us();

    while (may_begin(run, us) && run->at_once < run->at_once_max) {
        uint64_t due_us = us;

        if (run->load->rate > 0) {
            due_us = next_due_us(run);
            if (due_us > us)
                break;
        } else if (run->at_once >= run->load->clients) {
            break;
        }
        if (!begin(run, due_us))
            return false;
    }
    return true;
}

static void give_up_late(struct run *run, uint64_t us)
{
    while (run->oldest != NULL &&
           us - run->oldest->begin_us > run->load->timeout_us) {
        session_fail(run->oldest, FAILURE_TIMEOUT);
        finish(run, run->oldest);
    }
}

static void show_progress(struct run *run, uint64_t us)
{
    if (!run->load->progress || us < run->next_progress_us)
        return;
    run->next_progress_us = us + 1000000u;
    fprintf(stderr, "\rloadgen: %llu sessions/s, %llu at once, %llu in all ",
            (unsigned long long)(run->load->done - run->done_before),
            (unsigned long long)run->at_once,
            (unsigned long long)run->load->done);
    run->done_before = run->load->done;
}

static int wait_ms(const struct run *run, uint64_t us)
{
    uint64_t wait_us = WAIT_US_MAX;

    if (run->load->rate > 0 && may_begin(run, us)) {
        uint64_t due_us = next_due_us(run);

        wait_us = due_us > us ? due_us - us : 0;
    }
    return (int)((wait_us < WAIT_US_MAX ? wait_us : WAIT_US_MAX) / 1000u);
}

static void step(struct run *run)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(run->epoll, events, EVENTS, wait_ms(run, now_us()));

    for (int i = 0; i < count; i++) {
        struct session *session = events[i].data.ptr;

        session_step(session, &run->load->plan);
        if (session_over(session))
            finish(run, session);
    }
}

static void forget(struct run *run)
{
    while (run->oldest != NULL) {
        session_fail(run->oldest, FAILURE_TIMEOUT);
        finish(run, run->oldest);
    }
    while (run->spare != NULL) {
        struct session *next = run->spare->later;

        free(run->spare);
        run->spare = next;
    }
    close(run->epoll);
}

int load_run(struct load *load, const volatile bool *stop)
{
    struct run run = {.load = load, .at_once_max = raise_files()};
    bool memory = true;

    run.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (run.epoll < 0)
        return -1;
    run.begin_us = now_us();
    run.next_progress_us = run.begin_us + 1000000u;
    do {
        uint64_t us;

        memory = begin_due(&run);
        step(&run);
        us = now_us();
        give_up_late(&run, us);
        show_progress(&run, us);
    } while (memory && !*stop &&
             (run.at_once > 0 || may_begin(&run, now_us())));
    if (load->progress)
        fputs("\r\033[K", stderr);
    forget(&run);
    if (!memory)
        errno = ENOMEM;
    return memory ? 0 : -1;
}
