/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The encoder: drained samples become events, events packets, and packets go
 * to the transport.
 *
 * Nothing waits. A transport that refuses a packet is offered it again at the
 * end of each drain; until it takes it, samples are counted as discarded, and
 * the packet after it begins with a START, so that their time is not given to
 * the next. A packet in HELLO_PERIOD begins with HELLO and the present rate,
 * for readers of a part, and nodes are defined again as interning.h says.
 */

#include "stream/stream.h"

#include "base/cpu.h"
#include "stream/put.h"

#define HELLO_PERIOD 64u      /* packets */
#define AGE_MAX PROF_CLOCK_HZ /* a packet that is not full is sent after 1 s */
#define END_ATTEMPTS 8u       /* to send the last packets */
#define PATH_MAX 192u         /* nodes of a stack, more than there can be */
#define FITTING_MAX 3u        /* packets begun for one sample */

/* Half a wrap of the time in an event's head. */
#define HALF_WRAP ((uint64_t)1 << (PROF_EVENT_TIME_BITS - 1))

bool prof_stream_is_on;
struct prof_encoder prof_encoders[PROF_CPUS_MAX];

/* That of all events but a CPU's own. */
static inline struct prof_encoder *encoder_here(void)
{
    return prof_encoder_of(PROF_CPU_FIRST);
}

struct prof_packet_writer *prof_stream_writer(void)
{
    return &encoder_here()->writer;
}

/* ---- packets */

/* The identity of a stream: which boot, by the time, of which image, by its
 * build-id. The bits of a format of one's own are RFC 9562's, version 8. */
