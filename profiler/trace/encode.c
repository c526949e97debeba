/* SPDX-License-Identifier: Apache-2.0 */

/* The forms of events, and the definitions that are due before them. */

#include "trace/reader.h"

#include "stream/put.h"
#include "trace/names.h"
#include "trace/objects.h"
#include "trace/stacks.h"

#define NEAR_MOST 65534u
#define NEAR_BACK 32768u /* older objects that near numbers reach */
#define TINY_MOST 254u
#define TINY_BACK 160u

/* What follows the objects in an event's fields. */
enum rest {
    NOTHING,
    BYTE,     /* the record's byte */
    SITE,     /* its byte and its name, 8 or 16 bits */
    NAME,     /* its name, 16 bits */
    WHY,      /* its name, 8 or 16 bits */
    MESSAGE,  /* 32 bits */
    VALUE,    /* its name, 8 or 16 bits, and a value, 16 or 64 */
    DURATION, /* its name, 16 bits, and 32 bits of time */
};

/*
 * The frequent events have up to three forms. The wide one has any object. The
 * near one has 16 bits for it, and is used where its number is not far from
 * those of the others in the packet. The brief one has 8 bits for an object
 * that was created recently, and 16 of the time, which must not be long after
 * the event before.
 */
#define ONE(NAME) 0, PROF_EVENT_##NAME, PROF_EVENT_##NAME
#define TWO(NAME) 0, PROF_EVENT_##NAME, PROF_EVENT_##NAME##_WIDE
#define THREE(NAME)                                                            \
    PROF_EVENT_##NAME##_BRIEF, PROF_EVENT_##NAME, PROF_EVENT_##NAME##_WIDE

static const struct form {
    uint8_t brief; /* enum prof_event, 0 = none */
    uint8_t near;
    uint8_t wide;
    uint8_t objects;
    uint8_t rest;
} forms[] = {
    [PROF_TRACE_DID_CREATE] = {THREE(CREATE), 1, SITE},
    [PROF_TRACE_DID_READ] = {THREE(READ), 1, NOTHING},
    [PROF_TRACE_DID_TRY_READ] = {TWO(TRY_READ), 1, NOTHING},
    [PROF_TRACE_DID_RESOLVE] = {THREE(RESOLVE), 1, NOTHING},
    [PROF_TRACE_DID_FAIL] = {TWO(FAIL), 1, NAME},
    [PROF_TRACE_DID_CANCEL] = {TWO(CANCEL), 1, NOTHING},
    [PROF_TRACE_DID_GONE] = {TWO(GONE), 1, NOTHING},
    [PROF_TRACE_DID_BECOME] = {TWO(BECOME), 2, NOTHING},
    [PROF_TRACE_DID_SIGNAL] = {TWO(SIGNAL), 2, NOTHING},
    [PROF_TRACE_DID_LABEL] = {TWO(LABEL), 1, NAME},
    [PROF_TRACE_DID_COUNT] = {TWO(COUNTER), 0, VALUE},
    [PROF_TRACE_DID_SWITCH] = {THREE(SWITCH), 1, NOTHING},
    [PROF_TRACE_DID_WAKE] = {THREE(WAKE), 2, NOTHING},
    [PROF_TRACE_DID_SUSPEND] = {THREE(SUSPEND), 0, WHY},
    [PROF_TRACE_DID_PAUSE] = {ONE(PAUSE), 0, DURATION},
    [PROF_TRACE_DID_ENTER] = {ONE(IRQ_ENTER), 0, BYTE},
    [PROF_TRACE_DID_EXIT] = {ONE(IRQ_EXIT), 0, BYTE},
    [PROF_TRACE_DID_DEFER] = {TWO(DEFER), 1, BYTE},
    [PROF_TRACE_DID_AWAIT] = {TWO(AWAIT), 2, NOTHING},
    [PROF_TRACE_DID_SEND] = {ONE(SEND), 0, MESSAGE},
    [PROF_TRACE_DID_RECEIVE] = {ONE(RECEIVE), 0, MESSAGE},
};
#define FORMS (sizeof forms / sizeof *forms)

