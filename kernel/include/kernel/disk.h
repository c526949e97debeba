/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_DISK_H
#define KERNEL_DISK_H

/*
 * Asynchronous access to the first virtio disk, with promises: any number of
 * reads and writes at a time, of any size. Large ones are split into requests.
 *
 * (memory) MUST exist until the promise is completed, and MUST NOT be on the
 * stack of a task. A cancelled promise is completed when the device has
 * finished the requests in flight. Contexts: thread.
 */

#include <kernel/promise.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DISK_SECTOR 512u

/* Starts the disk. Returns false after printing the reason. Once it has
 * returned true, later calls have no effect and return true. */
bool disk_start(void);

/* Return the size of the disk in sectors, and whether it is read-only. */
uint64_t disk_sectors(void);
bool disk_read_only(void);

/* Largest request in bytes. */
#define DISK_REQUEST_MAX (1u << 20)

/*
 * Limits requests that begin from now on to (request_bytes) bytes, a multiple
 * of DISK_SECTOR up to DISK_REQUEST_MAX, and to (in_flight) at a time, 1 to
 * DISK_IN_FLIGHT_MAX. The maxima are the defaults. Returns false if a limit is
 * out of range.
 */
#define DISK_IN_FLIGHT_MAX 16u
bool disk_limit(size_t request_bytes, unsigned in_flight);

/*
 * Sets how causal experiments (<prof/causal.h>) model the disk: as a queue with
 * (servers), 1 to 8; or 0, the default, as a device that processes all requests
 * in parallel. Not to be called while experiments run. Returns false if
 * (servers) is out of range. Option disk.servers=.
 */
bool disk_servers(unsigned servers);

/* Read or write (bytes) bytes, a multiple of DISK_SECTOR, from (sector) on. The
 * promise resolves with (bytes). */
#define disk_read(sector, memory, bytes)                                       \
    disk_read_at(PROMISE_HERE("disk read"), sector, memory, bytes)
#define disk_write(sector, memory, bytes)                                      \
    disk_write_at(PROMISE_HERE("disk write"), sector, memory, bytes)
struct promise *disk_read_at(struct prof_trace_name *site, uint64_t sector,
                             void *memory, size_t bytes);
struct promise *disk_write_at(struct prof_trace_name *site, uint64_t sector,
                              const void *memory, size_t bytes);

/* Makes all writes durable whose promises were resolved before. */
#define disk_flush() disk_flush_at(PROMISE_HERE("disk flush"))
struct promise *disk_flush_at(struct prof_trace_name *site);

struct disk_stats {
    uint64_t requests;  /* requests completed by the device */
    uint64_t transfers; /* reads, writes and flushes begun */
    uint64_t full;      /* times that the device's queue was full */
    uint32_t in_flight; /* requests in flight now */
    uint32_t most;      /* most requests in flight at a time */
};
struct disk_stats disk_stats(void);

#ifdef __cplusplus
}
#endif

#endif
