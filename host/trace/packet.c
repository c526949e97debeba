/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding packets again after damage.
 *
 * A damaged length may make a packet look longer than it is. The bytes that it
 * claims are kept, not skipped: when the checksum fails, the search continues
 * right after the magic and finds the packets among them.
 */

#include "trace/packet.h"

#include "base/bytes.h"
#include "base/memory.h"

#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct prof_packet, field)
#define AFTER_CRC (AT(crc) + sizeof(uint32_t))

static bool checksum_right(const uint8_t *bytes, size_t content)
{
    static const uint8_t zeros[4];
    uint32_t crc = crc32c(0, bytes, AT(crc));

    crc = crc32c(crc, zeros, sizeof zeros);
    crc = crc32c(crc, bytes + AFTER_CRC, content - AFTER_CRC);
    return crc == le32(bytes + AT(crc));
}

enum packet_verdict packet_check(const uint8_t *bytes, size_t count,
                                 struct packet *found)
{
    uint32_t content, total;

    if (count < PROF_PACKET_BYTES)
        return PACKET_SHORT;
    content = le32(bytes + AT(content_bits));
    total = le32(bytes + AT(packet_bits));
    if (le32(bytes) != PROF_PACKET_MAGIC || (content | total) % 8 != 0)
        return PACKET_BAD;
    content /= 8;
    total /= 8;
    if (content < PROF_PACKET_BYTES || total < content ||
        total > PROF_PACKET_MAX)
        return PACKET_BAD;
    if (total > count)
        return PACKET_SHORT;
    if (!checksum_right(bytes, content))
        return PACKET_BAD;
    *found = (struct packet){
        .bytes = bytes,
        .total_bytes = total,
        .events = bytes + PROF_PACKET_BYTES,
        .events_bytes = content - PROF_PACKET_BYTES,
        .uuid = bytes + AT(uuid),
        .begin = le64(bytes + AT(begin)),
        .end = le64(bytes + AT(end)),
        .discarded = le64(bytes + AT(discarded)),
        .sequence = le32(bytes + AT(sequence)),
        .text_begin = le64(bytes + AT(text_begin)),
        .cpu = le16(bytes + AT(cpu)),
        .version = le16(bytes + AT(version)),
    };
    return PACKET_GOOD;
}

enum packet_follows packet_follow(struct packet_order *order,
                                  const struct packet *packet,
                                  uint32_t *missing)
{
    struct packet_order before = *order;
    uint32_t gap = packet->sequence - before.next;

    *order = (struct packet_order){true, packet->sequence + 1};
    if (missing != NULL)
        *missing = 0;
    if (!before.begun)
        return PACKET_FIRST;
    if (packet->sequence < before.next)
        return PACKET_AGAIN;
    if (missing != NULL)
        *missing = gap;
    return gap > 0 ? PACKET_AFTER_GAP : PACKET_NEXT;
}

/* The next position from (at) on where a packet may begin, or (count). */
static size_t next_magic(const uint8_t *bytes, size_t count, size_t at)
{
    static const uint8_t magic[4] = {0xc1, 0x1f, 0xfc, 0xc1};

    while (at < count) {
        const uint8_t *first = memchr(bytes + at, magic[0], count - at);
        size_t left;

        if (first == NULL)
            return count;
        at = (size_t)(first - bytes);
        left = count - at < sizeof magic ? count - at : sizeof magic;
        if (memcmp(first, magic, left) == 0)
            return at;
        ++at;
    }
    return count;
}

size_t packet_scan(const uint8_t *bytes, size_t count, bool last,
                   const struct packet_sink *sink, uint64_t *garbage)
{
    size_t at = 0;

    for (;;) {
        size_t begin = next_magic(bytes, count, at);
        struct packet packet;
        enum packet_verdict verdict;

        *garbage += begin - at;
        at = begin;
        if (at == count)
            return at;
        verdict = packet_check(bytes + at, count - at, &packet);
        if (verdict == PACKET_GOOD) {
            sink->take(sink->owner, &packet);
            at += packet.total_bytes;
        } else if (verdict == PACKET_SHORT && !last) {
            return at;
        } else {
            ++at;
            ++*garbage;
        }
    }
}