static void make_uuid(const struct prof_config *config, uint8_t uuid[16])
{
    uint64_t time =
        prof_tsc() * 0x9e3779b97f4a7c15ull ^ config->boot_unix_seconds << 24;

    for (size_t i = 0; i < config->build_id_bytes; i++)
        uuid[i % 8] = (uint8_t)(uuid[i % 8] * 31 + config->build_id[i]);
    __builtin_memcpy(uuid + 8, &time, sizeof time);
    uuid[6] = (uuid[6] & 0x0f) | 0x80;
    uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

static void set_clock(const struct prof_cpu *cpu,
                      const struct prof_config *config)
{
#if PROF_CPUS_MAX > 1
    prof_encoder_of(cpu)->offset = prof_cpu_tsc_offset(cpu);
    prof_encoder_of(cpu)->error = prof_cpu_link(cpu)->tsc_error;
#endif
    prof_stream_clock_set(&prof_encoder_of(cpu)->writer.clock,
                          prof_cpu_tsc_at(cpu, config->boot_tsc),
                          config->tsc_hz);
}

static void open_encoder(const struct prof_cpu *cpu,
                         const struct prof_stream_settings *settings)
{
    struct prof_encoder *stream = prof_encoder_of(cpu);
    struct prof_packet_writer *writer = &stream->writer;
    const struct prof_config *config = settings->config;
    bool can_ask =
        settings->transport != NULL && settings->transport->receive != NULL;

    writer->packet =
        (struct prof_packet_maker){.text_begin = config->text.begin};
    writer->transport = settings->transport;
    set_clock(cpu, config);
    writer->label =
        (struct prof_packet_label){.cpu = (uint16_t)prof_cpu_number(cpu)};
    prof_interning_begin(&writer->interning,
                         can_ask ? PROF_REPEAT_LONG : PROF_REPEAT_SHORT);
    writer->last = stream->sample_begin = 0;
    writer->stuck = stream->running = stream->gap = false;
    stream->tree = settings->tree;
    stream->config = config;
    stream->bytes = 0;
    stream->emitted = settings->losses;
    stream->steal_clock = settings->steal_clock;
}

void prof_stream_open(const struct prof_stream_settings *settings)
{
    struct prof_packet_label *first = &encoder_here()->writer.label;

    PROF_FOR_EACH_CPU (cpu)
        open_encoder(cpu, &settings[prof_cpu_number(cpu)]);
    make_uuid(settings->config, first->uuid);
#if PROF_CPUS_MAX > 1
    for (uint32_t i = 1; i < prof_cpu_count(); i++)
        __builtin_memcpy(prof_encoders[i].writer.label.uuid, first->uuid,
                         sizeof first->uuid);
#endif
    prof_stream_is_on = settings->transport != NULL;
}

static void send_packet(struct prof_encoder *stream)
{
    struct prof_packet_writer *writer = &stream->writer;

    prof_packet_writer_send(writer);
    stream->gap = stream->gap || writer->stuck;
    if (writer->stuck)
        return;
    stream->bytes += writer->packet.bytes;
    prof_checked_clear(&stream->checked);
    prof_interning_sent(&writer->interning, writer->last);
}

static void put_hello(struct prof_encoder *stream, uint64_t clock)
{
    const struct prof_config *config = stream->config;
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
    prof_packet_put(&stream->writer.packet, PROF_EVENT_HELLO, clock, &hello,
                    sizeof hello);
    if (PROF_WITH_KVM && stream->steal_clock)
        prof_packet_put(&stream->writer.packet, PROF_EVENT_STEAL_CLOCK, clock,
                        PROF_NO_FIELDS);
}

static void put_state(struct prof_encoder *stream, uint64_t clock)
{
    struct prof_packet_maker *packet = &stream->writer.packet;

    if (stream->running)
        prof_packet_put(packet, PROF_EVENT_START, clock,
                        PROF_FIELDS(start, stream->rate_mhz, stream->depth));
    else
        prof_packet_put(packet, PROF_EVENT_STOP, clock, PROF_NO_FIELDS);
}

#if PROF_CPUS_MAX > 1
static struct prof_event_cpu cpu_fields(const struct prof_encoder *stream)
{
    uint32_t number = (uint32_t)(stream - prof_encoders);

    return (struct prof_event_cpu){
        .number = (uint16_t)number,
        .offset = stream->offset,
        .error = stream->error,
    };
}

static void put_cpu(struct prof_encoder *stream, uint64_t clock)
{
    struct prof_event_cpu fields = cpu_fields(stream);

    prof_packet_put(&stream->writer.packet, PROF_EVENT_CPU, clock, &fields,
                    sizeof fields);
}
#endif

/* Puts a packet's first events, before the event at (clock) that it is begun
 * for. */
static void begin_packet(struct prof_encoder *stream, uint64_t clock)
{
    struct prof_packet_writer *writer = &stream->writer;
    bool hello =
        stream->hello_due || writer->label.sequence % HELLO_PERIOD == 0;
    uint64_t at = clock - writer->last > HALF_WRAP ? clock : writer->last;
    bool jump = at - writer->packet.end > HALF_WRAP;

    if (hello)
        put_hello(stream, at);
#if PROF_CPUS_MAX > 1
    if (hello && stream->joined)
        put_cpu(stream, at);
#endif
    if (jump)
        prof_packet_put(&writer->packet, PROF_EVENT_CLOCK, at,
                        PROF_FIELDS(clock, at));
    /* A START must take no time from the next sample. */
    if (stream->gap || (hello && stream->running && at == stream->sample_begin))
        put_state(stream, at);
    stream->gap = stream->hello_due = false;
    writer->last = at;
}

/* Makes sure that a packet is begun and (bytes) more fit into it, for an event
 * at (clock). False: the transport refuses. */
static bool make_room_in_packet(struct prof_encoder *stream, uint64_t clock,
                                uint32_t bytes)
{
    struct prof_packet_writer *writer = &stream->writer;
    const struct prof_packet_maker *packet = &writer->packet;

    if (!writer->stuck && packet->used != 0 &&
        (clock - writer->last > HALF_WRAP || !prof_packet_fits(packet, bytes)))
        send_packet(stream);
    if (!writer->stuck && packet->used == 0)
        begin_packet(stream, clock);
    return !writer->stuck;
}

static bool put_event(struct prof_encoder *stream, enum prof_event kind,
                      uint64_t tsc, const void *fields, uint32_t bytes)
{
    uint64_t clock = prof_packet_writer_clock(&stream->writer, tsc);
    bool room = make_room_in_packet(stream, clock,
                                    prof_packet_event_bytes(kind, bytes));

    if (room)
        prof_packet_put(&stream->writer.packet, kind, clock, fields, bytes);
    stream->writer.last = clock;
    return room;
}

bool prof_stream_put(enum prof_event kind, uint64_t tsc, const void *fields,
                     uint32_t bytes)
{
    return put_event(encoder_here(), kind, tsc, fields, bytes);
}

#if PROF_CPUS_MAX > 1
bool prof_stream_put_by(const struct prof_cpu *cpu, enum prof_event kind,
                        uint64_t tsc, const void *fields, uint32_t bytes)
{
    return put_event(prof_encoder_of(cpu), kind, tsc, fields, bytes);
}
#endif

bool prof_stream_room(uint64_t tsc, uint32_t bytes)
{
    struct prof_encoder *stream = encoder_here();

    return make_room_in_packet(
        stream, prof_packet_writer_clock(&stream->writer, tsc), bytes);
}

#if PROF_CPUS_MAX > 1
struct prof_packet_writer *prof_stream_writer_of(const struct prof_cpu *cpu)
{
    return &prof_encoder_of(cpu)->writer;
}

bool prof_stream_room_by(const struct prof_cpu *cpu, uint64_t tsc,
                         uint32_t bytes)
{
    struct prof_encoder *stream = prof_encoder_of(cpu);

    return make_room_in_packet(
        stream, prof_packet_writer_clock(&stream->writer, tsc), bytes);
}
#endif

uint64_t prof_stream_span(uint64_t cycles)
{
    return prof_stream_clock_span(&encoder_here()->writer.clock, cycles);
}

/* ---- when sampling starts, and when a reader joins */

static void forget(struct prof_encoder *stream)
{
    prof_interning_forget(&stream->writer.interning);
    prof_checked_clear(&stream->checked);
}

static void put_samples(struct prof_encoder *stream, enum prof_event kind,
                        uint64_t tsc, const void *fields, uint32_t bytes,
                        uint64_t samples)
{
    if (!put_event(stream, kind, tsc, fields, bytes))
        stream->writer.label.discarded += samples;
    stream->sample_begin = stream->writer.last;
}

void prof_stream_start(const struct prof_cpu *cpu, uint64_t tsc,
                       uint32_t rate_mhz, uint32_t depth)
{
    struct prof_encoder *stream = prof_encoder_of(cpu);

    if (!prof_stream_on())
        return;
    put_samples(stream, PROF_EVENT_START, tsc,
                PROF_FIELDS(start, rate_mhz, depth), 0);
    stream->rate_mhz = rate_mhz;
    stream->depth = depth;
    stream->running = true;
    forget(stream);
}

#if PROF_CPUS_MAX > 1
/* Its packets are on the first CPU's clock from now on. */
void prof_stream_join(const struct prof_cpu *cpu, uint64_t tsc)
{
    struct prof_encoder *stream = prof_encoder_of(cpu);
    struct prof_event_cpu fields;
    bool is_new = !stream->joined;

    stream->joined = true;
    if (!prof_stream_on())
        return;
    set_clock(cpu, stream->config);
    fields = cpu_fields(stream);
    if (!is_new || stream->writer.label.sequence != 0 ||
        stream->writer.packet.used != 0) /* else it comes with HELLO */
        (void)put_event(stream, PROF_EVENT_CPU, tsc, &fields, sizeof fields);
}

void prof_stream_compared(const struct prof_cpu *cpu, uint64_t tsc)
{
    const struct prof_encoder *stream = prof_encoder_of(cpu);
    const struct prof_cpu_link *link = prof_cpu_link(cpu);

    if (prof_stream_on() && (stream->error != link->tsc_error ||
                             stream->offset != link->tsc_offset))
        prof_stream_join(cpu, tsc);
}
#endif

void prof_stream_hello(const struct prof_cpu *cpu)
{
    struct prof_encoder *stream = prof_encoder_of(cpu);

    if (!prof_stream_on())
        return;
    if (stream->writer.packet.used != 0)
        send_packet(stream);
    stream->hello_due = true;
    forget(stream);
}

void prof_stream_stop(const struct prof_cpu *cpu, uint64_t tsc)
{
    if (!prof_stream_on())
        return;
    (void)put_event(prof_encoder_of(cpu), PROF_EVENT_STOP, tsc, PROF_NO_FIELDS);
    prof_encoder_of(cpu)->running = false;
}

/* ---- samples, and the nodes of their stacks
 *
 * Most samples are of a node that the reader knows, and most others are below
 * callers that it knows. Both are put in a few steps; put_slowly() does what
 * else may come with a sample: a full packet, a new one, callers that are due,
 * and what has no short form.
 */

static inline bool is_due(const struct prof_encoder *stream, uint32_t note)
{
    return prof_interning_due(&stream->writer.interning, note);
}

/* The note of node (node), which is (known), in this stream. */
static inline uint32_t *note_of(struct prof_encoder *stream, uint32_t node,
                                struct prof_stream_node *known)
{
#if PROF_CPUS_MAX > 1
    uint32_t at = node % PROF_NOTES;

    if (stream != &prof_encoders[0]) {
        if (stream->notes.of[at].node != node)
            stream->notes.of[at].note = 0;
        stream->notes.of[at].node = node;
        return &stream->notes.of[at].note;
    }
#endif
    (void)stream;
    (void)node;
    return &known->note;
}

static void note_defined(struct prof_encoder *stream, uint32_t node,
                         struct prof_stream_node *known)
{
    uint32_t *note = note_of(stream, node, known);

    *note = prof_interning_defined(&stream->writer.interning, *note);
}

/* Node (node), which is (known), as events define it. */
static struct prof_packet_node definition(uint32_t node,
                                          const struct prof_stream_node *known)
{
    return (struct prof_packet_node){node, known->parent, known->address};
}

/* Defines (node) and its callers where they are due, the outermost first.
 * False: there was no room for all of them. */
static bool define_callers(struct prof_encoder *stream, uint32_t node)
{
    struct prof_packet_maker *packet = &stream->writer.packet;
    struct prof_stream_node *known;
    struct prof_packet_node put;
    uint32_t path[PATH_MAX];
    uint32_t count = 0;

    while (count < PATH_MAX && !prof_is_checked(&stream->checked, node)) {
        known = stream->tree(node);
        if (known == NULL)
            break;
        if (is_due(stream, *note_of(stream, node, known)))
            path[count++] = node;
        prof_checked_add(&stream->checked, node);
        node = known->parent;
    }
    while (count-- > 0) {
        if (!prof_packet_fits(packet, PROF_PACKET_NODE_MAX))
            return false;
        known = stream->tree(path[count]);
        put = definition(path[count], known);
        prof_packet_node(packet, stream->writer.last, &put);
        note_defined(stream, path[count], known);
    }
    return true;
}

/* Puts a sample of (node), which is (leaf), and before it the definitions that
 * are due. False: the packet is full. Then all of it begins anew in the next,
 * which may not depend on this one. */
static bool put_defined(struct prof_encoder *stream, uint64_t clock,
                        uint32_t node, struct prof_stream_node *leaf)
{
    struct prof_packet_maker *packet = &stream->writer.packet;
    struct prof_packet_node put;

    if (leaf == NULL || !is_due(stream, *note_of(stream, node, leaf))) {
        prof_packet_sample(packet, clock, node);
        return true;
    }
    if (!define_callers(stream, leaf->parent) ||
        !prof_packet_fits(packet, PROF_PACKET_LEAF_MAX))
        return false;
    put = definition(node, leaf);
    prof_packet_leaf(packet, clock, &put);
    note_defined(stream, node, leaf);
    return true;
}

static __attribute__((noinline)) void put_slowly(struct prof_encoder *stream,
                                                 uint64_t clock, uint32_t node,
                                                 struct prof_stream_node *leaf)
{
    for (unsigned i = 0; i < FITTING_MAX; i++) {
        if (!make_room_in_packet(stream, clock, PROF_PACKET_SAMPLE_MAX))
            break;
        if (put_defined(stream, clock, node, leaf))
            return;
        send_packet(stream);
    }
    stream->writer.label.discarded++;
}

/* Puts a sample of (node), which is to be defined first, in short forms. False:
 * it has none, or they do not fit; callers may have been defined. */
static inline bool put_leaf(struct prof_encoder *stream, uint64_t clock,
                            uint32_t node, struct prof_stream_node *leaf)
{
    struct prof_packet_maker *packet = &stream->writer.packet;
    struct prof_packet_node put;

    if (!prof_packet_has_room(packet, PROF_PACKET_LEAF_MAX) ||
        !prof_packet_is_short(packet, clock, node) ||
        (!prof_is_checked(&stream->checked, leaf->parent) &&
         !define_callers(stream, leaf->parent)))
        return false;
    put = definition(node, leaf);
    if (!prof_packet_short_leaf(packet, clock, &put))
        return false;
    note_defined(stream, node, leaf);
    return true;
}

void prof_stream_sample(const struct prof_cpu *cpu, uint64_t tsc, uint32_t node,
                        struct prof_stream_node *leaf)
{
    struct prof_encoder *stream = prof_encoder_of(cpu);
    uint64_t clock;
    bool put = false;

    if (node == 0) {
        put_samples(stream, PROF_EVENT_IDLE, tsc, PROF_NO_FIELDS, 1);
        return;
    }
    clock = prof_packet_writer_clock(&stream->writer, tsc);
    if (!stream->writer.stuck && leaf != NULL)
        put =
            is_due(stream, *note_of(stream, node, leaf))
                ? put_leaf(stream, clock, node, leaf)
                : prof_packet_short_sample(&stream->writer.packet, clock, node);
    if (!put)
        put_slowly(stream, clock, node, leaf);
    stream->writer.last = stream->sample_begin = clock;
}

/* ---- what left no sample: the drain passes running totals; these functions
 * emit by how much they have grown, and count as emitted while there is no
 * stream, so that one which begins later does not begin with it. */

void prof_stream_overflow(const struct prof_cpu *cpu, uint64_t tsc,
                          uintptr_t address, uint32_t samples, uint64_t cycles)
{
    if (prof_stream_on())
        put_samples(
            prof_encoder_of(cpu), PROF_EVENT_OVERFLOW, tsc,
            PROF_FIELDS(overflow, address, samples, prof_stream_span(cycles)),
            samples);
}

void prof_stream_drop(const struct prof_cpu *cpu, uint64_t tsc,
                      uint32_t samples, uint64_t cycles)
{
    if (prof_stream_on())
        put_samples(prof_encoder_of(cpu), PROF_EVENT_DROP, tsc,
                    PROF_FIELDS(drop, samples, prof_stream_span(cycles)),
                    samples);
}

void prof_stream_emit_lost_ticks(const struct prof_cpu *cpu, uint64_t tsc,
                                 int64_t missed, uint64_t stolen_cycles)
{
    struct prof_encoder *stream = prof_encoder_of(cpu);
    struct prof_stream_losses *emitted = &stream->emitted;
    uint64_t stolen = stolen_cycles - emitted->stolen_cycles;
    uint32_t ticks = (uint32_t)(missed - emitted->missed);

    if (prof_stream_on() && stolen != 0)
        (void)put_event(stream, PROF_EVENT_STOLEN, tsc,
                        PROF_FIELDS(stolen, prof_stream_span(stolen)));
    emitted->stolen_cycles = stolen_cycles;
    if (missed <= emitted->missed)
        return;
    if (prof_stream_on())
        (void)put_event(stream, PROF_EVENT_MISS, tsc, PROF_FIELDS(miss, ticks));
    emitted->missed = missed;
}

void prof_stream_dropped(const struct prof_cpu *cpu, uint64_t tsc,
                         uint64_t dropped, uint64_t cycles)
{
    struct prof_stream_losses *emitted = &prof_encoder_of(cpu)->emitted;

    if (dropped == emitted->dropped)
        return;
    prof_stream_drop(cpu, tsc, (uint32_t)(dropped - emitted->dropped),
                     cycles - emitted->dropped_cycles);
    emitted->dropped = dropped;
    emitted->dropped_cycles = cycles;
}

void prof_stream_stopped_walks(const struct prof_cpu *cpu, uint64_t tsc,
                               const uint32_t samples[PROF_WALK_REASONS])
{
    struct prof_encoder *stream = prof_encoder_of(cpu);
    uint32_t *emitted = stream->emitted.stopped_walks;

    for (uint32_t i = 0; i < PROF_WALK_REASONS; i++) {
        uint32_t more = samples[i] - emitted[i];

        if (more != 0 && prof_stream_on())
            (void)put_event(stream, PROF_EVENT_STOPPED_WALK, tsc,
                            PROF_FIELDS(stopped_walk, (uint16_t)i, more));
        emitted[i] = samples[i];
    }
}

#if PROF_WITH_NMI
void prof_stream_irqs_off(const struct prof_cpu *cpu, uint64_t tsc)
{
    if (prof_stream_on())
        (void)put_event(prof_encoder_of(cpu), PROF_EVENT_IRQS_OFF, tsc,
                        PROF_NO_FIELDS);
}

void prof_stream_nmis(const struct prof_cpu *cpu, uint64_t tsc,
                      uint32_t duplicates, uint64_t merged)
{
    struct prof_encoder *stream = prof_encoder_of(cpu);
    struct prof_stream_losses *emitted = &stream->emitted;

    if (!prof_stream_on() || (duplicates == emitted->nmi_duplicates &&
                              merged == emitted->nmi_merged))
        return;
    if (!put_event(stream, PROF_EVENT_NMI, tsc,
                   PROF_FIELDS(nmi, duplicates, merged)))
        return; /* they are totals: the next one has all */
    emitted->nmi_duplicates = duplicates;
    emitted->nmi_merged = merged;
}
#endif

/* ---- the end of a drain, and of the stream */

void prof_stream_flush(const struct prof_cpu *cpu, uint64_t tsc)
{
    struct prof_encoder *stream = prof_encoder_of(cpu);
    struct prof_packet_writer *writer = &stream->writer;

    if (!prof_stream_on())
        return;
    if (writer->stuck)
        send_packet(stream);
    if (!writer->stuck && writer->packet.used != 0 &&
        prof_stream_clock_at(&writer->clock, tsc) >
            writer->packet.begin + AGE_MAX)
        send_packet(stream);
}

/* Sends what there is; what is refused, after the device has sent the rest. */
static void send_all(struct prof_encoder *stream)
{
    const struct prof_packet_writer *writer = &stream->writer;

    for (unsigned i = 0; i < END_ATTEMPTS && writer->packet.used != 0; i++) {
        send_packet(stream);
        if (i == 0 && writer->stuck && writer->transport->finish != NULL)
            writer->transport->finish();
    }
}

void prof_stream_push(void)
{
    if (!prof_stream_on())
        return;
    PROF_FOR_EACH_CPU (cpu)
        send_all(prof_encoder_of(cpu));
}

void prof_stream_discard(const struct prof_cpu *cpu, uint64_t samples)
{
    prof_encoder_of(cpu)->writer.label.discarded += samples;
}

void prof_stream_end(uint64_t tsc, uint32_t code)
{
    struct prof_encoder *stream = encoder_here();
    const struct prof_packet_writer *writer = &stream->writer;

    if (!prof_stream_on())
        return;
    PROF_FOR_EACH_CPU (cpu)
        if (cpu != PROF_CPU_FIRST)
            send_all(prof_encoder_of(cpu));
    if (!prof_stream_put(PROF_EVENT_BYE, tsc, PROF_FIELDS(bye, code))) {
        send_all(stream);
        (void)prof_stream_put(PROF_EVENT_BYE, tsc, PROF_FIELDS(bye, code));
    }
    if (!writer->stuck)
        send_all(stream);
    if (!writer->stuck && writer->transport->finish != NULL)
        writer->transport->finish();
    prof_stream_is_on = false;
}

void prof_stream_stats(struct prof_stats *stats)
{
    stats->stream_packets = stats->stream_bytes = stats->stream_discarded = 0;
    PROF_FOR_EACH_CPU (cpu) {
        const struct prof_encoder *stream = prof_encoder_of(cpu);

        stats->stream_packets += stream->writer.label.sequence;
        stats->stream_bytes += stream->bytes;
        stats->stream_discarded += stream->writer.label.discarded;
    }
}

/* ---- for a host that reads the newest sample's time in this memory, for a
 * clock that its own samples and ours share (struct prof_outside) */

_Static_assert(offsetof(struct prof_ring, head) == 0 &&
                   offsetof(struct prof_ring, begin) == 3 * sizeof(void *) &&
                   offsetof(struct prof_ring, end) == 4 * sizeof(void *),
               "prof_outside.ring says so");
_Static_assert(offsetof(struct prof_stream_clock, zero_tsc) == 0 &&
                   offsetof(struct prof_stream_clock, factor) ==
                       sizeof(uint64_t),
               "prof_outside.clock says so");
_Static_assert(offsetof(struct prof_entry, tsc_high) ==
                   offsetof(struct prof_entry, tsc_low) + sizeof(uint32_t),
               "prof_outside.tsc_offset is that of 64 bits");

/* Constant, so that it costs nothing while the guest runs. */
const struct prof_outside prof_outside = {
    .magic = PROF_OUTSIDE_MAGIC,
    .word_bytes = sizeof(void *),
    .entry_bytes = sizeof(struct prof_entry),
    .tsc_offset = offsetof(struct prof_entry, tsc_low),
    .ring = &PROF_CPU_FIRST->ring,
    .clock = &prof_encoders[0].writer.clock,
    .uuid = prof_encoders[0].writer.label.uuid,
};
