/* SPDX-License-Identifier: Apache-2.0 */

/* The profiler's settings, and prof_option(), which changes them. The options
 * are the rows of one table. */

#include "base/alloc.h"
#include "base/equal.h"
#include "base/options.h"
#include "control/control.h"

#include <prof/config.h>
#include <prof/format.h>
#include <prof/prof.h>

#define NAME_BYTES 128u

static char callers[NAME_BYTES]; /* prof.callers */
static char vmm[NAME_BYTES];     /* prof.vmm */

/* Rates above PROF_HZ_MAX are lowered to it; one above this is a typing
 * error. */
#define HZ_ASKABLE_MAX 1000000000u

#if PROF_WITH_NMI
#define TICK_NMI "\0nmi"
#else
#define TICK_NMI ""
#endif

enum kind {
    NUMBER,   /* a decimal one from (least) to (most); (words), if it is not
                 NULL, is its unit, which may follow */
    FLAG,     /* off or on, a bool */
    CHOICE,   /* one of (words), an enum in their order */
    WORD,     /* one of (words), itself */
    NAME,     /* of a function, copied to (name) */
    FUNCTION, /* the same, for experiments: enum prof_causal_kind is (least) */
};

static const struct option {
    const char *key;
    bool is_there;      /* what it is for was not left out: */
    const char *absent; /* else the only value that is accepted */
    enum kind kind;
    void *value;
    uint32_t least, most; /* inclusive */
    const char *words;    /* each ends with a NUL, the last with another */
    char *name;
} options[] = {
#define AT(member) &prof_options_in_force.member
#define NUMBER_OF(key, there, absent, member, least, most)                     \
    {"prof." key, there, absent, NUMBER, AT(member), least, most, NULL, NULL},
#define AMOUNT_OF(key, there, absent, member, least, most, unit)               \
    {"prof." key, there, absent, NUMBER, AT(member), least, most, unit, NULL},
#define FLAG_OF(key, there, absent, member)                                    \
    {"prof." key, there, absent, FLAG, AT(member), 0, 0, "off\0on\0", NULL},
#define CHOICE_OF(key, there, absent, member, words)                           \
    {"prof." key, there, absent, CHOICE, AT(member), 0, 0, words "\0", NULL},
    /* clang-format off */
    NUMBER_OF("hz", true, "", hz, 1, HZ_ASKABLE_MAX)
    NUMBER_OF("top", true, "", top, 1, 1000000)
    NUMBER_OF("width", true, "", width, 0, 65535)
    NUMBER_OF("every", true, "", every_ms, 0, 86400000)
    NUMBER_OF("drain", true, "", drain_ms, 1, 10000)
    NUMBER_OF("reports", true, "", reports, 0, UINT32_MAX)
    NUMBER_OF("depth", PROF_WITH_CALLERS, "0", depth, 0, 127)
    NUMBER_OF("jitter", PROF_WITH_PIT, "0", jitter_percent, 0, 50)
#if PROF_CPUS_MAX > 1
    NUMBER_OF("cpu", true, "", cpu, 0, PROF_CPUS_MAX - 1)
#endif
    NUMBER_OF("seed", true, "", seed, 0, UINT32_MAX)
    NUMBER_OF("share", PROF_WITH_STREAM, "", share_kib, 64, 1u << 20)
    NUMBER_OF("trace_kb", PROF_WITH_TRACE, "", trace_kib, 24, 1u << 20)
    NUMBER_OF("trace_stacks", PROF_WITH_TRACE, "0", trace_stacks, 0,
              PROF_SUSPEND_DEPTH_MAX)
    NUMBER_OF("loop", PROF_WITH_LOOP, "0", loop_rows, 0, 4096)
    NUMBER_OF("loop_kb", PROF_WITH_LOOP, "", loop_kib, 48, 1u << 20)
    NUMBER_OF("loop_calls", PROF_WITH_LOOP, "0", loop_calls, 0,
              PROF_LOOP_CALLS_MAX)
    NUMBER_OF("loop_held", PROF_WITH_LOOP, "", loop_held_ms, 0, 3600000)
    NUMBER_OF("loop_freeze", PROF_WITH_LOOP, "", loop_freeze_ms, 0, 3600000)
    CHOICE_OF("weight", true, "", weight, "time\0count")
    CHOICE_OF("form", true, "", form, "shares\0classic")
    FLAG_OF("start", true, "", start)
    FLAG_OF("tick_drains", PROF_WITH_BUILTIN, "off", tick_drains)
    CHOICE_OF("report", PROF_WITH_TREES, "top", report, "top\0tree\0folded")
    CHOICE_OF("trace", PROF_WITH_TRACE, "off", trace, "off\0stream\0flight")
    CHOICE_OF("loop_by", PROF_WITH_LOOP, "", loop_by, "self\0total\0longest")
    FLAG_OF("loop_trigger", PROF_WITH_LOOP, "", loop_trigger)
    CHOICE_OF("causal", PROF_WITH_CAUSAL, "off", causal, "off\0on\0auto")
    AMOUNT_OF("causal_for", PROF_WITH_CAUSAL, "0", causal_for_s, 0, 86400, "s")
    AMOUNT_OF("causal_until", PROF_WITH_CAUSAL, "0", causal_until, 0,
              PROF_CAUSAL_UNTIL_MAX, "%")
    CHOICE_OF("tick", PROF_WITH_LAPIC, "kernel", tick,
              "kernel\0pit\0lapic\0auto" TICK_NMI)
    CHOICE_OF("accrue", PROF_WITH_CAUSAL, "", accrue, "auto\0entry\0smooth")
    /* Names of all transports that an image may offer (<prof/transport.h>).
     * Whether this one does, prof_transport_choose() finds out. */
    {"prof.out", PROF_WITH_STREAM, "off", WORD, AT(out), 0, 0,
     "off\0serial\0uart2\0e9\0virtio\0vsock\0shm\0", NULL},
    {"prof.callers", PROF_WITH_TREES, "", NAME, AT(callers), 0, 0, NULL,
     callers},
    {"prof.vmm", PROF_WITH_CLASSES, "", NAME, AT(vmm), 0, 0, NULL, vmm},
    {"prof.target", PROF_WITH_CAUSAL, "", FUNCTION, NULL, PROF_CAUSAL_TARGET,
     0, NULL, NULL},
    {"prof.progress", PROF_WITH_CAUSAL, "", FUNCTION, NULL,
     PROF_CAUSAL_PROGRESS, 0, NULL, NULL},
    /* clang-format on */
};

