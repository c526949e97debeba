/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The register of guests: a boot is known by the UUID in its packets, whatever
 * line they come by, so a guest that reconnects goes on, one that reboots is
 * another, and a packet that two lines bring counts once.
 *
 * Who claims the UUID of a guest of another service, or by a token that is not
 * for that guest's, is not believed.
 */

#include "collect/parts.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define GUESTS_MAX 10000u
#define GUEST_BYTES (1u << 20) /* a second */
#define LINE_BOOTS 16          /* new ones a minute: a guest makes its UUID */
#define LINE_SECONDS 3600      /* of samples, that may come at once by a line */
#define FILE_SECONDS 31536000
#define GRACE_MS 3000 /* not all guests' buckets are closed at once */
#define GRACE_STEPS 8
#define GRACE_STEP_MS 1000
#define MEMORY (1u << 30)
#define SHRINK_LEAST 65536u /* bytes of a guest that are worth it */
#define SHRINKS_MAX 64u     /* in a second */
#define MOVES_SAID 3u       /* a guest that connects again makes one */
#define SENT_GUESTS 128u    /* closed buckets that are sent together */
#define SILENT_SECONDS 600  /* after which one without a line is forgotten */

static struct guest_boot *find_boot(struct collector *collector,
                                    const uint8_t *uuid)
{
    for (size_t i = 0; i < collector->guest_count; ++i)
        if (memcmp(collector->guests[i]->uuid, uuid, UUID_BYTES) == 0)
            return collector->guests[i];
    return NULL;
}

/* What a rollup calls: a bucket is complete. */
struct closing {
    struct collector *collector;
    struct guest_boot *guest;
};

static void bucket_closed(void *owner, const struct rollup_bucket *bucket)
{
    struct closing *closing = owner;

    hand_over(closing->collector, closing->guest, bucket);
}

/* ---- quotas */

static size_t guests_max(const struct collector *collector)
{
    return collector->options.guests > 0 ? collector->options.guests
                                         : GUESTS_MAX;
}

/* The number of the first source of the same service, which stands for all. */
static size_t first_source(const struct collector_options *options,
                           const struct collector_source *source)
{
    size_t number = (size_t)(source - options->sources);

    for (size_t i = 0; i < number && source->service != NULL; ++i)
        if (options->sources[i].service != NULL &&
            strcmp(options->sources[i].service, source->service) == 0)
            return i;
    return number;
}

static struct owner *owner_of(const struct line *line)
{
    const struct collector *collector = line->collector;
    const struct collector_options *options = &collector->options;

    if (line->token != NULL)
        return &collector->owners[line->token - options->tokens];
    return &collector->owners[options->token_count +
                              first_source(options, line->source)];
}

void guests_open(struct collector *collector)
{
    const struct collector_options *options = &collector->options;
    size_t count = options->token_count + options->source_count;

    collector->owners =
        xreallocarray(NULL, count > 0 ? count : 1, sizeof *collector->owners);
    collector->owner_count = count;
    for (size_t i = 0; i < count; ++i)
        collector->owners[i] =
            (struct owner){.sends = i < options->token_count};
    for (size_t i = 0; i < options->source_count; ++i) {
        const struct collector_source *source = &options->sources[i];

        if (source->way == COLLECTOR_LISTEN && options->token_count > 0 &&
            strncmp(source->where, "tcp:", 4) == 0)
            continue; /* only with a token */
        collector->owners[options->token_count + first_source(options, source)]
            .sends = true;
    }
    for (size_t i = 0; i < count; ++i)
        collector->sender_count += collector->owners[i].sends;
}

/* Whether (owner) may have one more guest: half of the room is kept for those
 * who have fewer than their share of it. */
static bool has_room(const struct collector *collector,
                     const struct owner *owner)
{
    size_t most = guests_max(collector), kept = 0;
    size_t share = most / 2 / collector->sender_count;

    for (size_t i = 0; i < collector->owner_count; ++i) {
        const struct owner *other = &collector->owners[i];

        if (other != owner && other->sends && other->guests < share)
            kept += share - other->guests;
    }
    return owner->guests < share ? collector->guest_count < most
                                 : collector->guest_count + kept < most;
}

/* Whether one more in this minute is within (most). */
static bool is_within(unsigned *boots, int64_t *minute, size_t most)
{
    int64_t now = now_ms() / 60000;

    if (*minute != now) {
        *minute = now;
        *boots = 0;
    }
    if (*boots >= most)
        return false;
    ++*boots;
    return true;
}

