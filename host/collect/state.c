/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where each guest's packets were when its last bucket was closed, or a second
 * after it came, in a file: after we were killed, the next run knows which
 * samples are in no bucket, and counts them as lost. It is replaced as a whole,
 * and with it the batches of closed buckets become valid: it says up to which
 * one they are, and only then are they sent.
 *
 *     batches ORDER
 *     UUID CPU SEQUENCE CLOCK DISCARDED RATE CLOSED_TO LOOP ENDED
 *
 * Guests that were forgotten are kept for an hour: what they send again is in
 * the store already.
 */

#include "collect/parts.h"

#include "base/bytes.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "parasite serve 2\n"
#define HEAD_1 "parasite serve 1\n" /* without batches and CLOSED_TO */
#define KEPT_SECONDS 3600
#define KEPT_MAX (1u << 16) /* CPUs */

static bool read_uuid(const char *text, uint8_t *uuid)
{
    for (size_t i = 0; i < UUID_BYTES; ++i) {
        unsigned byte;

        if (sscanf(text + 2 * i, "%2x", &byte) != 1)
            return false;
        uuid[i] = (uint8_t)byte;
    }
    return true;
}

/* False: it is no line of a CPU. */
static bool read_cpu(const char *line, struct kept_cpu *kept)
{
    char uuid[2 * UUID_BYTES + 1];
    unsigned cpu, sequence, rate, ended = 0;
    unsigned long long last, discarded, loop = 0;
    long long closed_to = 0;
    int fields =
        sscanf(line, "%32s %u %u %llu %llu %u %lld %llu %u", uuid, &cpu,
               &sequence, &last, &discarded, &rate, &closed_to, &loop, &ended);

    if (fields < 6 || strlen(uuid) != 2 * UUID_BYTES ||
        !read_uuid(uuid, kept->uuid) || cpu > UINT16_MAX)
        return false;
    kept->cpu = (uint16_t)cpu;
    kept->sequence = sequence;
    kept->last = last;
    kept->discarded = discarded;
    kept->rate_mhz = rate;
    kept->closed_to = closed_to;
    kept->loop = loop;
    kept->has_loop = fields > 7;
    kept->ended = ended != 0;
    return true;
}

/* Returns up to which of them batches are valid. */
static uint64_t read_lines(struct collector *collector, FILE *in)
{
    unsigned long long batches = 0;
    char line[256];

    while (fgets(line, sizeof line, in) != NULL) {
        struct kept_cpu kept = {.since = steady_ms() / 1000};

        if (sscanf(line, "batches %llu", &batches) != 1 &&
            read_cpu(line, &kept))
            VECTOR_ADD(collector->kept, collector->kept_count, kept);
    }
    return batches;
}

void state_read(struct collector *collector)
{
    const char *path = collector->options.state;
    FILE *in = path != NULL ? fopen(path, "re") : NULL;
    char head[sizeof HEAD] = "";
    uint64_t batches = 0;

    if (in != NULL && fgets(head, sizeof head, in) != NULL &&
        (strcmp(head, HEAD) == 0 || strcmp(head, HEAD_1) == 0))
        batches = read_lines(collector, in);
    else if (in != NULL)
        log_info("%s: not a state of this version, it begins anew", path);
    if (in != NULL)
        fclose(in);
    if (path != NULL && collector->options.store != NULL)
        store_recover(collector->options.store, batches);
}

/* ---- guests that come and go */

void state_restore(struct collector *collector, struct guest_boot *guest)
{
    struct rollup *rollup = &guest->rollup;

    for (size_t i = 0; i < collector->kept_count; ++i) {
        struct kept_cpu *kept = &collector->kept[i];

        if (kept->taken || memcmp(kept->uuid, guest->uuid, UUID_BYTES) != 0 ||
            rollup->cpu_count >= ROLLUP_CPUS_MAX)
            continue;
        kept->taken = true;
        rollup->rate_mhz = kept->rate_mhz;
        rollup->closed_to = kept->closed_to;
        rollup->ended = rollup->ended || kept->ended;
        if (kept->has_loop)
            rollup_resume_loop(rollup, kept->loop);
        VECTOR_ADD(rollup->cpus, rollup->cpu_count,
                   (struct rollup_cpu){.cpu = kept->cpu,
                                       .order = {true, kept->sequence},
                                       .previous = kept->last,
                                       .discarded = kept->discarded,
                                       .closed_last = kept->last,
                                       .closed_discarded = kept->discarded,
                                       .closed_sequence = kept->sequence,
                                       .in_gap = true,
                                       .running = true});
    }
}

