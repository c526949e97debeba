/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers: what a call asks for. Each is split into parts, one request of the
 * device each, which are submitted in order, a few at a time; a part that has
 * been completed makes room for the next one. A transfer for which the device's
 * queue had no room waits until any request is completed.
 */

#include <kernel/disk.h>

#include "disk_device.h"
#include "internal.h"
#include "stacks.h"

#include <kernel/console.h>
#include <kernel/loop.h>
#include <prof/causal.h>
#include <virtio_blk.h>

#define PAGE_BYTES 4096

struct part {
    struct virtio_blk_request request; /* its user is the transfer */
    uint32_t trace;                    /* its number there */
    bool in_flight;
    struct disk_answer answer; /* in an experiment it may be held */
};

struct transfer {
    struct promise_link link; /* while it waits for room in the queue */
    struct promise *own;      /* produced here */
    enum virtio_blk_kind kind;
    uint64_t sector; /* of the next part */
    uint8_t *memory; /* the same */
    size_t left;     /* bytes not submitted; 1 for a flush */
    size_t bytes;    /* of all */
    size_t part_max;
    struct prof_trace_name *why; /* it fails */
    unsigned in_flight;
    unsigned slots;
    struct part parts[];
};

static size_t request_max = DISK_REQUEST_MAX;
static unsigned in_flight_max = DISK_IN_FLIGHT_MAX;
static struct promise_link waiting_for_room;
static struct disk_stats stats;
static bool started;

/* ---- errors */

static PROF_TRACE_NAME(not_started, "the disk is not started");
static PROF_TRACE_NAME(on_a_stack, "memory on the stack of a task");
static PROF_TRACE_NAME(range, "not whole sectors of the disk");
static PROF_TRACE_NAME(read_only, "the disk is read-only");
static PROF_TRACE_NAME(failed, "the disk reports an error");
static PROF_TRACE_NAME(unknown, "the disk cannot do this");

static struct prof_trace_name *reason(int error)
{
    switch (error) {
    case VIRTIO_BLK_RANGE:
        return &range;
    case VIRTIO_BLK_READ_ONLY:
        return &read_only;
    case VIRTIO_BLK_UNKNOWN:
        return &unknown;
    default:
        return &failed;
    }
}

/* ---- parts */

static void on_done(struct virtio_blk_request *request);

static struct part *free_part(struct transfer *transfer)
{
    for (unsigned i = 0; i < transfer->slots; i++)
        if (!transfer->parts[i].in_flight)
            return &transfer->parts[i];
    return NULL;
}

/* For the trace each request is an object, and there is a counter of what is
 * being transferred. */
static PROF_TRACE_NAME(pages_in_flight, "pages in flight");
static int64_t bytes_in_flight;

static void count_submitted(const struct transfer *transfer, struct part *part)
{
    static PROF_TRACE_SITE(site, "disk request");

    part->in_flight = true;
    stats.in_flight++;
    if (stats.in_flight > stats.most)
        stats.most = stats.in_flight;
    bytes_in_flight += part->request.bytes;
    part->trace = prof_trace_create(PROF_TRACE_IO, &site);
    prof_trace_await(transfer->own->trace, part->trace);
    prof_trace_counter(&pages_in_flight, bytes_in_flight / PAGE_BYTES);
}

static void count_done(struct part *part)
{
    part->in_flight = false;
    stats.in_flight--;
    stats.requests++;
    bytes_in_flight -= part->request.bytes;
    if (part->request.error == 0)
        prof_trace_resolve(part->trace);
    else
        prof_trace_fail(part->trace, reason(part->request.error));
    prof_trace_counter(&pages_in_flight, bytes_in_flight / PAGE_BYTES);
}