/* Whether one more boot may come by (line) now. */
static bool may_begin(struct line *line)
{
    struct owner *owner = owner_of(line);
    size_t most = guests_max(line->collector) / line->collector->sender_count;

    return line->is_file ||
           (is_within(&line->boots, &line->minute, LINE_BOOTS) &&
            is_within(&owner->boots, &owner->minute,
                      most > LINE_BOOTS ? most : LINE_BOOTS));
}

/* ---- boots */

static struct guest_boot *add_boot(struct line *line, const uint8_t *uuid)
{
    struct collector *collector = line->collector;
    const struct collector_options *options = &collector->options;
    struct guest_boot *guest;
    struct closing *closing;

    if (collector->is_full || !has_room(collector, owner_of(line)) ||
        !may_begin(line)) {
        ++collector->counters.refused_guests;
        collector->counters.refused_for_memory += collector->is_full;
        collector->counters.refused_for_share +=
            collector->guest_count < guests_max(collector) &&
            !collector->is_full;
        return NULL;
    }
    guest = xreallocarray(NULL, 1, sizeof *guest);
    closing = xreallocarray(NULL, 1, sizeof *closing);
    *guest = (struct guest_boot){.begun = now_ms() / 1000};
    *closing = (struct closing){collector, guest};
    memcpy(guest->uuid, uuid, UUID_BYTES);
    guest->rollup.bucket_seconds = options->bucket_seconds;
    guest->rollup.grace_ms = GRACE_MS + uuid[0] % GRACE_STEPS * GRACE_STEP_MS;
    guest->rollup.backlog_seconds =
        line->is_file || line->ram ? FILE_SECONDS : LINE_SECONDS;
    guest->rollup.closed = bucket_closed;
    guest->rollup.owner = closing;
    guest->token = line->token;
    guest->owner = owner_of(line);
    ++guest->owner->guests;
    snprintf(guest->line_service, sizeof guest->line_service, "%s",
             line->service);
    snprintf(guest->where, sizeof guest->where, "%s", line->name);
    state_restore(collector, guest);
    collector->state_new = true;
    VECTOR_ADD(collector->guests, collector->guest_count, guest);
    return guest;
}

static bool may_send(const struct line *line, const struct guest_boot *guest)
{
    return line->token == guest->token &&
           strcmp(line->service, guest->line_service) == 0;
}

bool guest_command(struct collector *collector, struct guest_boot *guest,
                   const char *command)
{
    char text[SEND_LINE_MAX];
    struct line *line = guest->line;
    int bytes = snprintf(text, sizeof text, "\n%s\n", command);
    ssize_t sent;

    if (line == NULL || !line->two_way || line->handle.file < 0 ||
        bytes >= (int)sizeof text)
        return false;
    sent = send(line->handle.file, text, (size_t)bytes,
                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == ENOTSOCK)
        sent = write(line->handle.file, text, (size_t)bytes);
    collector->counters.commands += sent == bytes;
    return sent == bytes;
}

void guest_set_rate(struct collector *collector, struct guest_boot *guest,
                    unsigned hz)
{
    char command[32];

    snprintf(command, sizeof command, "rate %u", hz);
    guest_command(collector, guest, command);
}

/* Two lines bring packets of one guest at a time: the same ones, which count
 * once, or those of two machines that are copies of one another, of which some
 * count and some do not. */
static void note_move(struct guest_boot *guest, const struct line *line)
{
    struct collector *collector = line->collector;
    char uuid[2 * UUID_BYTES + 1];

    ++collector->counters.moves;
    if (++guest->moves < MOVES_SAID ||
        collector->moves_said == now_ms() / 60000)
        return;
    collector->moves_said = now_ms() / 60000;
    bytes_hex(guest->uuid, UUID_BYTES, uuid);
    log_info("%s and %s both send packets of boot %s: what both send counts "
             "once, and if they are two machines their sums are wrong",
             guest->line->name, line->name, uuid);
}

/* The boot that (line) sends now: it may be another than before. */
static struct guest_boot *boot_of(struct line *line,
                                  const struct packet *packet)
{
    struct collector *collector = line->collector;
    struct guest_boot *guest = line->guest;

    if (guest != NULL && memcmp(guest->uuid, packet->uuid, UUID_BYTES) == 0 &&
        guest->line == line)
        return guest;
    guest = find_boot(collector, packet->uuid);
    if (guest == NULL) {
        guest = add_boot(line, packet->uuid);
        if (guest != NULL && packet->sequence > 0) {
            guest->line = line;
            guest_command(collector, guest, "hello");
        }
    } else if (!may_send(line, guest)) {
        ++collector->counters.refused_guests;
        return NULL;
    }
    if (guest == NULL)
        return NULL;
    if (line->guest != NULL && line->guest != guest &&
        line->guest->line == line)
        guests_leave(line);
    if (guest->line != NULL && guest->line != line)
        note_move(guest, line);
    line->guest = guest;
    guest->line = line;
    return guest;
}

