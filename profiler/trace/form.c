/* SPDX-License-Identifier: Apache-2.0 */

/* The forms of events, and which is used; see form.h. */

#include "trace/form.h"

#include "stream/put.h"

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

static const struct form {
    uint8_t brief; /* enum prof_event, 0 = none */
    uint8_t near;
    uint8_t wide;
    uint8_t objects;
    uint8_t rest;
} forms[] = {
    [PROF_TRACE_DID_CREATE] = {PROF_EVENT_CREATE_BRIEF, PROF_EVENT_CREATE,
                               PROF_EVENT_CREATE_WIDE, 1, SITE},
    [PROF_TRACE_DID_READ] = {PROF_EVENT_READ_BRIEF, PROF_EVENT_READ,
                             PROF_EVENT_READ_WIDE, 1, NOTHING},
    [PROF_TRACE_DID_TRY_READ] = {0, PROF_EVENT_TRY_READ,
                                 PROF_EVENT_TRY_READ_WIDE, 1, NOTHING},
    [PROF_TRACE_DID_RESOLVE] = {PROF_EVENT_RESOLVE_BRIEF, PROF_EVENT_RESOLVE,
                                PROF_EVENT_RESOLVE_WIDE, 1, NOTHING},
    [PROF_TRACE_DID_FAIL] = {0, PROF_EVENT_FAIL, PROF_EVENT_FAIL_WIDE, 1, NAME},
    [PROF_TRACE_DID_CANCEL] = {0, PROF_EVENT_CANCEL, PROF_EVENT_CANCEL_WIDE, 1,
                               NOTHING},
    [PROF_TRACE_DID_GONE] = {0, PROF_EVENT_GONE, PROF_EVENT_GONE_WIDE, 1,
                             NOTHING},
    [PROF_TRACE_DID_BECOME] = {0, PROF_EVENT_BECOME, PROF_EVENT_BECOME_WIDE, 2,
                               NOTHING},
    [PROF_TRACE_DID_SIGNAL] = {0, PROF_EVENT_SIGNAL, PROF_EVENT_SIGNAL_WIDE, 2,
                               NOTHING},
    [PROF_TRACE_DID_LABEL] = {0, PROF_EVENT_LABEL, PROF_EVENT_LABEL_WIDE, 1,
                              NAME},
    [PROF_TRACE_DID_COUNT] = {0, PROF_EVENT_COUNTER, PROF_EVENT_COUNTER_WIDE, 0,
                              VALUE},
    [PROF_TRACE_DID_SWITCH] = {PROF_EVENT_SWITCH_BRIEF, PROF_EVENT_SWITCH,
                               PROF_EVENT_SWITCH_WIDE, 1, NOTHING},
    [PROF_TRACE_DID_WAKE] = {PROF_EVENT_WAKE_BRIEF, PROF_EVENT_WAKE,
                             PROF_EVENT_WAKE_WIDE, 2, NOTHING},
    [PROF_TRACE_DID_SUSPEND] = {PROF_EVENT_SUSPEND_BRIEF, PROF_EVENT_SUSPEND,
                                PROF_EVENT_SUSPEND_WIDE, 0, WHY},
    [PROF_TRACE_DID_PAUSE] = {0, PROF_EVENT_PAUSE, PROF_EVENT_PAUSE, 0,
                              DURATION},
    [PROF_TRACE_DID_ENTER] = {0, PROF_EVENT_IRQ_ENTER, PROF_EVENT_IRQ_ENTER, 0,
                              BYTE},
    [PROF_TRACE_DID_EXIT] = {0, PROF_EVENT_IRQ_EXIT, PROF_EVENT_IRQ_EXIT, 0,
                             BYTE},
    [PROF_TRACE_DID_DEFER] = {0, PROF_EVENT_DEFER, PROF_EVENT_DEFER_WIDE, 1,
                              BYTE},
    [PROF_TRACE_DID_AWAIT] = {0, PROF_EVENT_AWAIT, PROF_EVENT_AWAIT_WIDE, 2,
                              NOTHING},
    [PROF_TRACE_DID_SEND] = {0, PROF_EVENT_SEND, PROF_EVENT_SEND, 0, MESSAGE},
    [PROF_TRACE_DID_RECEIVE] = {0, PROF_EVENT_RECEIVE, PROF_EVENT_RECEIVE, 0,
                                MESSAGE},
};
#define FORMS (sizeof forms / sizeof *forms)

