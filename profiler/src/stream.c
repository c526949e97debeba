/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The encoder: drained samples become events, events packets, and packets go
 * to whatever way out was chosen.
 *
 * Nothing waits. A way out that refuses a packet is offered it again at the
 * end of each drain; until it takes it, samples are counted as discarded, and
 * the packet after it begins with a START, so that the time of the discarded
 * ones is not given to the next.
 *
 * What a lost packet takes with it must not spoil the others, so what is said
 * once is said again. A packet in HELLO_PERIOD begins with hello and the
 * present rate. A node is told where it is first used; once more where it is
 * first used in another packet; and then where it is used when it was not told
 * for AGAIN_PACKETS, or since sampling was last started. One that is used in a
 * single packet is lost with it or not at all.
 */

#include "stream.h"

#include "clock.h"
#include "packet.h"
#include "state.h"

#include <prof/out.h>

#define HELLO_PERIOD 64u      /* packets */
#define AGAIN_PACKETS 128u    /* after which a node is told again */
#define PATH_MAX 192u         /* nodes of a stack, more than there can be */
#define FITTING_MAX 3u        /* packets begun for one sample: see tell() */
#define AGE_MAX PROF_CLOCK_HZ /* a packet that is not full is sent after 1 s */
#define END_ATTEMPTS 8u       /* to send the last packets */

/* Half a wrap of the time in an event's head. */
#define FAR ((uint64_t)1 << (PROF_EVENT_TIME_BITS - 1))

static struct prof_packet_maker packet;

static struct {
    const struct prof_out *out; /* NULL: nobody listens */
    prof_stream_tree *tree;
    struct prof_clock clock;
    struct prof_packet_place place; /* of the packet in the making */
    struct prof_stream_sums sums;
    uint64_t last;    /* clock of the last event, sent or discarded */
    uint64_t weighed; /* clock that the next sample's time begins at */
    uint32_t rate_mhz, depth;
    bool running;
    bool stuck;     /* the way out has refused a packet */
    bool greets;    /* the next packet begins with hello */
    bool gap;       /* something was discarded since the last packet */
    uint32_t again; /* what was told in packets before this one is forgotten */
} stream;

static void mix(uint8_t *to, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        to[i] ^= (uint8_t)(value >> (8 * i));
}

/* This image, by its build-id, and this boot of it, by the time. The bits that
 * say "of a kind of its own" are RFC 9562's, version 8. */