static void begin_second(struct line *line, int64_t now)
{
    const struct collector_options *options = &line->collector->options;

    if (line->allowed != now / 1000) {
        line->allowed = now / 1000;
        line->allowance =
            options->guest_bytes > 0 ? options->guest_bytes : GUEST_BYTES;
    }
}

uint64_t guests_allowance(struct line *line)
{
    begin_second(line, now_ms());
    return line->allowance + line->backlog;
}

/* Whether that much may come by (line) in this second, whoever sends it. What
 * was read from RAM is taken. */
static bool is_allowed(struct line *line, size_t bytes, int64_t now)
{
    begin_second(line, now);
    if (line->is_file)
        return true;
    if (line->ram) {
        line->backlog =
            checked_sub(line->backlog, checked_sub(bytes, line->allowance));
        line->allowance = checked_sub(line->allowance, bytes);
        return true;
    }
    if (line->allowance < bytes)
        return false;
    line->allowance -= bytes;
    return true;
}

/* The image is known as soon as a hello came; the service, too, at the latest
 * when the first bucket is closed. */
static void learn_build(struct collector *collector, struct guest_boot *guest)
{
    if (guest->build != NULL || guest->rollup.hello.version == 0)
        return;
    guest->build = builds_find(&collector->builds, &guest->rollup.hello);
    if (guest->build != NULL)
        build_look(guest->build, &collector->builds, steady_ms() / 1000);
    guest_name(collector, guest);
}

void guests_take(struct line *line, const struct packet *packet)
{
    struct collector *collector = line->collector;
    struct guest_boot *guest = boot_of(line, packet);
    int64_t now = now_ms();
    uint64_t unread, after_bye;

    ++collector->counters.packets;
    collector->counters.packet_bytes += packet->total_bytes;
    if (guest == NULL)
        return;
    guest->last_seen = now / 1000;
    if (!is_allowed(line, packet->total_bytes, now)) {
        rollup_skip(&guest->rollup, packet, now);
        ++guest->excess_packets;
        guest->excess_bytes += packet->total_bytes;
        ++collector->counters.excess_packets;
        return;
    }
    unread = guest->rollup.unread;
    after_bye = guest->rollup.after_bye;
    if (!rollup_take(&guest->rollup, packet, now)) {
        ++*(guest->rollup.unread > unread ? &collector->counters.unread
            : guest->rollup.after_bye > after_bye
                ? &collector->counters.after_bye
                : &collector->counters.repeated);
        return;
    }
    collector->counters.unread += guest->rollup.unread - unread;
    learn_build(collector, guest);
    raw_take(collector, guest, packet);
    if (line->ram || !line->two_way)
        readers_pass(collector, guest, packet->bytes, packet->total_bytes);
    if (guest->rollup.ended)
        rollup_close(&guest->rollup, now, true);
}

void guests_leave(struct line *line)
{
    struct guest_boot *guest = line->guest;

    line->guest = NULL;
    if (guest == NULL || guest->line != line)
        return;
    raw_flush(line->collector, guest);
    guest->line = NULL;
}

static void free_boot(struct collector *collector, struct guest_boot *guest)
{
    builds_leave(&collector->builds, guest->build);
    free(guest->rollup.owner);
    rollup_free(&guest->rollup);
    free(guest->raw);
    captures_leave(guest);
    free(guest);
}

static void forget_boot(struct collector *collector, size_t number)
{
    struct guest_boot *guest = collector->guests[number];

    rollup_close(&guest->rollup, now_ms(), true);
    state_keep(collector, guest);
    raw_flush(collector, guest);
    readers_leave(collector, guest);
    --guest->owner->guests;
    for (size_t i = 0; i < collector->line_count; ++i)
        if (collector->lines[i]->guest == guest)
            collector->lines[i]->guest = NULL;
    free_boot(collector, guest);
    collector->guests[number] = collector->guests[--collector->guest_count];
    ++collector->counters.ended_guests;
}

/* ---- memory */

uint64_t guests_memory_limit(const struct collector *collector)
{
    return collector->options.memory > 0 ? collector->options.memory : MEMORY;
}

