/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The disk of a process: a file. Requests are done by a thread that has no part
 * in anything else, so that the event loop goes on meanwhile, as beside a
 * device.
 */

#include "idle.h"
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <virtio_blk.h>

#define SLOTS 64u /* requests in flight */

/* Requests in the order of submission; positions only grow. (submitted) is the
 * loop's, (served) the thread's, (taken) the loop's. */
static struct virtio_blk_request *ring[SLOTS];
static atomic_uint submitted, served;
static unsigned taken;

static int file = -1, work = -1, answers = -1; /* the last two: eventfd() */
static uint64_t sectors;
static bool read_only;
static struct virtio_queue queue; /* only its address means something */

static int transfer(const struct virtio_blk_request *request)
{
    off_t at = (off_t)(request->sector * VIRTIO_BLK_SECTOR);
    char *memory = request->memory;
    size_t left = request->bytes;

    if (request->kind == VIRTIO_BLK_FLUSH)
        return fdatasync(file) == 0 ? 0 : VIRTIO_BLK_FAILED;
    while (left != 0) {
        ssize_t done = request->kind == VIRTIO_BLK_READ
                           ? pread(file, memory, left, at)
                           : pwrite(file, memory, left, at);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return VIRTIO_BLK_FAILED;
        memory += done;
        at += done;
        left -= (size_t)done;
    }
    return 0;
}

static void signal_file(int event)
{
    const uint64_t one = 1;

    if (write(event, &one, sizeof one) != sizeof one)
        abort();
}

static void *serve(void *unused)
{
    uint64_t count;

    (void)unused;
    for (;;) {
        unsigned next = atomic_load(&served);

        if (next == atomic_load(&submitted)) {
            if (read(work, &count, sizeof count) < 0 && errno != EINTR)
                abort();
            continue;
        }
        ring[next % SLOTS]->error = transfer(ring[next % SLOTS]);
        atomic_store(&served, next + 1);
        signal_file(answers);
    }
}

static int start_thread(void)
{
    /* by edges: the loop may have taken an answer before it is announced */
    struct epoll_event wanted = {.events = EPOLLIN | EPOLLET};
    sigset_t all, before;
    pthread_t thread;
    int error;

    work = eventfd(0, EFD_CLOEXEC);
    answers = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (work < 0 || answers < 0 ||
        epoll_ctl(hosted_files(), EPOLL_CTL_ADD, answers, &wanted) != 0)
        return VIRTIO_BLK_MEMORY;
    sigfillset(&all); /* samples are of the event loop's thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0 ? 0 : VIRTIO_BLK_MEMORY;
}

static int open_disk(void)
{
    struct stat status;

    if (hosted_disk() == NULL)
        return VIRTIO_BLK_NONE;
    file = open(hosted_disk(), O_RDWR | O_CLOEXEC);
    if (file < 0) {
        read_only = true;
        file = open(hosted_disk(), O_RDONLY | O_CLOEXEC);
    }
    if (file < 0 || fstat(file, &status) != 0)
        return VIRTIO_BLK_NONE;
    sectors = (uint64_t)status.st_size / VIRTIO_BLK_SECTOR;
    return start_thread();
}

int virtio_blk_start(void *(*allocate)(size_t bytes))
{
    static bool started;
    int error = started ? 0 : open_disk();

    (void)allocate;
    started = error == 0;
    if (!started && file >= 0)
        close(file);
    if (!started)
        file = -1;
    return error;
}

uint64_t virtio_blk_sectors(void)
{
    return sectors;
}

bool virtio_blk_read_only(void)
{
    return read_only;
}

static bool in_range(const struct virtio_blk_request *request)
{
    uint64_t count = request->bytes / VIRTIO_BLK_SECTOR;

    return request->bytes % VIRTIO_BLK_SECTOR == 0 &&
           request->bytes <= VIRTIO_BLK_BYTES_MAX &&
           request->sector <= sectors && count <= sectors - request->sector;
}

int virtio_blk_submit(struct virtio_blk_request *request)
{
    unsigned next = atomic_load(&submitted);

    if (!in_range(request))
        return VIRTIO_BLK_RANGE;
    if (request->kind == VIRTIO_BLK_WRITE && read_only)
        return VIRTIO_BLK_READ_ONLY;
    if (next - taken == SLOTS)
        return VIRTIO_BLK_BUSY;
    ring[next % SLOTS] = request;
    atomic_store(&submitted, next + 1);
    signal_file(work);
    return 0;
}

unsigned virtio_blk_poll(void)
{
    uint64_t count;

    (void)!read(answers, &count, sizeof count);
    while (taken != atomic_load(&served)) {
        struct virtio_blk_request *request = ring[taken++ % SLOTS];

        request->done(request);
    }
    return atomic_load(&submitted) - taken;
}

struct virtio_queue *virtio_blk_queue(void)
{
    return &queue;
}

/* (wanted): before the loop waits. Whether something is done already. */
bool virtio_interrupts(struct virtio_queue *of, bool wanted)
{
    (void)of;
    return wanted && taken != atomic_load(&served);
}
