/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets as they came, kept for a while: FOLDER/UUID/SECONDS.packets, a file
 * for each part of the time, which the commands read as a trace (so are several
 * after one another: cat). A part that begins while the guest runs has it send
 * its definitions again, if it takes commands. Captures have files of their own
 * (captures.c). All are their owner's alone, as the sockets are.
 */

#include "collect/parts.h"

#include "base/bytes.h"
#include "base/log.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOUR 3600
#define PARTS 6 /* that the time is kept in */
#define PART_SECONDS_MIN 10
#define PATH_BYTES 4096

static int64_t kept_seconds(const struct collector *collector)
{
    double seconds = collector->options.raw_seconds;

    return seconds > 0 ? (int64_t)seconds : HOUR;
}

static int64_t part_seconds(const struct collector *collector)
{
    int64_t seconds = kept_seconds(collector) / PARTS;

    return seconds > PART_SECONDS_MIN ? seconds : PART_SECONDS_MIN;
}

static void folder_of(const struct collector *collector,
                      const struct guest_boot *guest, char *path)
{
    char uuid[2 * UUID_BYTES + 1];

    bytes_hex(guest->uuid, UUID_BYTES, uuid);
    snprintf(path, PATH_BYTES, "%s/%s", collector->options.raw, uuid);
}

static void fail(struct collector *collector, const char *path)
{
    if (collector->counters.raw_failed++ == 0)
        log_error("%s: packets are not kept: %s", path, strerror(errno));
}

void raw_flush(struct collector *collector, struct guest_boot *guest)
{
    char path[PATH_BYTES], file[PATH_BYTES + 32];
    int to;

    if (guest->raw_bytes == 0)
        return;
    folder_of(collector, guest, path);
    snprintf(file, sizeof file, "%s/%lld.packets", path,
             (long long)guest->raw_begun);
    to = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (to < 0 && errno == ENOENT) {
        mkdir(collector->options.raw, 0700);
        mkdir(path, 0700);
        to = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    if (to < 0 ||
        write(to, guest->raw, guest->raw_bytes) != (ssize_t)guest->raw_bytes)
        fail(collector, file);
    else
        collector->counters.raw_bytes += guest->raw_bytes;
    if (to >= 0)
        close(to);
    guest->raw_bytes = 0;
}

void raw_take(struct collector *collector, struct guest_boot *guest,
              const struct packet *packet)
{
    if (guest->capture != NULL)
        captures_take(guest, packet);
    if (collector->options.raw == NULL)
        return;
    if (guest->raw == NULL)
        guest->raw = xreallocarray(NULL, RAW_KEPT, 1);
    if (guest->last_seen >= guest->raw_begun + part_seconds(collector)) {
        raw_flush(collector, guest);
        if (guest->raw_begun != 0)
            guest_command(collector, guest, "hello");
        guest->raw_begun = guest->last_seen;
    }
    if (guest->raw_bytes + packet->total_bytes > RAW_KEPT)
        raw_flush(collector, guest);
    if (packet->total_bytes > RAW_KEPT) {
        fail(collector, "a packet of unusual length");
        return;
    }
    memcpy(guest->raw + guest->raw_bytes, packet->bytes, packet->total_bytes);
    guest->raw_bytes += packet->total_bytes;
}

/* Removes what is too old in the folder of one guest. */
static void prune_guest(const char *path, int64_t oldest)
{
    DIR *all = opendir(path);
    const struct dirent *one;
    bool empty = true;

    while (all != NULL && (one = readdir(all)) != NULL) {
        char *end;
        long long begun = strtoll(one->d_name, &end, 10);

        if (end == one->d_name || strcmp(end, ".packets") != 0)
            continue;
        if (begun < oldest)
            unlinkat(dirfd(all), one->d_name, 0);
        else
            empty = false;
    }
    if (all != NULL)
        closedir(all);
    if (empty)
        rmdir(path);
}

static bool is_uuid(const char *name)
{
    return strlen(name) == 2 * UUID_BYTES &&
           name[strspn(name, "0123456789abcdef")] == '\0';
}

void raw_prune(struct collector *collector, int64_t now)
{
    const char *folder = collector->options.raw;
    int64_t oldest = now - kept_seconds(collector) - part_seconds(collector);
    DIR *all = folder != NULL ? opendir(folder) : NULL;
    const struct dirent *one;

    while (all != NULL && (one = readdir(all)) != NULL) {
        char path[PATH_BYTES];

        if (!is_uuid(one->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        prune_guest(path, oldest);
    }
    if (all != NULL)
        closedir(all);
}
