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
 * for AGAIN_PACKETS and for AGAIN_CLOCKS, or since sampling was last started.
 * One that is used in a single packet is lost with it or not at all. Whenever a
 * leaf is told, those of its callers are that are due: who begins to listen in
 * the middle knows every stack in use after twice as long, some twenty seconds.
 *
 * Packets alone would not do: where so many nodes are in use that they fill
 * AGAIN_PACKETS, each would be told at each use, and packets be full of that.
 */

#include "stream.h"

#include "clock.h"
#include "hello.h"
#include "packet.h"
#include "state.h"

#include <prof/out.h>

#define HELLO_PERIOD 64u  /* packets */
#define AGAIN_PACKETS 16u /* after which a node is told again, but not */
#define AGAIN_CLOCKS (10 * (uint64_t)PROF_CLOCK_HZ) /* before so long */
#define MARKS 8u                                    /* in that time */
#define PATH_MAX 192u         /* nodes of a stack, more than there can be */
#define FITTING_MAX 3u        /* packets begun for one sample */
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
    bool stuck;      /* the way out has refused a packet */
    bool greets;     /* the next packet begins with hello */
    bool gap;        /* something was discarded since the last packet */
    uint32_t again;  /* what was told in packets before this one is forgotten */
    uint32_t old;    /* the packet of AGAIN_CLOCKS ago, 0 = there was none */
    uint64_t marked; /* clock of the last of these */
    uint32_t marks[MARKS]; /* packets, some time apart, in turns */
    uint32_t mark;         /* the oldest of them */
} stream;

void prof_stream_open(const struct prof_out *out, prof_stream_tree *tree)
{
    packet =
        (struct prof_packet_maker){.text_begin = prof_state.config.text.begin};
    stream.out = out;
    stream.tree = tree;
    prof_clock_set(&stream.clock, prof_state.config.boot_tsc,
                   prof_state.config.tsc_hz);
    stream.place = (struct prof_packet_place){0};
    prof_hello_uuid(stream.place.uuid);
    stream.sums = (struct prof_stream_sums){0};
    stream.last = stream.weighed = 0;
    stream.running = stream.stuck = stream.gap = false;
    stream.again = stream.old = stream.mark = 0;
    stream.marked = 0;
    for (uint32_t i = 0; i < MARKS; i++)
        stream.marks[i] = 0;
}

bool prof_stream_on(void)
{
    return stream.out != NULL;
}

/* A packet was sent: which one was it so long ago? */
static void mark_time(void)
{
    if (stream.last - stream.marked < AGAIN_CLOCKS / MARKS)
        return;
    stream.marked = stream.last;
    stream.old = stream.marks[stream.mark];
    stream.marks[stream.mark] = stream.place.sequence;
    stream.mark = (stream.mark + 1) % MARKS;
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
    mark_time();
}

static void put_state(uint64_t clock)
{
    struct prof_event_start start = {stream.rate_mhz, stream.depth};

    if (stream.running)
        prof_packet_put(&packet, PROF_EVENT_START, clock, &start, sizeof start);
    else
        prof_packet_put(&packet, PROF_EVENT_STOP, clock, NULL, 0);
}

/* A packet's first events, before the one at (clock) that it is begun for. */
static void begin(uint64_t clock)
{
    bool hello = stream.greets || stream.place.sequence % HELLO_PERIOD == 0;
    uint64_t at = clock - stream.last > FAR ? clock : stream.last;
    bool jump = at - packet.end > FAR;

    if (hello)
        prof_hello_put(&packet, at);
    if (jump)
        prof_packet_put(&packet, PROF_EVENT_CLOCK, at, &at, sizeof at);
    /* A START must take no time from the next sample. */
    if (stream.gap || (hello && stream.running && at == stream.weighed))
        put_state(at);
    stream.gap = stream.greets = false;
    stream.last = at;
}

/*
 * Makes sure that a packet is begun and (bytes) more fit into it, for an event
 * at (clock). False: the way out refuses.
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
    bool room = make_room(clock, PROF_EVENT_HEAD_BYTES + bytes);

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
           (present - number >= AGAIN_PACKETS && number <= stream.old);
}

static void note_told(uint32_t *told)
{
    *told = (stream.place.sequence + 1) * 2 + (*told != 0 ? 1 : 0);
}

/* Node (node), as events tell of it; *(told) is the note about it. False: there
 * is no such node. */
static bool look_up(uint32_t node, struct prof_packet_node *found,
                    uint32_t **told)
{
    struct prof_stream_node known;

    if (!stream.tree(node, &known))
        return false;
    *found = (struct prof_packet_node){node, known.parent, known.address};
    *told = known.told;
    return true;
}

/* Tells those of (node) and its callers that are news, the outermost first.
 * False: there was no room for all of them. */
static bool tell_callers(uint32_t node)
{
    struct prof_packet_node known;
    uint32_t path[PATH_MAX], *told;
    uint32_t count = 0;

    while (count < PATH_MAX && look_up(node, &known, &told)) {
        if (is_news(*told))
            path[count++] = node;
        node = known.parent;
    }
    while (count-- > 0) {
        if (!prof_packet_fits(&packet, PROF_PACKET_NODE_MAX))
            return false;
        (void)look_up(path[count], &known, &told);
        prof_packet_node(&packet, stream.last, &known);
        note_told(told);
    }
    return true;
}

/*
 * Puts a sample of (node), and before it what the reader may not know. False:
 * the packet is full. Then all of it begins anew in the next, which may not
 * depend on this one.
 */
static bool put_stack(uint64_t clock, uint32_t node)
{
    struct prof_packet_node leaf;
    uint32_t *told;

    if (!look_up(node, &leaf, &told) || !is_news(*told)) {
        prof_packet_sample(&packet, clock, node);
        return true;
    }
    if (!tell_callers(leaf.parent) ||
        !prof_packet_fits(&packet, PROF_PACKET_LEAF_MAX))
        return false;
    prof_packet_leaf(&packet, clock, &leaf);
    note_told(told);
    return true;
}

void prof_stream_sample(uint64_t tsc, uint32_t node)
{
    uint64_t clock;
    bool done = false;

    if (!prof_stream_on())
        return;
    clock = clock_at(tsc);
    for (unsigned i = 0; i < FITTING_MAX && !done; i++) {
        if (!make_room(clock, PROF_PACKET_SAMPLE_MAX))
            break;
        done = put_stack(clock, node);
        if (!done)
            send();
    }
    stream.place.discarded += done ? 0 : 1;
    stream.last = stream.weighed = clock;
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

void prof_stream_stolen(uint64_t tsc, uint64_t cycles)
{
    uint64_t clocks = prof_clock_span(&stream.clock, cycles);

    if (prof_stream_on())
        (void)put(PROF_EVENT_STOLEN, tsc, &clocks, sizeof clocks);
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

void prof_stream_push(void)
{
    if (prof_stream_on())
        send_all();
}

void prof_stream_discard(uint64_t samples)
{
    stream.place.discarded += samples;
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
