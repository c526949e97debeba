/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where each guest's packets were when its last bucket was closed, or a second
 * after it came, in a file: after we were killed, the next run knows which
 * samples are in no bucket, and counts them as lost. It is replaced as a whole,
 * after the bucket has been handed over: killed in between, the next run counts
 * what is in that bucket as lost, too.
 *
 *     UUID CPU SEQUENCE CLOCK DISCARDED RATE
 */

#include "collect/parts.h"

#include "base/bytes.h"
#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "parasite serve 1\n"
#define KEPT_MS 3600000

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

void state_read(struct collector *collector)
{
    const char *path = collector->options.state;
    FILE *in = path != NULL ? fopen(path, "re") : NULL;
    char line[256], uuid[2 * UUID_BYTES + 1];

    if (in == NULL)
        return;
    if (fgets(line, sizeof line, in) == NULL || strcmp(line, HEAD) != 0)
        log_info("%s: not a state of this version, it begins anew", path);
    else
        while (fgets(line, sizeof line, in) != NULL) {
            struct kept_cpu kept;
            unsigned cpu, sequence, rate;
            unsigned long long last, discarded;

            if (sscanf(line, "%32s %u %u %llu %llu %u", uuid, &cpu, &sequence,
                       &last, &discarded, &rate) != 6 ||
                strlen(uuid) != 2 * UUID_BYTES || !read_uuid(uuid, kept.uuid) ||
                cpu > UINT16_MAX)
                continue;
            kept.cpu = (uint16_t)cpu;
            kept.sequence = sequence;
            kept.last = last;
            kept.discarded = discarded;
            kept.rate_mhz = rate;
            VECTOR_ADD(collector->kept, collector->kept_count, kept);
        }
    fclose(in);
}

void state_restore(struct collector *collector, struct guest_boot *guest)
{
    struct rollup *rollup = &guest->rollup;

    for (size_t i = 0; i < collector->kept_count; ++i) {
        const struct kept_cpu *kept = &collector->kept[i];

        if (memcmp(kept->uuid, guest->uuid, UUID_BYTES) != 0 ||
            rollup->cpu_count >= ROLLUP_CPUS_MAX)
            continue;
        rollup->rate_mhz = kept->rate_mhz;
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

/* What a closed bucket says of each CPU is kept by the rollup. */
static void write_guest(FILE *out, const struct guest_boot *guest)
{
    char uuid[2 * UUID_BYTES + 1];

    bytes_hex(guest->uuid, UUID_BYTES, uuid);
    for (size_t i = 0; i < guest->rollup.cpu_count; ++i) {
        const struct rollup_cpu *cpu = &guest->rollup.cpus[i];

        if (cpu->closed_last > 0)
            fprintf(out, "%s %u %u %llu %llu %u\n", uuid, (unsigned)cpu->cpu,
                    (unsigned)cpu->closed_sequence,
                    (unsigned long long)cpu->closed_last,
                    (unsigned long long)cpu->closed_discarded,
                    (unsigned)guest->rollup.rate_mhz);
    }
}

static bool is_here(const struct collector *collector, const uint8_t *uuid)
{
    for (size_t i = 0; i < collector->guest_count; ++i)
        if (memcmp(collector->guests[i]->uuid, uuid, UUID_BYTES) == 0)
            return true;
    return false;
}

/* Guests of the run before may still connect again. */
static void write_kept(FILE *out, const struct collector *collector)
{
    char uuid[2 * UUID_BYTES + 1];

    if (now_ms() > collector->begun_ms + KEPT_MS)
        return;
    for (size_t i = 0; i < collector->kept_count; ++i) {
        const struct kept_cpu *kept = &collector->kept[i];

        if (is_here(collector, kept->uuid))
            continue;
        bytes_hex(kept->uuid, UUID_BYTES, uuid);
        fprintf(out, "%s %u %u %llu %llu %u\n", uuid, (unsigned)kept->cpu,
                (unsigned)kept->sequence, (unsigned long long)kept->last,
                (unsigned long long)kept->discarded, (unsigned)kept->rate_mhz);
    }
}

void state_write(struct collector *collector)
{
    const char *path = collector->options.state;
    char made[4096];
    FILE *out;
    bool fine;

    if (path == NULL)
        return;
    snprintf(made, sizeof made, "%s.new", path);
    out = fopen(made, "we");
    fine = out != NULL && fputs(HEAD, out) >= 0;
    for (size_t i = 0; fine && i < collector->guest_count; ++i)
        write_guest(out, collector->guests[i]);
    if (fine)
        write_kept(out, collector);
    fine = fine && !ferror(out);
    if (out != NULL)
        fine = fclose(out) == 0 && fine;
    if (!fine || rename(made, path) != 0)
        log_error("%s: %s", path, strerror(errno));
    collector->state_due = collector->state_new = false;
}