/* The value in (word), which is "KEY=VALUE"; NULL if its key is not (key). */
static const char *value_of(const char *word, const char *key)
{
    while (*key != '\0')
        if (*word++ != *key++)
            return NULL;
    return *word == '=' ? word + 1 : NULL;
}

/* Parses a number within the bounds. False, with nothing stored: it is none.
 * The bound is checked at each digit, so no overflow. */
static bool set_number(const struct option *option, const char *text)
{
    const char *begin = text;
    uint64_t value = 0;

    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (uint64_t)(*text - '0');
        if (value > option->most)
            return false;
    }
    if (text == begin || value < option->least)
        return false;
    if (*text != '\0' &&
        (option->words == NULL || !prof_equal(text, option->words)))
        return false;
    *(uint32_t *)option->value = (uint32_t)value;
    return true;
}

static bool set_word(const struct option *option, const char *text)
{
    const char *word = option->words;
    uint32_t number = 0;

    while (!prof_equal(text, word)) {
        while (*word++ != '\0')
            continue;
        if (*word == '\0')
            return false;
        number++;
    }
    if (option->kind == FLAG)
        *(bool *)option->value = number != 0;
    else if (option->kind == CHOICE)
        *(uint32_t *)option->value = number;
    else
        *(const char **)option->value = word;
    return true;
}

/* False: too long, and nothing is copied. */
static bool set_name(const struct option *option, const char *text)
{
    size_t bytes = 0;

    while (text[bytes] != '\0')
        if (++bytes == NAME_BYTES)
            return false;
    for (size_t i = 0; i <= bytes; i++)
        option->name[i] = text[i];
    *(const char **)option->value = option->name;
    return true;
}

struct prof_causal_wanted *prof_causal_wanted;

static int add_function(enum prof_causal_kind kind, const char *name)
{
    struct prof_causal_wanted **end = &prof_causal_wanted, *added;
    size_t bytes = 1;

    for (const char *at = name; *at != '\0'; at++)
        bytes++;
    if (bytes == 1)
        return PROF_EVALUE;
    added = prof_alloc(sizeof *added + bytes);
    if (added == NULL)
        return PROF_EMEMORY;
    *added = (struct prof_causal_wanted){.kind = kind};
    for (size_t i = 0; i < bytes; i++)
        added->name[i] = name[i];
    while (*end != NULL)
        end = &(*end)->next;
    *end = added;
    return PROF_OK;
}

static int set_option(const struct option *option, const char *value)
{
    bool valid;

    if (!option->is_there && !prof_equal(value, option->absent))
        return PROF_EABSENT;
    if (option->kind == FUNCTION)
        return PROF_WITH_CAUSAL
                   ? add_function((enum prof_causal_kind)option->least, value)
                   : PROF_EABSENT;
    if (option->kind == NUMBER)
        valid = set_number(option, value);
    else if (option->kind == NAME)
        valid = set_name(option, value);
    else
        valid = set_word(option, value);
    return valid ? PROF_OK : PROF_EVALUE;
}

int prof_option(const char *word)
{
    if (!PROF_WITH_OPTIONS)
        return PROF_EABSENT;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *value = value_of(word, options[i].key);

        if (value != NULL)
            return set_option(&options[i], value);
    }
    return PROF_EOPTION;
}
