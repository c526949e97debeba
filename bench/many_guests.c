/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many_guests [-b BUILDS] [-f BEGIN,BYTES,FACTOR] [-l GUEST] [-m PART]
 * [-o GUEST] [-s SPEED] [-t TURNS] [-u NUMBER] SOCKET GUESTS SECONDS STREAM...:
 * replays recorded packets of one boot each as many guests, which connect to
 * the local SOCKET of `parasite serve`.
 *
 * Guest n replays stream n % streams, again and again, with a UUID of its own,
 * the build-id of build n % BUILDS (50), and times that go on from one turn to
 * the next. Its shares are its own: of each packet's samples a part, chosen for
 * the guest between none and PART (0.1), has the stack of another one; of the
 * odd GUEST (-o) half of them, that of the first one. In the second half of the
 * builds the function at BEGIN takes FACTOR times as long (-f): so many samples
 * of others have the stack of one of its samples. Of one guest (-l) each tenth
 * packet is left out.
 *
 * Packets are sent when they are due, guests at different times of the second,
 * for SECONDS, or until each has sent its stream TURNS times. Two runs are the
 * same to the byte with the same NUMBER, which is in the UUIDs; by default it
 * is the time. At the end it prints what it has sent, as JSON, and the samples
 * that it has left out:
 *
 *     {"guests": 1000, "packets": 70123, "bytes": ..., "samples": ...,
 *      "left_out": 0}
 */

#include "base/bytes.h"
#include "trace/event.h"
#include "trace/packet.h"

#include <errno.h>
#include <inttypes.h>
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
#define LEFT_OUT 10 /* one packet of so many */

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
    unsigned *slow; /* those of samples in the slow function, (slow_count) */
    unsigned slow_count;
    uint32_t all_slow; /* with those that cannot be changed */
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
    double part;  /* of samples that change their stack */
    bool is_odd;  /* to the same one */
    bool is_slow; /* the function takes longer */
    bool loses;   /* packets */
};

static uint64_t packets, bytes_sent, samples, left_out;

/* The function that is slow in some builds, and how many times as long it
 * takes. */
static uint64_t slow_begin, slow_bytes;
static double slow_factor = 1;

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

/* The nodes whose address is in the slow function, by number. */
struct slow_nodes {
    uint8_t *is_slow;
    size_t room;
};

static void note_node(struct slow_nodes *nodes, const struct event *event)
{
    size_t room = (size_t)event->node + 1;

    if (room > nodes->room) {
        nodes->is_slow = realloc(nodes->is_slow, 2 * room);
        memset(nodes->is_slow + nodes->room, 0, 2 * room - nodes->room);
        nodes->room = 2 * room;
    }
    nodes->is_slow[event->node] = event->address - slow_begin < slow_bytes;
}

static bool is_slow(const struct slow_nodes *nodes, uint32_t node)
{
    return node < nodes->room && nodes->is_slow[node] != 0;
}

static void add_sample(struct taken *taken, const struct slow_nodes *nodes,
                       uint32_t node, size_t at)
{
    taken->nodes =
        realloc(taken->nodes, (taken->sample_count + 1) * sizeof *taken->nodes);
    taken->slow =
        realloc(taken->slow, (taken->sample_count + 1) * sizeof *taken->slow);
    if (is_slow(nodes, node))
        taken->slow[taken->slow_count++] = taken->sample_count;
    taken->nodes[taken->sample_count++] = at;
}