static uint64_t bytes_of(const struct guest_boot *guest)
{
    return rollup_bytes(&guest->rollup) + sizeof *guest +
           (guest->raw != NULL ? RAW_KEPT : 0);
}

static uint64_t memory_of(const struct collector *collector)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < collector->guest_count; ++i)
        bytes += bytes_of(collector->guests[i]);
    for (size_t i = 0; i < collector->reader_count; ++i)
        bytes += collector->readers[i]->out_bytes;
    return bytes;
}

/* Empties the tables of the guest that holds most, unless that is little. */
static bool shrink_largest(struct collector *collector, int64_t now)
{
    struct guest_boot *largest = NULL;
    uint64_t bytes = SHRINK_LEAST;

    for (size_t i = 0; i < collector->guest_count; ++i) {
        uint64_t own = rollup_bytes(&collector->guests[i]->rollup);

        if (own >= bytes) {
            largest = collector->guests[i];
            bytes = own;
        }
    }
    if (largest == NULL)
        return false;
    rollup_shrink(&largest->rollup, now);
    guest_command(collector, largest, "hello");
    ++collector->counters.shrunk;
    collector->memory = memory_of(collector);
    return true;
}

/* All guests together hold no more than the limit for longer than a second, but
 * for what each holds that samples nothing. */
static void keep_limit(struct collector *collector, int64_t now)
{
    uint64_t limit = guests_memory_limit(collector);
    bool was_full = collector->is_full;

    collector->memory = memory_of(collector);
    for (unsigned i = 0; i < SHRINKS_MAX && collector->memory > limit; ++i)
        if (!shrink_largest(collector, now))
            break;
    /* guests that come take as much again */
    collector->is_full = collector->memory > limit / 10 * 9;
    if (collector->is_full && !was_full)
        log_info("guests' tables take %.1f MB, nearly all of --memory-mb: new "
                 "guests are refused",
                 (double)collector->memory / 1e6);
}

void guests_tick(struct collector *collector, int64_t now)
{
    for (size_t i = 0; i < collector->guest_count;) {
        struct guest_boot *guest = collector->guests[i];

        rollup_close(&guest->rollup, now, false);
        live_note(guest, now);
        if (i % SENT_GUESTS == SENT_GUESTS - 1 &&
            collector->options.store != NULL)
            store_batches_send(&collector->batches);
        if (guest->line == NULL &&
            (guest->rollup.ended ||
             guest->last_seen + SILENT_SECONDS < now / 1000))
            forget_boot(collector, i);
        else
            ++i;
    }
    keep_limit(collector, now);
}

void guests_close_all(struct collector *collector)
{
    for (size_t i = 0; i < collector->guest_count; ++i) {
        rollup_close(&collector->guests[i]->rollup, now_ms(), true);
        raw_flush(collector, collector->guests[i]);
        if (i % SENT_GUESTS == SENT_GUESTS - 1 &&
            collector->options.store != NULL)
            store_batches_send(&collector->batches);
    }
}

void guests_free(struct collector *collector)
{
    for (size_t i = 0; i < collector->guest_count; ++i)
        free_boot(collector, collector->guests[i]);
    free(collector->guests);
    free(collector->owners);
    collector->guests = NULL;
    collector->guest_count = 0;
}

bool guest_serves(const struct guest_boot *guest, const char *service)
{
    return strcmp(guest->service, service) == 0 ||
           strcmp(guest->line_service, service) == 0;
}

bool guest_is_named(const struct guest_boot *guest, const char *name)
{
    char uuid[2 * UUID_BYTES + 1], id[24];
    size_t bytes = strlen(name);

    bytes_hex(guest->uuid, UUID_BYTES, uuid);
    snprintf(id, sizeof id, "%016llx", (unsigned long long)guest->id);
    return bytes > 0 &&
           (strcmp(guest->where, name) == 0 || guest_serves(guest, name) ||
            (bytes >= 4 &&
             (strncmp(uuid, name, bytes) == 0 ||
              (guest->id != 0 && strncmp(id, name, bytes) == 0))));
}

struct guest_boot *guests_find(struct collector *collector, const char *name,
                               const char **why)
{
    struct guest_boot *found = NULL;

    *why = "there is no guest of that name";
    for (size_t i = 0; i < collector->guest_count; ++i) {
        struct guest_boot *guest = collector->guests[i];

        if (guest->line == NULL || !guest_is_named(guest, name))
            continue;
        if (found != NULL) {
            *why = "several guests have that name";
            return NULL;
        }
        found = guest;
    }
    return found;
}