static bool has_form(const struct prof_trace_record *record)
{
    uint32_t what = prof_trace_what_of(record->what);

    return what != 0 && what < FORMS;
}

static const struct form *form_of(const struct prof_trace_record *record)
{
    return &forms[prof_trace_what_of(record->what)];
}

/* An event in the making. */
struct made {
    enum prof_event kind;
    uint32_t bytes;
    uint8_t fields[24];
};

static void append_field(struct made *made, uint64_t value, uint32_t bytes)
{
    for (; bytes > 0; bytes--) {
        made->fields[made->bytes++] = (uint8_t)value;
        value >>= 8;
    }
}

static bool has_number(uint32_t object)
{
    return object != PROF_TRACE_NONE && object != PROF_TRACE_UNKNOWN;
}

/* Whether (object), counted from (base), is one of 1 to (most). */
static bool is_in(uint32_t object, uint32_t base, uint32_t most)
{
    return !has_number(object) || (object > base && object - base <= most);
}

/* Its field then, (most) + 1 where it is the unknown one. */
static uint32_t object_field(uint32_t object, uint32_t base, uint32_t most)
{
    if (object == PROF_TRACE_UNKNOWN)
        return most + 1;
    return object == PROF_TRACE_NONE ? 0 : object - base;
}

/* Whether what follows the objects has room in the near form. */
static bool is_short(const struct prof_trace_record *record, enum rest rest)
{
    uint64_t value = (uint64_t)record->b << 32 | record->a;

    if (rest != SITE && rest != WHY && rest != VALUE)
        return true;
    return prof_trace_name_of(record->what) <= UINT8_MAX &&
           (rest != VALUE || value + 0x8000 <= UINT16_MAX);
}

static void append_rest(struct made *made,
                        const struct prof_trace_record *record, enum rest rest,
                        bool wide)
{
    uint32_t name = prof_trace_name_of(record->what);
    uint64_t value = (uint64_t)record->b << 32 | record->a;

    if (rest == BYTE || rest == SITE)
        append_field(made, prof_trace_byte_of(record->what), 1);
    if (rest == SITE || rest == WHY || rest == VALUE)
        append_field(made, name, wide ? 2 : 1);
    if (rest == NAME || rest == DURATION)
        append_field(made, name, 2);
    if (rest == VALUE)
        append_field(made, value, wide ? 8 : 2);
    if (rest == MESSAGE)
        append_field(made, record->a, 4);
    if (rest == DURATION) {
        value = prof_stream_span(value);
        append_field(made, value <= UINT32_MAX ? value : UINT32_MAX, 4);
    }
}

/* Whether numbers should count from elsewhere because of (object): there is
 * nothing they count from, or it is newer than they reach. */
static bool is_beyond(bool has_base, uint32_t base, uint32_t object,
                      uint32_t most)
{
    return has_number(object) &&
           (!has_base || (object > base && object - base > most));
}

static bool may_be_brief(const struct prof_trace_record *record, bool soon)
{
    return soon && form_of(record)->brief != 0 &&
           is_short(record, form_of(record)->rest);
}

static bool is_brief(const struct prof_trace_bases *bases,
                     const struct prof_trace_record *record, bool soon)
{
    const uint32_t objects[] = {record->a, record->b};

    for (uint32_t i = 0; i < form_of(record)->objects; i++)
        if (!is_in(objects[i], bases->tiny, TINY_MOST) ||
            (!bases->has_tiny && has_number(objects[i])))
            return false;
    return may_be_brief(record, soon);
}

/* What must be put before (record), where its time is in reach of a brief form
 * if (soon): RECENT or OBJECTS, with the new base then in (*bases); 0 =
 * nothing. */