/* Drops those that the register has, and what is old; of too many, those that
 * were kept first. */
static void prune_kept(struct collector *collector)
{
    int64_t oldest = steady_ms() / 1000 - KEPT_SECONDS;
    size_t count = 0, skip = 0;

    for (size_t i = 0; i < collector->kept_count; ++i)
        if (!collector->kept[i].taken && collector->kept[i].since >= oldest)
            collector->kept[count++] = collector->kept[i];
    if (count >= KEPT_MAX)
        skip = count - KEPT_MAX + KEPT_MAX / 4;
    if (skip > 0)
        memmove(collector->kept, collector->kept + skip,
                (count - skip) * sizeof *collector->kept);
    collector->kept_count = count - skip;
}

/* What closed buckets have of a CPU; (last) 0: nothing. */
static struct kept_cpu kept_of(const struct guest_boot *guest, size_t number)
{
    const struct rollup_cpu *cpu = &guest->rollup.cpus[number];
    struct kept_cpu kept = {.cpu = cpu->cpu,
                            .sequence = cpu->closed_sequence,
                            .last = cpu->closed_last,
                            .discarded = cpu->closed_discarded,
                            .rate_mhz = guest->rollup.rate_mhz,
                            .closed_to = guest->rollup.closed_to,
                            .loop = guest->rollup.loop_sent,
                            .has_loop = true,
                            .ended = guest->rollup.ended,
                            .since = steady_ms() / 1000};

    memcpy(kept.uuid, guest->uuid, UUID_BYTES);
    return kept;
}

void state_keep(struct collector *collector, const struct guest_boot *guest)
{
    for (size_t i = 0; i < guest->rollup.cpu_count; ++i) {
        struct kept_cpu kept = kept_of(guest, i);

        if (kept.last == 0)
            continue;
        if (collector->kept_count >= KEPT_MAX)
            prune_kept(collector);
        VECTOR_ADD(collector->kept, collector->kept_count, kept);
    }
}

/* ---- writing */

static void write_cpu(FILE *out, const struct kept_cpu *kept)
{
    char uuid[2 * UUID_BYTES + 1];

    bytes_hex(kept->uuid, UUID_BYTES, uuid);
    fprintf(out, "%s %u %u %llu %llu %u %lld %llu %d\n", uuid,
            (unsigned)kept->cpu, (unsigned)kept->sequence,
            (unsigned long long)kept->last, (unsigned long long)kept->discarded,
            (unsigned)kept->rate_mhz, (long long)kept->closed_to,
            (unsigned long long)kept->loop, kept->ended);
}

static void write_guest(FILE *out, const struct guest_boot *guest)
{
    for (size_t i = 0; i < guest->rollup.cpu_count; ++i) {
        struct kept_cpu kept = kept_of(guest, i);

        if (kept.last > 0)
            write_cpu(out, &kept);
    }
}

/* Its name is on the disk, too. */
static bool sync_folder(const char *path)
{
    char *copy = xstrdup(path);
    int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool fine = folder >= 0 && fsync(folder) == 0;

    if (folder >= 0)
        close(folder);
    free(copy);
    return fine;
}

static bool write_state(struct collector *collector, const char *path,
                        uint64_t batches)
{
    char *made = text_format("%s.new", path);
    FILE *out = fopen(made, "we");
    bool fine = out != NULL && fputs(HEAD, out) >= 0;

    prune_kept(collector);
    if (fine)
        fprintf(out, "batches %llu\n", (unsigned long long)batches);
    for (size_t i = 0; fine && i < collector->guest_count; ++i)
        write_guest(out, collector->guests[i]);
    for (size_t i = 0; fine && i < collector->kept_count; ++i)
        write_cpu(out, &collector->kept[i]);
    fine = fine && fflush(out) == 0 && fsync(fileno(out)) == 0;
    if (out != NULL)
        fine = fclose(out) == 0 && fine;
    fine = fine && rename(made, path) == 0 && sync_folder(path);
    if (!fine && !collector->state_failed)
        log_error("%s: %s; nothing is sent to the store until it can be "
                  "written",
                  path, strerror(errno));
    collector->state_failed = !fine;
    free(made);
    return fine;
}

void state_write(struct collector *collector)
{
    const char *path = collector->options.state;
    struct store *store = collector->options.store;
    uint64_t batches = store != NULL ? store_staged(store) : 0;

    collector->state_due = false;
    /* else it is tried again in a second: what is staged waits for it */
    collector->state_new =
        path != NULL && !write_state(collector, path, batches);
    if (store != NULL && !collector->state_new)
        store_commit(store, batches);
}
