/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets from a console log, line by line.
 *
 * A few packets are assembled at a time. When all slots are in use, the oldest
 * one is given up: its missing line is unlikely to come. A line's numbers are
 * not covered by its checksum, and after a reboot of the guest they start
 * again, so a part may turn up in the wrong packet: of two parts for one
 * position the later one counts.
 */

#define _GNU_SOURCE /* memmem() */

#include "base/bytes.h"
#include "trace/console.h"

#include "base/memory.h"

#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

struct part {
    uint32_t sequence;
    uint32_t number; /* from 0 */
    uint32_t parts;
    size_t bytes;
    uint8_t content[CONSOLE_LINE_MAX];
};

/* Reads a decimal number and the letter (after) it; NULL if there is none. */
static const char *read_number(const char *at, const char *end, char after,
                               uint32_t *number)
{
    uint64_t value = 0;
    const char *first = at;

    while (at < end && *at >= '0' && *at <= '9' && at - first < 10)
        value = value * 10 + (uint64_t)(*at++ - '0');
    if (at == first || at == end || *at != after || value > UINT32_MAX)
        return NULL;
    *number = (uint32_t)value;
    return at + 1;
}

static bool read_crc(const char *at, uint32_t *crc)
{
    *crc = 0;
    for (int i = 0; i < 8; ++i) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = at[i] != '\0' ? strchr(digits, at[i] | 0x20) : NULL;

        if (digit == NULL)
            return false;
        *crc = *crc << 4 | (uint32_t)(digit - digits);
    }
    return true;
}

static bool read_part(const char *at, const char *end, struct part *part)
{
    const char *space;
    uint32_t crc;

    at = read_number(at, end, '.', &part->sequence);
    if (at != NULL)
        at = read_number(at, end, '/', &part->number);
    if (at != NULL)
        at = read_number(at, end, ' ', &part->parts);
    if (at == NULL || part->number == 0 || part->number > part->parts ||
        part->parts > CONSOLE_PARTS_MAX)
        return false;
    --part->number;
    space = memchr(at, ' ', (size_t)(end - at));
    if (space == NULL || end - space < 9 || !read_crc(space + 1, &crc))
        return false;
    return base64_decode(at, (size_t)(space - at), part->content,
                         &part->bytes) &&
           part->bytes <= PROF_LINE_BYTES &&
           crc32c(0, part->content, part->bytes) == crc;
}

static void give_up(struct console *console, struct console_packet *packet)
{
    if (packet->bytes != NULL && packet->missing > 0)
        ++console->cut_packets;
    else if (packet->bytes != NULL)
        ++console->bad_packets;
    free(packet->bytes);
    packet->bytes = NULL;
}

static void begin_packet(struct console *console, struct console_packet *packet,
                         const struct part *part)
{
    give_up(console, packet);
    *packet = (struct console_packet){
        .bytes = xreallocarray(NULL, part->parts, PROF_LINE_BYTES),
        .sequence = part->sequence,
        .parts = part->parts,
        .missing = part->parts,
        .age = ++console->age,
    };
}

/* The slot in which the packet of (part) is assembled, perhaps a new one. */
static struct console_packet *slot_of(struct console *console,
                                      const struct part *part)
{
    struct console_packet *oldest = &console->making[0];

    for (size_t i = 0; i < CONSOLE_PACKETS_MAX; ++i) {
        struct console_packet *slot = &console->making[i];

        if (slot->bytes != NULL && slot->sequence == part->sequence &&
            slot->parts == part->parts)
            return slot;
        if (oldest->bytes != NULL &&
            (slot->bytes == NULL || slot->age < oldest->age))
            oldest = slot;
    }
    begin_packet(console, oldest, part);
    return oldest;
}

/* Delivers the packet if it is complete and valid. If it is complete and
 * invalid, one part is from another packet; it waits for the right one. */
static void try_packet(struct console *console, struct console_packet *packet)
{
    size_t bytes =
        (packet->parts - 1) * (size_t)PROF_LINE_BYTES + packet->last_bytes;
    struct packet found;

    if (packet->missing > 0 ||
        packet_check(packet->bytes, bytes, &found) != PACKET_GOOD)
        return;
    console->sink.take(console->sink.owner, &found);
    free(packet->bytes);
    packet->bytes = NULL;
}

static void take_part(struct console *console, const struct part *part)
{
    struct console_packet *packet = slot_of(console, part);
    uint8_t *to = packet->bytes + part->number * (size_t)PROF_LINE_BYTES;

    memcpy(to, part->content, part->bytes);
    packet->missing -= packet->has[part->number] == 0;
    packet->has[part->number] = 1;
    if (part->number == part->parts - 1)
        packet->last_bytes = (uint32_t)part->bytes;
    try_packet(console, packet);
}

static void take_line(struct console *console)
{
    const char *end = console->line + console->line_bytes;
    const char *mark = memmem(console->line, console->line_bytes,
                              PROF_LINE_MARK, sizeof PROF_LINE_MARK - 1);
    struct part part;

    if (mark == NULL) {
        if (console->other != NULL)
            console->other(console->sink.owner, console->line,
                           console->line_bytes);
    } else if (read_part(mark + sizeof PROF_LINE_MARK - 1, end, &part) &&
               (part.bytes == PROF_LINE_BYTES ||
                part.number == part.parts - 1)) {
        take_part(console, &part);
    } else {
        ++console->bad_lines;
    }
    console->line_bytes = 0;
}

void console_feed(struct console *console, const void *text, size_t count)
{
    const char *at = text;

    while (count > 0) {
        const char *newline = memchr(at, '\n', count);
        size_t whole = newline != NULL ? (size_t)(newline - at) + 1 : count;
        size_t room = CONSOLE_LINE_MAX - console->line_bytes;
        size_t some = whole < room ? whole : room;

        memcpy(console->line + console->line_bytes, at, some);
        console->line_bytes += some;
        at += some;
        count -= some;
        if (at[-1] == '\n' || console->line_bytes == CONSOLE_LINE_MAX)
            take_line(console);
    }
}

void console_end(struct console *console)
{
    if (console->line_bytes > 0)
        take_line(console);
    for (size_t i = 0; i < CONSOLE_PACKETS_MAX; ++i)
        give_up(console, &console->making[i]);
}