static uint32_t next_base(struct prof_trace_bases *bases,
                          const struct prof_trace_record *record, bool soon)
{
    const uint32_t object = record->a;

    if (form_of(record)->objects == 0)
        return 0;
    if (may_be_brief(record, soon) &&
        is_beyond(bases->has_tiny, bases->tiny, object, TINY_MOST)) {
        bases->tiny = object > TINY_BACK ? object - TINY_BACK : 0;
        bases->has_tiny = true;
        return PROF_EVENT_RECENT;
    }
    if (is_brief(bases, record, soon) ||
        !is_beyond(bases->has_near, bases->near, object, NEAR_MOST))
        return 0;
    bases->near = object > NEAR_BACK ? object - NEAR_BACK : 0;
    bases->has_near = true;
    return PROF_EVENT_OBJECTS;
}

static void make_event(struct made *made, const struct prof_trace_bases *bases,
                       const struct prof_trace_record *record, bool soon)
{
    const struct form *form = form_of(record);
    const uint32_t objects[] = {record->a, record->b};
    const bool brief = is_brief(bases, record, soon);
    const uint32_t base = brief ? bases->tiny : bases->near;
    const uint32_t most = brief ? TINY_MOST : NEAR_MOST;
    bool wide = !is_short(record, form->rest);

    for (uint32_t i = 0; i < form->objects; i++)
        wide = wide || !is_in(objects[i], base, most);
    *made = (struct made){.kind = brief  ? form->brief
                                  : wide ? form->wide
                                         : form->near};
    for (uint32_t i = 0; i < form->objects; i++)
        append_field(made,
                     wide ? objects[i] : object_field(objects[i], base, most),
                     brief  ? 1
                     : wide ? 4
                            : 2);
    append_rest(made, record, form->rest, wide);
}

/* ---- room in packets */

/* An event, and before it RECENT and OBJECTS. */
#define EVENT_MAX                                                              \
    (3 * PROF_EVENT_HEAD_BYTES + 24u +                                         \
     (uint32_t)(sizeof(struct prof_event_extension) +                          \
                sizeof(struct prof_event_recent) +                             \
                sizeof(struct prof_event_objects)))

/* Such a SWITCH, and RECORDED. */
#define BEGINNING_MAX                                                          \
    (EVENT_MAX + PROF_EVENT_HEAD_BYTES +                                       \
     (uint32_t)(sizeof(struct prof_event_extension) +                          \
                sizeof(struct prof_event_recorded)))

static bool is_history(const struct prof_trace_reader *reader)
{
    return reader->to->label.cpu >= PROF_CPU_HISTORY;
}

static bool has_room(const struct prof_trace_reader *reader, uint64_t tsc,
                     uint32_t bytes)
{
    return is_history(reader)
               ? prof_trace_history_room(reader->to, tsc, bytes)
               : prof_stream_room_by(
                     prof_trace_sampled(prof_trace_reader_cpu(reader)), tsc,
                     bytes);
}

static void put_event(struct prof_trace_reader *reader, enum prof_event kind,
                      uint64_t tsc, const void *fields, uint32_t bytes)
{
    uint64_t clock = prof_packet_writer_clock(reader->to, tsc);

    prof_packet_put(&reader->to->packet, kind, clock, fields, bytes);
    reader->to->last = clock;
    reader->bytes += prof_packet_event_bytes(kind, bytes);
}

/* Puts (record), and before it what its objects count from. There is room. */
static void put_record(struct prof_trace_reader *reader, uint64_t tsc,
                       const struct prof_trace_record *record)
{
    const bool soon = prof_packet_is_soon(
        &reader->to->packet, prof_packet_writer_clock(reader->to, tsc));
    struct prof_trace_bases *bases = &reader->bases;
    struct made made;
    uint32_t kind;

    while ((kind = next_base(bases, record, soon)) != 0) {
        const uint32_t *first =
            kind == PROF_EVENT_RECENT ? &bases->tiny : &bases->near;

        put_event(reader, kind, tsc, first, sizeof *first);
    }
    make_event(&made, bases, record, soon);
    put_event(reader, made.kind, tsc, made.fields, made.bytes);
}