static void find_patches(struct taken *taken, const struct packet *packet)
{
    static struct slow_nodes nodes;
    struct event_reader reader;
    struct event event;

    event_begin(&reader, packet);
    for (;;) {
        size_t begin = (size_t)(reader.at - packet->bytes), end;

        if (!event_next(&reader, &event))
            break;
        end = (size_t)(reader.at - packet->bytes);
        taken->samples += event_samples(&event);
        if (event.kind == PROF_EVENT_NODE || event.kind == PROF_EVENT_LEAF)
            note_node(&nodes, &event);
        if (event.kind == PROF_EVENT_SAMPLE || event.kind == PROF_EVENT_LEAF)
            taken->all_slow += is_slow(&nodes, event.node);
        if (is_late(packet->bytes + begin, end - begin))
            add_sample(taken, &nodes, event.node, end - sizeof(uint16_t));
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

/* How many of a packet's other samples, of those that can be changed, are in
 * the slow function when it takes longer, in as much time as before. */
static double slower_part(const struct taken *taken)
{
    double share = (double)taken->all_slow / (double)taken->samples;
    double longer = slow_factor * share / (1 + (slow_factor - 1) * share);
    double others = (double)(taken->sample_count - taken->slow_count);

    return others > 0 ? (longer - share) * (double)taken->samples / others : 0;
}

/* Gives samples that are not in the slow function the stack of one that is. */
static void slow_down(uint8_t *copy, struct replay *replay,
                      const struct taken *taken)
{
    double part = taken->slow_count > 0 ? slower_part(taken) : 0;
    unsigned slow = 0;

    for (unsigned i = 0; i < taken->sample_count; ++i) {
        unsigned other;

        if (slow < taken->slow_count && taken->slow[slow] == i) {
            ++slow;
            continue;
        }
        if (chance(&replay->seed) >= part)
            continue;
        other = (unsigned)(chance(&replay->seed) * taken->slow_count);
        put_le(copy + taken->nodes[i],
               le16(taken->bytes + taken->nodes[taken->slow[other]]), 2);
    }
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
            put_le(copy + taken->nodes[i], le16(copy + taken->nodes[other]), 2);
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
    if (replay->is_slow)
        slow_down(copy, replay, taken);
    change_shares(copy, replay, taken);
    put_le(copy + crc, 0, 4);
    put_le(copy + crc,
           crc32c(0, copy,
                  le32(copy + offsetof(struct prof_packet, content_bits)) / 8),
           4);
}

/* Whether the packet is one of those that the guest loses: not one without a
 * next one, by which its loss is seen. */
static bool is_lost(const struct replay *replay)
{
    uint64_t number = replay->turns * replay->stream->count + replay->next;

    return replay->loses && number % LEFT_OUT == LEFT_OUT - 1 &&
           replay->next + 1 < replay->stream->count;
}

static void send_packet(struct replay *replay, const struct taken *taken)
{
    static uint8_t copy[PROF_PACKET_MAX];

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
}

static void send_next(struct replay *replay)
{
    const struct taken *taken = &replay->stream->packets[replay->next];

    if (is_lost(replay))
        left_out += taken->samples;
    else
        send_packet(replay, taken);
    if (++replay->next == replay->stream->count) {
        replay->next = 0;
        ++replay->turns;
    }
}

/* Until (seconds) have gone by, or each has sent its stream (turns) times. */
static void run(struct replay *guests, size_t count, double seconds,
                double speed, uint64_t turns)
{
    double begin = now();
    size_t left = count;

    for (double time = 0; time < seconds && left > 0; time = now() - begin) {
        left = 0;
        for (size_t i = 0; i < count; ++i) {
            while (guests[i].turns < turns && due(&guests[i], speed) <= time)
                send_next(&guests[i]);
            left += guests[i].turns < turns;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

static void take_slow(const char *words)
{
    int used = 0;

    if (sscanf(words, "%" SCNi64 ",%" SCNi64 ",%lf%n", (int64_t *)&slow_begin,
               (int64_t *)&slow_bytes, &slow_factor, &used) != 3 ||
        words[used] != '\0' || !(slow_factor >= 1)) {
        errno = EINVAL;
        stop(words);
    }
}

int main(int argc, char **argv)
{
    unsigned builds = 50;
    double speed = 1, most = 0.1;
    long odd = -1, lossy = -1;
    uint64_t turns = UINT64_MAX, number = (uint64_t)time(NULL);
    int option;

    while ((option = getopt(argc, argv, "b:f:l:m:o:s:t:u:")) != -1) {
        if (option == 'b')
            builds = (unsigned)atoi(optarg);
        else if (option == 'f')
            take_slow(optarg);
        else if (option == 'l')
            lossy = atol(optarg);
        else if (option == 'm')
            most = atof(optarg);
        else if (option == 'o')
            odd = atol(optarg);
        else if (option == 's')
            speed = atof(optarg);
        else if (option == 't')
            turns = (uint64_t)atol(optarg);
        else if (option == 'u')
            number = (uint64_t)atol(optarg);
        else
            return 2;
    }
    if (argc - optind < 4 || builds == 0 || !(speed > 0) ||
        !(most >= 0 && most <= 1)) {
        fputs("usage: many_guests [-b BUILDS] [-f BEGIN,BYTES,FACTOR] "
              "[-l GUEST] [-m PART] [-o GUEST] [-s SPEED] [-t TURNS] "
              "[-u NUMBER] SOCKET GUESTS SECONDS STREAM...\n",
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
        put_le(guests[i].uuid + 8, number, 4);
        memset(guests[i].build, (int)(i % stream_count),
               sizeof guests[i].build);
        put_le(guests[i].build, 1 + i % builds, 4);
        guests[i].seed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        guests[i].is_odd = odd >= 0 && i == (size_t)odd;
        guests[i].is_slow = slow_bytes > 0 && i % builds >= builds / 2;
        guests[i].loses = lossy >= 0 && i == (size_t)lossy;
        guests[i].part =
            guests[i].is_odd ? ODD_PART : most * chance(&guests[i].seed);
        connect_guest(&guests[i], argv[0]);
    }
    run(guests, count, atof(argv[2]), speed, turns);
    printf("{\"guests\": %zu, \"packets\": %llu, \"bytes\": %llu, "
           "\"samples\": %llu, \"left_out\": %llu}\n",
           count, (unsigned long long)packets, (unsigned long long)bytes_sent,
           (unsigned long long)samples, (unsigned long long)left_out);
    return 0;
}