/* An incomplete packet waits for more bytes. */
void scanner_feed(struct scanner *scanner, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;
    size_t done;

    if (scanner->waiting_bytes > 0) {
        scanner->waiting =
            xreallocarray(scanner->waiting, scanner->waiting_bytes + count, 1);
        memcpy(scanner->waiting + scanner->waiting_bytes, bytes, count);
        count += scanner->waiting_bytes;
        from = scanner->waiting;
    }
    done = packet_scan(from, count, false, &scanner->sink, &scanner->garbage);
    scanner->waiting_bytes = count - done;
    if (scanner->waiting_bytes == 0)
        return;
    if (from != scanner->waiting)
        scanner->waiting = xreallocarray(scanner->waiting, count - done, 1);
    memmove(scanner->waiting, from + done, count - done);
}

void scanner_end(struct scanner *scanner)
{
    packet_scan(scanner->waiting, scanner->waiting_bytes, true, &scanner->sink,
                &scanner->garbage);
    free(scanner->waiting);
    scanner->waiting = NULL;
    scanner->waiting_bytes = 0;
}

/* ---- the index: packets, each once, in order */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_time(const void *left, const void *right)
{
    const struct packet_entry *a = left, *b = right;

    if (a->begin != b->begin)
        return compare_numbers(a->begin, b->begin);
    if (a->cpu != b->cpu)
        return compare_numbers(a->cpu, b->cpu);
    return compare_numbers(a->sequence, b->sequence);
}

/* Whether there is room for a packet of (cpu), which is noted. */
static bool has_room(struct packet_index *index, uint16_t cpu)
{
    if (index->count == TRACE_PACKETS_MAX)
        return false;
    if (index_find(&index->cpus, cpu) == INDEX_NONE &&
        index->cpus.count == TRACE_CPUS_MAX)
        return false;
    index_add(&index->cpus, cpu, NULL);
    return true;
}

bool packet_index_add(struct packet_index *index, const struct packet *packet,
                      uint64_t offset)
{
    bool is_new;

    if (index->count == 0)
        memcpy(index->uuid, packet->uuid, sizeof index->uuid);
    if (memcmp(index->uuid, packet->uuid, sizeof index->uuid) != 0) {
        ++index->foreign;
        return false;
    }
    if (!has_room(index, packet->cpu)) {
        ++index->excess;
        return false;
    }
    index_add(&index->seen, index_pair(packet->cpu, packet->sequence), &is_new);
    if (!is_new) {
        ++index->repeated;
        return false;
    }
    VECTOR_ADD(index->packets, index->count,
               (struct packet_entry){
                   .offset = offset,
                   .begin = packet->begin,
                   .bytes = (uint32_t)packet->total_bytes,
                   .sequence = packet->sequence,
                   .cpu = packet->cpu,
               });
    if (index->count > 1 && by_time(&index->packets[index->count - 2],
                                    &index->packets[index->count - 1]) > 0)
        index->unsorted = true;
    index->bytes += packet->total_bytes;
    return true;
}

void packet_index_sort(struct packet_index *index)
{
    if (index->unsorted)
        qsort(index->packets, index->count, sizeof *index->packets, by_time);
    index->unsorted = false;
}

/* The packets of one CPU: how many there are, and their range of sequences. */
struct span {
    uint64_t count;
    uint32_t first;
    uint32_t last;
};

static void widen_span(struct span *span, uint32_t sequence)
{
    if (span->count++ == 0)
        span->first = span->last = sequence;
    if (sequence < span->first)
        span->first = sequence;
    if (sequence > span->last)
        span->last = sequence;
}

uint64_t packet_index_missing(const struct packet_index *index)
{
    struct span spans[TRACE_CPUS_MAX] = {0};
    uint64_t missing = 0;

    for (size_t i = 0; i < index->count; ++i) {
        const struct packet_entry *packet = &index->packets[i];

        widen_span(&spans[index_find(&index->cpus, packet->cpu)],
                   packet->sequence);
    }
    for (uint32_t i = 0; i < index->cpus.count; ++i)
        missing +=
            (uint64_t)spans[i].last - spans[i].first + 1 - spans[i].count;
    return missing;
}

void packet_index_free(struct packet_index *index)
{
    free(index->packets);
    index_free(&index->seen);
    index_free(&index->cpus);
    *index = (struct packet_index){0};
}