static void put_count(struct prof_trace_reader *reader, uint64_t tsc)
{
    uint32_t passed = prof_trace_reader_passed(reader) - reader->before;

    put_event(reader, PROF_EVENT_RECORDED, tsc, &passed, sizeof passed);
}

/* Makes room for (bytes) of events. In another packet than before, numbers of
 * objects have nothing to count from, and the current object is repeated: the
 * packet before may be lost. How many events there were until then is for
 * readers that check. */
static bool make_room_for_events(struct prof_trace_reader *reader, uint64_t tsc,
                                 uint32_t bytes)
{
    struct prof_trace_record now = {.what = PROF_TRACE_DID_SWITCH,
                                    .a = reader->current};

    if (!has_room(reader, tsc, bytes + BEGINNING_MAX))
        return false;
    if (reader->packet == reader->to->interning.packet)
        return true;
    reader->packet = reader->to->interning.packet;
    reader->bases = (struct prof_trace_bases){false, false, 0, 0};
    put_record(reader, tsc, &now);
    put_count(reader, tsc);
    return true;
}

bool prof_trace_encode_plain(struct prof_trace_reader *reader,
                             enum prof_event kind, uint64_t tsc,
                             const void *fields, uint32_t bytes)
{
    if (!make_room_for_events(reader, tsc,
                              prof_packet_event_bytes(kind, bytes)))
        return false;
    put_event(reader, kind, tsc, fields, bytes);
    return true;
}

bool prof_trace_encode_count(struct prof_trace_reader *reader, uint64_t tsc)
{
    const uint32_t bytes = sizeof(struct prof_event_recorded);

    if (!make_room_for_events(
            reader, tsc, prof_packet_event_bytes(PROF_EVENT_RECORDED, bytes)))
        return false;
    put_count(reader, tsc);
    return true;
}

/* ---- definitions */

/* Texts in the stream: a place in the source has a file's name as well. */
#define TEXT_MAX 190u

/* Appends (text), and what is cut of it as "...", up to (end). */
static uint32_t append_text(char *to, uint32_t at, uint32_t end,
                            const char *text)
{
    for (; *text != '\0' && at < end; text++)
        to[at++] = *text >= ' ' ? *text : '?';
    if (*text != '\0')
        for (uint32_t i = 1; i <= 3; i++)
            to[at - i] = '.';
    return at;
}

struct definition {
    struct prof_event_site site;
    char text[TEXT_MAX + 1];
} __attribute__((packed));

static uint32_t define_name(struct definition *made,
                            const struct prof_trace_name *name, uint32_t number)
{
    uint32_t length =
        append_text(made->text, 0, PROF_TRACE_TEXT_MAX, name->text);

    made->site = (struct prof_event_site){(uint16_t)number, name->line};
    if (name->file != NULL) {
        made->text[length++] = '@';
        length = append_text(made->text, length, TEXT_MAX, name->file);
    }
    made->text[length++] = '\0';
    return length;
}

/* Names are the same on all CPUs, so one stream has their definitions: the
 * first CPU's, whose packets come whatever the others do. */
static struct prof_trace_reader *definer_of(struct prof_trace_reader *reader)
{
    return PROF_CPUS_MAX == 1 || is_history(reader)
               ? reader
               : &prof_trace_cpus[0].stream;
}