/* Submits the next part in (part). */
static int submit(struct transfer *transfer, struct part *part)
{
    const size_t bytes = transfer->left < transfer->part_max
                             ? transfer->left
                             : transfer->part_max;
    struct prof_moment doorbell;
    int error;

    part->request = (struct virtio_blk_request){
        .kind = transfer->kind,
        .sector = transfer->sector,
        .memory = transfer->memory,
        .bytes = transfer->kind == VIRTIO_BLK_FLUSH ? 0 : (uint32_t)bytes,
        .done = on_done,
        .user = transfer,
    };
    doorbell = prof_causal_now();
    error = virtio_blk_submit(&part->request);
    if (error != 0)
        return error;
    disk_submitted(&part->answer, doorbell);
    count_submitted(transfer, part);
    transfer->in_flight++;
    transfer->left -= bytes;
    transfer->sector += bytes / DISK_SECTOR;
    transfer->memory += bytes;
    return 0;
}

static bool needs_more(const struct transfer *transfer)
{
    return transfer->why == NULL && transfer->left != 0;
}

/* Submits what it may. False: there was no room in the queue. */
static bool advance(struct transfer *transfer)
{
    struct part *part;

    while (needs_more(transfer) && (part = free_part(transfer)) != NULL) {
        const int error = submit(transfer, part);

        if (error == VIRTIO_BLK_BUSY)
            return false;
        if (error != 0)
            transfer->why = reason(error);
    }
    return true;
}

static void complete_if_done(struct transfer *transfer)
{
    if (transfer->in_flight != 0 || needs_more(transfer))
        return;
    if (transfer->why != NULL)
        promise_fail_for(transfer->own, transfer->why);
    else
        promise_resolve(transfer->own, transfer->bytes);
    task_free(transfer);
}

static void go_on(struct transfer *transfer)
{
    if (!advance(transfer)) {
        stats.full++;
        list_remove(&transfer->link);
        list_add(&waiting_for_room, &transfer->link);
        return;
    }
    complete_if_done(transfer);
}

static void finish(void *context)
{
    struct part *part = context;
    struct virtio_blk_request *request = &part->request;
    struct transfer *transfer = request->user;

    count_done(part);
    transfer->in_flight--;
    if (request->error != 0 && transfer->why == NULL)
        transfer->why = reason(request->error);
    if (transfer->link.next == NULL || list_empty(&transfer->link))
        go_on(transfer);
}

static void on_done(struct virtio_blk_request *request)
{
    struct part *part = LIST_OWNER(request, struct part, request);

    disk_answered(&part->answer, finish, part);
}

/* ---- turns of the loop */

static bool has_completions(void)
{
    if (stats.in_flight == 0)
        return !list_empty(&waiting_for_room);
    return virtio_interrupts(virtio_blk_queue(), true);
}

static void take_completions(void)
{
    struct promise_link *link;

    if (stats.in_flight == 0 && list_empty(&waiting_for_room))
        return;
    (void)virtio_interrupts(virtio_blk_queue(), false);
    disk_poll();
    while ((link = list_take(&waiting_for_room)) != NULL) {
        struct transfer *transfer = LIST_OWNER(link, struct transfer, link);

        if (!advance(transfer)) {
            list_add(waiting_for_room.next, link);
            return;
        }
        complete_if_done(transfer);
    }
}

bool disk_start(void)
{
    static PROF_TRACE_SITE(site, "disk");
    static struct loop_source source = {.waiting = has_completions,
                                        .turn = take_completions,
                                        .site = &site,
                                        .device = VIRTIO_BLOCK};
    const char *why = started ? NULL : disk_device_start();

    if (why != NULL) {
        console_line("disk: not started: %s", why);
        return false;
    }
    if (!started) {
        list_init(&waiting_for_room);
        loop_add(&source);
    }
    started = true;
    return true;
}

/* ---- transfers */

/* What is held has arrived. */
static void finish_held(struct transfer *transfer)
{
    for (unsigned i = 0; i < transfer->slots; i++)
        if (transfer->parts[i].in_flight &&
            prof_causal_withdraw(&transfer->parts[i].answer.of_loop)) {
            finish(&transfer->parts[i]);
            return;
        }
}

