/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Responses that other CPUs prepare. This one has the network: it reads
 * requests and sends responses. Each request goes to the CPU with the fewest
 * pending; a promise says that its response is prepared.
 */

#include "connection.h"

#include <kernel/cpu.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void respond(struct http_client *client, const struct http_page *page)
{
    if (page->body == NULL)
        http_refuse(client, page->status, "");
    else
        http_send(client, page->status, page->type, "", page->body, page->count,
                  page->owned);
}

static void prepare_here(struct http_client *client,
                         const struct http_request *request,
                         http_prepare *prepare)
{
    struct http_page page = {.status = 500};

    prepare(request->path, &page);
    respond(client, &page);
}

#if CPU_MAX > 1

static unsigned pending[CPU_MAX];    /* requests, of each CPU */
static uint64_t dispatched[CPU_MAX]; /* since boot */
static unsigned last;                /* who was asked last */

struct job {
    struct promise_watch watch;
    struct http_client *client; /* NULL: it has gone away */
    unsigned cpu;
    http_prepare *prepare;
    struct http_page page; /* written by the CPU */
    char path[];
};

/* On the CPU that was asked. */
static uintptr_t prepare_page(void *context)
{
    struct job *job = context;

    job->prepare(job->path, &job->page);
    return 0;
}

static void on_prepared(struct promise_watch *watch)
{
    struct job *job =
        (struct job *)((char *)watch - offsetof(struct job, watch));
    struct http_client *client = job->client;
    const struct http_page page = job->page;

    promise_free(watch->promise);
    pending[job->cpu]--;
    free(job);
    if (client != NULL)
        respond(client, &page);
    else
        free(page.owned);
}

static void on_client_gone(void *context)
{
    struct job *job = context;

    job->client = NULL;
}

/* Of those with the fewest requests the next one in turn. */
static unsigned choose(void)
{
    const unsigned others = cpu_count() - 1;
    unsigned best = 0;

    for (unsigned i = 0; i < others; i++) {
        const unsigned cpu = 1 + (last + i) % others;

        if (best == 0 || pending[cpu] < pending[best])
            best = cpu;
    }
    return best;
}

static bool ask(struct http_client *client, const struct http_request *request,
                http_prepare *prepare)
{
    const size_t bytes = strlen(request->path) + 1;
    struct job *job = calloc(1, sizeof *job + bytes);
    struct promise *promise;

    if (job == NULL)
        return false;
    memcpy(job->path, request->path, bytes);
    job->client = client;
    job->cpu = choose();
    job->prepare = prepare;
    job->page.status = 500;
    job->watch.completed = on_prepared;
    promise = cpu_async(job->cpu, prepare_page, job);
    if (promise == NULL) {
        free(job);
        return false;
    }
    last = job->cpu;
    pending[job->cpu]++;
    dispatched[job->cpu]++;
    http_defer(client, on_client_gone, job);
    promise_watch(promise, &job->watch);
    return true;
}

void http_send_prepared(struct http_client *client,
                        const struct http_request *request,
                        http_prepare *prepare)
{
    if (cpu_count() == 1 || !ask(client, request, prepare))
        prepare_here(client, request, prepare);
}

uint64_t http_dispatched_to(unsigned cpu)
{
    return cpu < CPU_MAX ? dispatched[cpu] : 0;
}

#else

void http_send_prepared(struct http_client *client,
                        const struct http_request *request,
                        http_prepare *prepare)
{
    prepare_here(client, request, prepare);
}

uint64_t http_dispatched_to(unsigned cpu)
{
    (void)cpu;
    return 0;
}

#endif
