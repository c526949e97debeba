/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_DISK_H
#define KERNEL_DISK_H

/*
 * The first virtio disk, with promises: any number of reads and writes at a
 * time, of any size. Those larger than the device is to be asked for at once
 * are split into requests.
 *
 * (memory) MUST exist until the promise is completed, and MUST NOT be on the
 * stack of a task. To cancel takes until the device has done what it has begun.
 * Contexts: thread.
 */

#include <kernel/promise.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DISK_SECTOR 512u

/* Starts the disk. False after printing the reason. Once it has returned true,
 * later calls do nothing. */
bool disk_start(void);

uint64_t disk_sectors(void);
bool disk_read_only(void);

/* Bytes of a request at most, a multiple of DISK_SECTOR up to this. */
#define DISK_REQUEST_MAX (1u << 20)

/*
 * Splits what begins from now on into requests of at most (request_bytes), of
 * which at most (in_flight) are with the device at a time, 1 to
 * DISK_IN_FLIGHT_MAX; 1 is one after the other. By default DISK_REQUEST_MAX and
 * DISK_IN_FLIGHT_MAX. False: no such limits.
 */
#define DISK_IN_FLIGHT_MAX 16u
bool disk_limit(size_t request_bytes, unsigned in_flight);

/*
 * What causal experiments (<prof/causal.h>) take the disk for: a queue with
 * (servers), 1 to 8; 0, the default: it does all requests at once. Not while
 * experiments are running. False: no such number. Option disk.servers=.
 */
bool disk_servers(unsigned servers);

/* Reads or writes (bytes), whole sectors, from (sector) on. Resolves with
 * (bytes). */
#define disk_read(sector, memory, bytes)                                       \
    disk_read_at(PROMISE_HERE("disk read"), sector, memory, bytes)
#define disk_write(sector, memory, bytes)                                      \
    disk_write_at(PROMISE_HERE("disk write"), sector, memory, bytes)
struct promise *disk_read_at(struct prof_trace_name *site, uint64_t sector,
                             void *memory, size_t bytes);
struct promise *disk_write_at(struct prof_trace_name *site, uint64_t sector,
                              const void *memory, size_t bytes);

/* Makes writes durable that were resolved before. */
#define disk_flush() disk_flush_at(PROMISE_HERE("disk flush"))
struct promise *disk_flush_at(struct prof_trace_name *site);

struct disk_stats {
    uint64_t requests;  /* to the device, completed */
    uint64_t transfers; /* reads, writes and flushes begun */
    uint64_t full;      /* times that the device's queue was full */
    uint32_t in_flight; /* requests now */
    uint32_t most;      /* requests in flight at a time, so far */
};
struct disk_stats disk_stats(void);

#ifdef __cplusplus
}
#endif

#endif