/* The device may still read or write the memory: so this waits for it. The
 * promise has an owner, or nobody could cancel it, and so exists. */
static void on_cancel(struct promise *own, void *context)
{
    struct transfer *transfer = context;

    transfer->why = &promise_cancelled;
    list_remove(&transfer->link);
    complete_if_done(transfer);
    for (; (own->flags & PROMISE_PRODUCED) != 0; disk_poll())
        finish_held(transfer);
}

static struct transfer *new_transfer(struct prof_trace_name *site,
                                     unsigned slots)
{
    static const struct promise_producer producer = {
        .kind = PROF_TRACE_IO,
        .cancel = on_cancel,
    };
    struct transfer *transfer =
        task_alloc(sizeof *transfer + slots * sizeof transfer->parts[0]);

    if (transfer == NULL)
        return NULL;
    *transfer = (struct transfer){
        .own = promise_new_at(site, &producer, transfer),
        .slots = slots,
    };
    for (unsigned i = 0; i < slots; i++)
        transfer->parts[i] = (struct part){0};
    if (transfer->own != NULL)
        return transfer;
    task_free(transfer);
    return NULL;
}

static struct promise *begin_transfer(struct transfer *transfer)
{
    struct promise *own;

    if (transfer == NULL)
        return NULL;
    own = transfer->own;
    stats.transfers++;
    go_on(transfer);
    return own;
}

static struct prof_trace_name *wrong(const void *memory, size_t bytes)
{
    struct stack stack;

    if (!started)
        return &not_started;
    if (stack_find((uintptr_t)memory, &stack))
        return &on_a_stack;
    if (bytes == 0 || bytes % DISK_SECTOR != 0)
        return &range;
    return NULL;
}

static struct promise *transfer_of(struct prof_trace_name *site,
                                   enum virtio_blk_kind kind, uint64_t sector,
                                   void *memory, size_t bytes)
{
    struct prof_trace_name *why = wrong(memory, bytes);
    const size_t parts = (bytes + request_max - 1) / request_max;
    struct transfer *transfer;

    if (why != NULL)
        return promise_failed(why);
    transfer = new_transfer(site, parts < in_flight_max ? (unsigned)parts
                                                        : in_flight_max);
    if (transfer != NULL) {
        transfer->kind = kind;
        transfer->sector = sector;
        transfer->memory = memory;
        transfer->left = transfer->bytes = bytes;
        transfer->part_max = request_max;
    }
    return begin_transfer(transfer);
}

struct promise *disk_read_at(struct prof_trace_name *site, uint64_t sector,
                             void *memory, size_t bytes)
{
    return transfer_of(site, VIRTIO_BLK_READ, sector, memory, bytes);
}

struct promise *disk_write_at(struct prof_trace_name *site, uint64_t sector,
                              const void *memory, size_t bytes)
{
    return transfer_of(site, VIRTIO_BLK_WRITE, sector,
                       (void *)(uintptr_t)memory, bytes);
}

struct promise *disk_flush_at(struct prof_trace_name *site)
{
    struct transfer *transfer;

    if (!started)
        return promise_failed(&not_started);
    transfer = new_transfer(site, 1);
    if (transfer != NULL) {
        transfer->kind = VIRTIO_BLK_FLUSH;
        transfer->left = transfer->part_max = 1;
    }
    return begin_transfer(transfer);
}

/* ---- small calls */

bool disk_limit(size_t request_bytes, unsigned in_flight)
{
    if (request_bytes == 0 || request_bytes % DISK_SECTOR != 0 ||
        request_bytes > DISK_REQUEST_MAX || in_flight == 0 ||
        in_flight > DISK_IN_FLIGHT_MAX)
        return false;
    request_max = request_bytes;
    in_flight_max = in_flight;
    return true;
}

struct disk_stats disk_stats(void)
{
    return stats;
}