static void make_uuid(uint8_t uuid[16])
{
    const struct prof_config *config = &prof_state.config;
    uint64_t tsc = prof_tsc();

    for (unsigned i = 0; i < 16; i++)
        uuid[i] = 0;
    for (size_t i = 0; i < config->build_id_bytes; i++)
        uuid[i % 8] = (uint8_t)(uuid[i % 8] * 31 + config->build_id[i]);
    mix(uuid + 8, tsc * 0x9e3779b97f4a7c15ull);
    mix(uuid + 8, config->boot_unix_seconds << 24);
    uuid[6] = (uuid[6] & 0x0f) | 0x80;
    uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

void prof_stream_open(const struct prof_out *out, prof_stream_tree *tree)
{
    packet = (struct prof_packet_maker){0};
    stream.out = out;
    stream.tree = tree;
    prof_clock_set(&stream.clock, prof_state.config.boot_tsc,
                   prof_state.config.tsc_hz);
    stream.place = (struct prof_packet_place){0};
    make_uuid(stream.place.uuid);
    stream.sums = (struct prof_stream_sums){0};
    stream.last = stream.weighed = 0;
    stream.running = stream.stuck = stream.gap = false;
    stream.again = 0;
}

bool prof_stream_on(void)
{
    return stream.out != NULL;
}

static void send(void)
{
    if (packet.bytes == 0)
        prof_packet_close(&packet, &stream.place);
    stream.stuck = !stream.out->send(packet.data, packet.bytes);
    stream.gap = stream.gap || stream.stuck;
    if (stream.stuck)
        return;
    stream.sums.packets++;
    stream.sums.bytes += packet.bytes;
    stream.place.sequence++;
    prof_packet_clear(&packet);
}

static void put_hello(uint64_t clock)
{
    const struct prof_config *config = &prof_state.config;
    struct prof_event_hello hello = {
        .version = PROF_FORMAT_VERSION,
        .pointer_bits = 8 * sizeof(void *),
        .tsc_hz = config->tsc_hz,
        .unix_seconds = config->boot_unix_seconds,
        .text_begin = config->text.begin,
        .text_end = config->text.end,
    };

    for (size_t i = 0; i < config->build_id_bytes; i++)
        if (i < sizeof hello.build_id)
            hello.build_id[hello.build_id_bytes++] = config->build_id[i];
    prof_packet_put(&packet, PROF_EVENT_HELLO, clock, &hello, sizeof hello);
}

static void put_state(uint64_t clock)
{
    struct prof_event_start start = {stream.rate_mhz, stream.depth};

    if (stream.running)
        prof_packet_put(&packet, PROF_EVENT_START, clock, &start, sizeof start);
    else
        prof_packet_put(&packet, PROF_EVENT_STOP, clock, NULL, 0);
}

/* Defines a node; false: no room for it in this packet. */
static bool put_node(uint32_t node, const struct prof_stream_node *known)
{
    struct prof_event_node_wide wide = {node, known->parent, known->address};
    struct prof_event_node narrow = {(uint16_t)node, (uint16_t)known->parent,
                                     (uint32_t)known->address};

    if (!prof_packet_fits(&packet, sizeof wide))
        return false;
    if (narrow.node == node && narrow.parent == known->parent &&
        narrow.address == known->address)
        prof_packet_put(&packet, PROF_EVENT_NODE, stream.last, &narrow,
                        sizeof narrow);
    else
        prof_packet_put(&packet, PROF_EVENT_NODE_WIDE, stream.last, &wide,
                        sizeof wide);
    return true;
}

/* A packet's first events, before the one at (clock) that it is begun for. */
static void begin(uint64_t clock)
{
    bool hello = stream.greets || stream.place.sequence % HELLO_PERIOD == 0;
    uint64_t at = clock - stream.last > FAR ? clock : stream.last;
    bool jump = at - packet.end > FAR;

    if (hello)
        put_hello(at);
    if (jump)
        prof_packet_put(&packet, PROF_EVENT_CLOCK, at, &at, sizeof at);
    /* A START must take no time from the next sample. */
    if (stream.gap || (hello && stream.running && at == stream.weighed))
        put_state(at);
    stream.gap = stream.greets = false;
    stream.last = at;
}

/*
 * Makes sure that a packet is begun and (bytes) of fields fit into it, for an
 * event at (clock). False: the way out refuses.
 */
static bool make_room(uint64_t clock, uint32_t bytes)
{
    if (!stream.stuck && packet.used != 0 &&
        (clock - stream.last > FAR || !prof_packet_fits(&packet, bytes)))
        send();
    if (!stream.stuck && packet.used == 0)
        begin(clock);
    return !stream.stuck;
}

/* The time of (tsc), or of the last event where that was later. */
static uint64_t clock_at(uint64_t tsc)
{
    uint64_t clock = prof_clock_at(&stream.clock, tsc);

    return clock > stream.last ? clock : stream.last;
}

/* Puts an event at (tsc). False: it could not be taken. */
static bool put(enum prof_event kind, uint64_t tsc, const void *fields,
                uint32_t bytes)
{
    uint64_t clock = clock_at(tsc);
    bool room = make_room(clock, bytes);

    if (room)
        prof_packet_put(&packet, kind, clock, fields, bytes);
    stream.last = clock;
    return room;
}

/* The same for an event that stands for (samples), or for a time without. */
static void put_samples(enum prof_event kind, uint64_t tsc, const void *fields,
                        uint32_t bytes, uint64_t samples)
{
    if (!put(kind, tsc, fields, bytes))
        stream.place.discarded += samples;
    stream.weighed = stream.last;
}

void prof_stream_start(uint64_t tsc, uint32_t rate_mhz, uint32_t depth)
{
    struct prof_event_start start = {rate_mhz, depth};

    if (!prof_stream_on())
        return;
    put_samples(PROF_EVENT_START, tsc, &start, sizeof start, 0);
    stream.rate_mhz = rate_mhz;
    stream.depth = depth;
    stream.running = true;
    stream.again = stream.place.sequence;
}

void prof_stream_hello(void)
{
    if (!prof_stream_on())
        return;
    if (packet.used != 0)
        send();
    stream.greets = true;
    stream.again = stream.place.sequence;
}

void prof_stream_stop(uint64_t tsc)
{
    if (!prof_stream_on())
        return;
    (void)put(PROF_EVENT_STOP, tsc, NULL, 0);
    stream.running = false;
}

/*
 * Whether the reader may not know a node with the note (told): the number of
 * the packet that it was last told in, from 1, doubled, and 1 more where that
 * was not the first time.
 */
static bool is_news(uint32_t told)
{
    uint32_t number = told / 2;
    uint32_t present = stream.place.sequence + 1;

    if (number == present)
        return false;
    return told % 2 == 0 || number <= stream.again ||
           present - number >= AGAIN_PACKETS;
}

/* Tells those of (node) and its callers that are news, the outermost first.
 * False: there was no room for all of them. */
static bool tell_path(uint32_t node)
{
    struct prof_stream_node known;
    uint32_t path[PATH_MAX];
    uint32_t count = 0;

    while (count < PATH_MAX && stream.tree(node, &known) &&
           is_news(*known.told)) {
        path[count++] = node;
        node = known.parent;
    }
    while (count-- > 0) {
        (void)stream.tree(path[count], &known);
        if (!put_node(path[count], &known))
            return false;
        *known.told =
            (stream.place.sequence + 1) * 2 + (*known.told != 0 ? 1 : 0);
    }
    return true;
}

/*
 * Makes sure that the packet which will take the sample of (node) at (tsc)
 * knows what it must. Where the packet gets full meanwhile, all of it begins
 * anew in the next, which may not depend on this one.
 */
static void tell(uint64_t tsc, uint32_t node)
{
    for (unsigned i = 0; i < FITTING_MAX; i++) {
        if (!make_room(clock_at(tsc), sizeof node))
            return;
        if (tell_path(node) && prof_packet_fits(&packet, sizeof node))
            return;
        send();
    }
}

void prof_stream_sample(uint64_t tsc, uint32_t node)
{
    uint16_t narrow = (uint16_t)node;

    if (!prof_stream_on())
        return;
    tell(tsc, node);
    if (narrow == node)
        put_samples(PROF_EVENT_SAMPLE, tsc, &narrow, sizeof narrow, 1);
    else
        put_samples(PROF_EVENT_SAMPLE_WIDE, tsc, &node, sizeof node, 1);
}

void prof_stream_idle(uint64_t tsc)
{
    if (prof_stream_on())
        put_samples(PROF_EVENT_IDLE, tsc, NULL, 0, 1);
}

void prof_stream_spill(uint64_t tsc, uintptr_t address, uint32_t samples,
                       uint64_t cycles)
{
    struct prof_event_spill spill = {address, samples, 0};

    if (!prof_stream_on())
        return;
    spill.clocks = prof_clock_span(&stream.clock, cycles);
    put_samples(PROF_EVENT_SPILL, tsc, &spill, sizeof spill, samples);
}

void prof_stream_drop(uint64_t tsc, uint32_t samples, uint64_t cycles)
{
    struct prof_event_drop drop = {samples, 0};

    if (!prof_stream_on())
        return;
    drop.clocks = prof_clock_span(&stream.clock, cycles);
    put_samples(PROF_EVENT_DROP, tsc, &drop, sizeof drop, samples);
}

void prof_stream_miss(uint64_t tsc, uint32_t ticks)
{
    if (prof_stream_on())
        (void)put(PROF_EVENT_MISS, tsc, &ticks, sizeof ticks);
}

void prof_stream_stopped_walk(uint64_t tsc, uint32_t reason, uint32_t samples)
{
    struct prof_event_stopped_walk walk = {(uint16_t)reason, samples};

    if (prof_stream_on())
        (void)put(PROF_EVENT_STOPPED_WALK, tsc, &walk, sizeof walk);
}

void prof_stream_flush(uint64_t tsc)
{
    if (!prof_stream_on())
        return;
    if (stream.stuck)
        send();
    if (!stream.stuck && packet.used != 0 &&
        prof_clock_at(&stream.clock, tsc) > packet.begin + AGE_MAX)
        send();
}

/* Sends what there is, and asks several times where need be. */
static void send_all(void)
{
    for (unsigned i = 0; i < END_ATTEMPTS && packet.used != 0; i++)
        send();
}

void prof_stream_end(uint64_t tsc, uint32_t code)
{
    if (!prof_stream_on())
        return;
    if (stream.stuck)
        send_all();
    (void)put(PROF_EVENT_BYE, tsc, &code, sizeof code);
    send_all();
    if (stream.out->finish != NULL)
        stream.out->finish();
    stream.out = NULL;
}

void prof_stream_sums(struct prof_stream_sums *sums)
{
    *sums = stream.sums;
    sums->discarded = stream.place.discarded;
}
