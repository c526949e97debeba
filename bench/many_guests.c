/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many_guests [-b BUILDS] [-m PART] [-o GUEST] [-s SPEED] SOCKET GUESTS SECONDS
 * STREAM...: replays recorded packets of one boot each as many guests, which
 * connect to the local SOCKET of `parasite serve`.
 *
 * Guest n replays stream n % streams, again and again, with a UUID of its own,
 * the build-id of build n % BUILDS (50), and times that go on from one turn to
 * the next. Its shares are its own: of each packet's samples a part, chosen for
 * the guest between none and PART (0.1), has the stack of another one; of the
 * odd GUEST half of them, that of the first one. Packets are sent when they are
 * due, guests at different times of the second. At the end it prints what it
 * has sent, as JSON:
 *
 *     {"guests": 1000, "packets": 70123, "bytes": ..., "samples": ...}
 */

#include "base/bytes.h"
#include "trace/event.h"
#include "trace/packet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define UUID_AT offsetof(struct prof_packet, uuid)
#define PATCHES_MAX 64
#define TIME_STEP (1ull << 24) /* shifts by it keep the times of events */
#define ODD_PART 0.5

/* A recorded packet, and where whole times, build-ids and the nodes of samples
 * are in it. */
struct taken {
    uint8_t *bytes;
    size_t count;
    uint64_t begin, end;
    uint32_t sequence;
    uint32_t samples;
    size_t clocks[PATCHES_MAX], ids[4];
    unsigned clock_count, id_count;
    size_t *nodes; /* of samples, (sample_count) */
    unsigned sample_count;
    unsigned cpu;
};

struct stream {
    struct taken *packets;
    size_t count;
    uint64_t begin;  /* clocks */
    uint64_t length; /* of a turn, a multiple of TIME_STEP */
    uint32_t turn;   /* sequence numbers of a turn, at most */
};

struct replay {
    const struct stream *stream;
    int file;
    size_t next;
    uint64_t turns;
    double offset; /* seconds */
    uint8_t uuid[16];
    uint8_t build[20];
    uint64_t seed;
    double part; /* of samples that change their stack */
    bool is_odd; /* to the same one */
};

static uint64_t packets, bytes_sent, samples;