bool prof_trace_encode_name(struct prof_trace_reader *reader, uint64_t tsc,
                            uint32_t number)
{
    struct prof_trace_reader *definer = definer_of(reader);
    const struct prof_interning *interning = &definer->to->interning;
    const struct prof_trace_name *name;
    struct definition made;
    enum prof_event kind = PROF_EVENT_NAME;
    const uint8_t *fields = (const uint8_t *)&made;
    uint32_t bytes, *note;

    if (number == PROF_NAME_NONE || number > prof_names_count())
        return true;
    name = prof_names_get(number);
    note = &definer->notes[number - 1];
    if (definer != reader)
        tsc = definer->tsc; /* the other one is not of its counter */
    if (!make_room_for_events(definer, tsc, 0))
        return false;
    if (name == NULL || !prof_interning_due(interning, *note))
        return true;
    bytes = (uint32_t)sizeof made.site + define_name(&made, name, number);
    if (name->file != NULL) {
        kind = PROF_EVENT_SITE;
    } else { /* the same without a line */
        bytes -= (uint32_t)sizeof made.site.line;
        fields += sizeof made.site.line;
        __builtin_memcpy((uint8_t *)&made + sizeof made.site.line,
                         &made.site.number, sizeof made.site.number);
    }
    if (!prof_trace_encode_plain(definer, kind, tsc, fields, bytes))
        return false;
    *note = prof_interning_defined(interning, *note);
    return true;
}

/* ---- suspends with stacks
 *
 * Their nodes are not those of samples, which take memory from the heap: a
 * panic has none.
 */

/* Its number in the stream, where those of all CPUs are different ones. */
static uint32_t stack_number(const struct prof_trace_reader *reader,
                             uint32_t number)
{
    return number << PROF_OBJECTS_SHIFT |
           prof_trace_cpu_number(prof_trace_reader_cpu(reader));
}

static void put_node(struct prof_trace_reader *reader, uint64_t tsc,
                     uint32_t number, uint32_t caller)
{
    const struct prof_trace_stacks *stacks =
        prof_trace_stacks_of(prof_trace_reader_cpu(reader));
    const struct prof_trace_stack *stack = prof_trace_stack_at(stacks, number);
    bool is_outermost = caller + 1 == stack->count;
    uint32_t sent = stack_number(reader, number);

    put_event(
        reader, PROF_EVENT_NODE_WIDE, tsc,
        PROF_FIELDS(node_wide, PROF_SUSPEND_NODE(sent, caller),
                    is_outermost ? 0 : PROF_SUSPEND_NODE(sent, caller + 1),
                    stacks->text_begin + stack->offsets[caller]));
}

static bool put_stack(struct prof_trace_reader *reader, uint64_t tsc,
                      uint32_t number)
{
    const struct prof_interning *interning = &reader->to->interning;
    struct prof_trace_stack *stack = prof_trace_stack_at(
        prof_trace_stacks_of(prof_trace_reader_cpu(reader)), number);
    uint32_t *note = &stack->notes[is_history(reader)];

    if (!make_room_for_events(reader, tsc, 0))
        return false;
    if (!prof_interning_due(interning, *note))
        return true;
    if (!make_room_for_events(reader, tsc, stack->count * PROF_PACKET_NODE_MAX))
        return false;
    for (uint32_t caller = stack->count; caller-- > 0;)
        put_node(reader, tsc, number, caller);
    *note = prof_interning_defined(interning, *note);
    return true;
}

bool prof_trace_encode(struct prof_trace_reader *reader, uint64_t tsc,
                       const struct prof_trace_record *record)
{
    const uint32_t what = prof_trace_what_of(record->what);
    const uint32_t name = prof_trace_name_of(record->what);

    if (!has_form(record))
        return true;
    if (!prof_trace_encode_name(reader, tsc, name))
        return false;
    if (what == PROF_TRACE_DID_SUSPEND && record->a != 0)
        return put_stack(reader, tsc, record->a) &&
               prof_trace_encode_plain(
                   reader, PROF_EVENT_SUSPEND_STACK, tsc,
                   PROF_FIELDS(suspend_stack, (uint16_t)name,
                               (uint16_t)stack_number(reader, record->a)));
    if (!make_room_for_events(reader, tsc, EVENT_MAX))
        return false;
    if (what == PROF_TRACE_DID_SWITCH)
        reader->current = record->a;
    put_record(reader, tsc, record);
    return true;
}