bool prof_trace_form_exists(const struct prof_trace_record *record)
{
    uint32_t what = prof_trace_what_of(record->what);

    return what != 0 && what < FORMS;
}

static const struct form *form_of(const struct prof_trace_record *record)
{
    return &forms[prof_trace_what_of(record->what)];
}

/* Appends the low (bytes) bytes of (value). */
static void append(struct prof_trace_made *made, uint64_t value, uint32_t bytes)
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

/* Its number then, (most) + 1 where it is the unknown one. */
static uint32_t number(uint32_t object, uint32_t base, uint32_t most)
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

static void append_rest(struct prof_trace_made *made,
                        const struct prof_trace_record *record, enum rest rest,
                        bool wide)
{
    uint32_t name = prof_trace_name_of(record->what);
    uint64_t value = (uint64_t)record->b << 32 | record->a;

    if (rest == BYTE || rest == SITE)
        append(made, prof_trace_byte_of(record->what), 1);
    if (rest == SITE || rest == WHY || rest == VALUE)
        append(made, name, wide ? 2 : 1);
    if (rest == NAME || rest == DURATION)
        append(made, name, 2);
    if (rest == VALUE)
        append(made, value, wide ? 8 : 2);
    if (rest == MESSAGE)
        append(made, record->a, 4);
    if (rest == DURATION) {
        value = prof_stream_span(value);
        append(made, value <= UINT32_MAX ? value : UINT32_MAX, 4);
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

/* Whether the event has a brief form but for its objects. */
static bool may_be_brief(const struct prof_trace_record *record, bool soon)
{
    return soon && form_of(record)->brief != 0 &&
           is_short(record, form_of(record)->rest);
}

static bool is_brief(const struct prof_trace_bases *bases,
                     const struct prof_trace_record *record, bool soon)
{
    const uint32_t objects = form_of(record)->objects;

    return may_be_brief(record, soon) &&
           (objects < 1 || is_in(record->a, bases->tiny, TINY_MOST)) &&
           (objects < 2 || is_in(record->b, bases->tiny, TINY_MOST)) &&
           (objects == 0 || bases->has_tiny || !has_number(record->a)) &&
           (objects < 2 || bases->has_tiny || !has_number(record->b));
}

uint32_t prof_trace_form_base(struct prof_trace_bases *bases,
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

static void make_brief(struct prof_trace_made *made,
                       const struct prof_trace_bases *bases,
                       const struct prof_trace_record *record)
{
    const struct form *form = form_of(record);
    const uint32_t objects[] = {record->a, record->b};

    *made = (struct prof_trace_made){.kind = form->brief};
    for (uint32_t i = 0; i < form->objects; i++)
        append(made, number(objects[i], bases->tiny, TINY_MOST), 1);
    append_rest(made, record, form->rest, false);
}

void prof_trace_form_make(struct prof_trace_made *made,
                          const struct prof_trace_bases *bases,
                          const struct prof_trace_record *record, bool soon)
{
    const struct form *form = form_of(record);
    const uint32_t objects[] = {record->a, record->b};
    bool wide = !is_short(record, form->rest);

    if (is_brief(bases, record, soon)) {
        make_brief(made, bases, record);
        return;
    }
    for (uint32_t i = 0; i < form->objects; i++)
        wide = wide || !is_in(objects[i], bases->near, NEAR_MOST);
    *made = (struct prof_trace_made){.kind = wide ? form->wide : form->near};
    for (uint32_t i = 0; i < form->objects; i++)
        append(made,
               wide ? objects[i] : number(objects[i], bases->near, NEAR_MOST),
               wide ? 4 : 2);
    append_rest(made, record, form->rest, wide);
}