static _Noreturn void stop(const char *what)
{
    fprintf(stderr, "many_guests: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- recorded streams */

/* A sample as it is at 100 Hz. In its other forms it keeps its stack. */
static bool is_late(const uint8_t *event, size_t bytes)
{
    return bytes == PROF_EVENT_HEAD_BYTES + sizeof(uint16_t) &&
           (event[0] & 3) == PROF_EVENT_OTHER &&
           event[0] >> PROF_EVENT_TAG_BITS == PROF_EVENT_SAMPLE_LATE;
}

static void find_patches(struct taken *taken, const struct packet *packet)
{
    struct event_reader reader;
    struct event event;

    event_begin(&reader, packet);
    for (;;) {
        size_t begin = (size_t)(reader.at - packet->bytes), end;

        if (!event_next(&reader, &event))
            break;
        end = (size_t)(reader.at - packet->bytes);
        taken->samples += event_samples(&event);
        if (is_late(packet->bytes + begin, end - begin)) {
            taken->nodes = realloc(taken->nodes, (taken->sample_count + 1) *
                                                     sizeof *taken->nodes);
            taken->nodes[taken->sample_count++] = end - sizeof(uint16_t);
        }
        if (event.kind == PROF_EVENT_CLOCK && taken->clock_count < PATCHES_MAX)
            taken->clocks[taken->clock_count++] = end - sizeof(uint64_t);
        if (event.kind == PROF_EVENT_HELLO && taken->id_count < 4)
            taken->ids[taken->id_count++] = end - 32;
    }
}

static void take_packet(void *owner, const struct packet *packet)
{
    struct stream *stream = owner;
    struct taken *taken;

    stream->packets =
        realloc(stream->packets, (stream->count + 1) * sizeof *stream->packets);
    taken = &stream->packets[stream->count++];
    *taken = (struct taken){.bytes = malloc(packet->total_bytes),
                            .count = packet->total_bytes,
                            .begin = packet->begin,
                            .end = packet->end,
                            .sequence = packet->sequence,
                            .cpu = packet->cpu};
    memcpy(taken->bytes, packet->bytes, packet->total_bytes);
    find_patches(taken, packet);
    if (stream->count == 1)
        stream->begin = packet->begin;
    if (packet->end - stream->begin >= stream->length)
        stream->length =
            (packet->end - stream->begin) / TIME_STEP * TIME_STEP + TIME_STEP;
    if (packet->sequence >= stream->turn)
        stream->turn = packet->sequence + 1;
}

static void read_stream(struct stream *stream, const char *path)
{
    FILE *in = fopen(path, "rb");
    uint8_t *all = NULL;
    size_t count = 0, room = 0, got;
    uint64_t garbage = 0;

    if (in == NULL)
        stop(path);
    do {
        room += 1 << 20;
        all = realloc(all, room);
        got = fread(all + count, 1, room - count, in);
        count += got;
    } while (got > 0);
    fclose(in);
    packet_scan(all, count, true, &(struct packet_sink){take_packet, stream},
                &garbage);
    free(all);
    if (stream->count == 0) {
        errno = EINVAL;
        stop(path);
    }
}

/* ---- guests */

static void connect_guest(struct replay *replay, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    replay->file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (replay->file < 0 ||
        connect(replay->file, (struct sockaddr *)&address, sizeof address) != 0)
        stop(path);
}

static double due(const struct replay *replay, double speed)
{
    const struct taken *taken = &replay->stream->packets[replay->next];
    uint64_t clocks = replay->turns * replay->stream->length + taken->end -
                      replay->stream->begin;

    return replay->offset + (double)clocks / PROF_CLOCK_HZ / speed;
}

/* The next of a guest's random numbers, 0 to 1 (xorshift64). */
static double chance(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) / (double)(UINT64_C(1) << 53);
}

/* Gives some samples the stack of another one. All stacks of a packet are
 * defined in it. */
static void change_shares(uint8_t *copy, struct replay *replay,
                          const struct taken *taken)
{
    for (unsigned i = 0; i < taken->sample_count; ++i) {
        unsigned other =
            replay->is_odd
                ? 0
                : (unsigned)(chance(&replay->seed) * taken->sample_count);

        if (chance(&replay->seed) < replay->part)
            put_le(copy + taken->nodes[i],
                   le16(taken->bytes + taken->nodes[other]), 2);
    }
}

static void patch(uint8_t *copy, struct replay *replay,
                  const struct taken *taken)
{
    uint64_t shift = replay->turns * replay->stream->length;
    static const size_t crc = offsetof(struct prof_packet, crc);

    memcpy(copy, taken->bytes, taken->count);
    memcpy(copy + UUID_AT, replay->uuid, sizeof replay->uuid);
    put_le(copy + offsetof(struct prof_packet, begin), taken->begin + shift, 8);
    put_le(copy + offsetof(struct prof_packet, end), taken->end + shift, 8);
    put_le(copy + offsetof(struct prof_packet, sequence),
           taken->sequence + replay->turns * replay->stream->turn, 4);
    for (unsigned i = 0; i < taken->clock_count; ++i)
        put_le(copy + taken->clocks[i],
               le64(taken->bytes + taken->clocks[i]) + shift, 8);
    for (unsigned i = 0; i < taken->id_count; ++i)
        memcpy(copy + taken->ids[i], replay->build, sizeof replay->build);
    change_shares(copy, replay, taken);
    put_le(copy + crc, 0, 4);
    put_le(copy + crc,
           crc32c(0, copy,
                  le32(copy + offsetof(struct prof_packet, content_bits)) / 8),
           4);
}

static void send_next(struct replay *replay)
{
    static uint8_t copy[PROF_PACKET_MAX];
    const struct taken *taken = &replay->stream->packets[replay->next];

    patch(copy, replay, taken);
    for (size_t sent = 0; sent < taken->count;) {
        ssize_t some =
            send(replay->file, copy + sent, taken->count - sent, MSG_NOSIGNAL);

        if (some < 0 && errno != EINTR)
            stop("a guest's connection");
        sent += some > 0 ? (size_t)some : 0;
    }
    ++packets;
    bytes_sent += taken->count;
    samples += taken->samples;
    if (++replay->next == replay->stream->count) {
        replay->next = 0;
        ++replay->turns;
    }
}

static void run(struct replay *guests, size_t count, double seconds,
                double speed)
{
    double begin = now();

    for (double time = 0; time < seconds; time = now() - begin) {
        for (size_t i = 0; i < count; ++i)
            while (due(&guests[i], speed) <= time)
                send_next(&guests[i]);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

int main(int argc, char **argv)
{
    unsigned builds = 50;
    double speed = 1, most = 0.1;
    long odd = -1;
    int option;

    while ((option = getopt(argc, argv, "b:m:o:s:")) != -1) {
        if (option == 'b')
            builds = (unsigned)atoi(optarg);
        else if (option == 'm')
            most = atof(optarg);
        else if (option == 'o')
            odd = atol(optarg);
        else if (option == 's')
            speed = atof(optarg);
        else
            return 2;
    }
    if (argc - optind < 4 || builds == 0 || !(speed > 0) ||
        !(most >= 0 && most <= 1)) {
        fputs("usage: many_guests [-b BUILDS] [-m PART] [-o GUEST] [-s SPEED] "
              "SOCKET GUESTS SECONDS STREAM...\n",
              stderr);
        return 2;
    }
    argv += optind;
    argc -= optind;

    size_t stream_count = (size_t)argc - 3, count = (size_t)atol(argv[1]);
    struct stream *streams = calloc(stream_count, sizeof *streams);
    struct replay *guests = calloc(count, sizeof *guests);

    for (size_t i = 0; i < stream_count; ++i)
        read_stream(&streams[i], argv[3 + i]);
    for (size_t i = 0; i < count; ++i) {
        guests[i] = (struct replay){.stream = &streams[i % stream_count],
                                    .offset = (double)i / (double)count};
        memset(guests[i].uuid, 0xb0, sizeof guests[i].uuid);
        put_le(guests[i].uuid, i + 1, 4);
        put_le(guests[i].uuid + 8, (uint64_t)time(NULL), 4);
        memset(guests[i].build, (int)(i % stream_count),
               sizeof guests[i].build);
        put_le(guests[i].build, 1 + i % builds, 4);
        guests[i].seed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        guests[i].is_odd = odd >= 0 && i == (size_t)odd;
        guests[i].part =
            guests[i].is_odd ? ODD_PART : most * chance(&guests[i].seed);
        connect_guest(&guests[i], argv[0]);
    }
    run(guests, count, atof(argv[2]), speed);
    printf("{\"guests\": %zu, \"packets\": %llu, \"bytes\": %llu, "
           "\"samples\": %llu}\n",
           count, (unsigned long long)packets, (unsigned long long)bytes_sent,
           (unsigned long long)samples);
    return 0;
}
