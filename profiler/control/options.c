/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The profiler's settings, and prof_option(), which changes them. Options that
 * take a number or one of some words are rows of two tables; set_choice() has
 * all others.
 */

#include "base/equal.h"
#include "base/options.h"
#include "control/causal.h"

#include <prof/config.h>
#include <prof/format.h>
#include <prof/prof.h>

static char callers[128]; /* prof.callers */
static char vmm[128];     /* prof.vmm */

/* Rates above PROF_HZ_MAX are lowered to it; one above this is a typing
 * error. */
#define HZ_ASKABLE_MAX 1000000000u

/* The options that take a number, with inclusive bounds. */
static const struct number {
    const char *key;
    uint32_t *value;
    uint32_t least;
    uint32_t most;
} numbers[] = {
    {"prof.hz", &prof_options_in_force.hz, 1, HZ_ASKABLE_MAX},
    {"prof.top", &prof_options_in_force.top, 1, 1000000},
    {"prof.width", &prof_options_in_force.width, 0, 65535},
    {"prof.every", &prof_options_in_force.every_ms, 0, 86400000},
    {"prof.drain", &prof_options_in_force.drain_ms, 1, 10000},
    {"prof.reports", &prof_options_in_force.reports, 0, UINT32_MAX},
    {"prof.depth", &prof_options_in_force.depth, 0, 127},
    {"prof.jitter", &prof_options_in_force.jitter_percent, 0, 50},
    {"prof.seed", &prof_options_in_force.seed, 0, UINT32_MAX},
    {"prof.share", &prof_options_in_force.share_kib, 64, 1u << 20},
    {"prof.trace_kb", &prof_options_in_force.trace_kib, 24, 1u << 20},
    {"prof.trace_stacks", &prof_options_in_force.trace_stacks, 0,
     PROF_SUSPEND_DEPTH_MAX},
    {"prof.loop", &prof_options_in_force.loop_rows, 0, 4096},
    {"prof.loop_kb", &prof_options_in_force.loop_kib, 48, 1u << 20},
    {"prof.loop_held", &prof_options_in_force.loop_held_ms, 0, 3600000},
    {"prof.loop_freeze", &prof_options_in_force.loop_freeze_ms, 0, 3600000},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The value in (word), which is "KEY=VALUE"; NULL if its key is not (key). */
static const char *value_of(const char *word, const char *key)
{
    while (*key != '\0')
        if (*word++ != *key++)
            return NULL;
    return *word == '=' ? word + 1 : NULL;
}

/* Parses a decimal number in [least, most] and stores it. False, with nothing
 * stored: it is none. The bound is checked at each digit, so no overflow. */
static bool parse_number(const char *text, const struct number *number)
{
    uint64_t value = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = value * 10 + (uint64_t)(*text - '0');
        if (value > number->most)
            return false;
    }
    if (value < number->least)
        return false;
    *number->value = (uint32_t)value;
    return true;
}

/* The options whose value is one of some words, and where its number is stored;
 * each word ends with a NUL, the last one with another. */
static const struct choice {
    const char *key;
    void *value;
    size_t bytes; /* of it: a bool, or an enum in the order of the words */
    const char *words;
} choices[] = {
#define CHOICE(key, member, words)                                             \
    {                                                                          \
        key, &prof_options_in_force.member,                                    \
            sizeof prof_options_in_force.member, words "\0"                    \
    }
    CHOICE("prof.weight", weight, "time\0count"),
    CHOICE("prof.form", form, "shares\0classic"),
    CHOICE("prof.start", start, "off\0on"),
    CHOICE("prof.tick_drains", tick_drains, "off\0on"),
    CHOICE("prof.report", report, "top\0tree\0folded"),
    CHOICE("prof.trace", trace, "off\0stream\0flight"),
    CHOICE("prof.loop_by", loop_by, "own\0total\0longest"),
    CHOICE("prof.loop_trigger", loop_trigger, "off\0on"),
    CHOICE("prof.causal", causal, "off\0on\0auto"),
    CHOICE("prof.accrue", accrue, "auto\0entry\0smooth"),
#undef CHOICE
};

/* Names of all transports that an image may offer (<prof/transport.h>). Whether
 * this one does is found out later, by prof_transport_choose(). */
static const char outs[] = "off\0serial\0uart2\0e9\0virtio\0shm\0";

/* The word among (words) that (text) is, and its (*number); NULL: none. */
static const char *find_word(const char *text, const char *words,
                             uint32_t *number)
{
    for (*number = 0; *words != '\0'; (*number)++) {
        if (prof_equal(text, words))
            return words;
        while (*words++ != '\0')
            continue;
    }
    return NULL;
}

static int want(enum prof_causal_kind kind, const char *name)
{
    return PROF_WITH_CAUSAL ? prof_causal_want(kind, name) : PROF_EABSENT;
}

/* Copies a function's name into (name), which has (room) bytes, and makes it
 * the (*option). False: too long, and nothing is copied. */
static bool parse_name(const char *value, char *name, size_t room,
                       const char **option)
{
    size_t bytes = 0;

    while (value[bytes] != '\0')
        if (++bytes == room)
            return false;
    for (size_t i = 0; i <= bytes; i++)
        name[i] = value[i];
    *option = name;
    return true;
}

static bool parse_out(const char *value)
{
    uint32_t number;
    const char *out = find_word(value, outs, &number);

    if (out != NULL)
        prof_options_in_force.out = out;
    return out != NULL;
}

/* Options whose value is a word or a name. PROF_EOPTION: none of these keys. */
static int set_choice(const char *word)
{
    const char *value;
    bool valid;

    for (size_t i = 0; i < COUNT(choices); i++) {
        uint32_t number;

        if ((value = value_of(word, choices[i].key)) == NULL)
            continue;
        if (find_word(value, choices[i].words, &number) == NULL)
            return PROF_EVALUE;
        if (choices[i].bytes == sizeof(bool))
            *(bool *)choices[i].value = number != 0;
        else
            *(uint32_t *)choices[i].value = number;
        return PROF_OK;
    }
    if ((value = value_of(word, "prof.out")) != NULL)
        valid = parse_out(value);
    else if ((value = value_of(word, "prof.callers")) != NULL)
        valid = parse_name(value, callers, sizeof callers,
                           &prof_options_in_force.callers);
    else if ((value = value_of(word, "prof.vmm")) != NULL)
        valid = parse_name(value, vmm, sizeof vmm, &prof_options_in_force.vmm);
    else if ((value = value_of(word, "prof.target")) != NULL)
        return want(PROF_CAUSAL_TARGET, value);
    else if ((value = value_of(word, "prof.progress")) != NULL)
        return want(PROF_CAUSAL_PROGRESS, value);
    else
        return PROF_EOPTION;
    return valid ? PROF_OK : PROF_EVALUE;
}

#define ALL_IN                                                                 \
    (PROF_WITH_CALLERS && PROF_WITH_STREAM && PROF_WITH_TRACE &&               \
     PROF_WITH_TREES && PROF_WITH_PIT && PROF_WITH_CLASSES &&                  \
     PROF_WITH_LOOP && PROF_WITH_CAUSAL && PROF_WITH_BUILTIN)

/* Options of parts that may have been left out, and the only value that is
 * accepted then; "" = none is. */
static const struct part {
    bool is_there;
    const char *key;
    const char *value;
} parts[] = {
    {PROF_WITH_PIT, "prof.jitter", "0"},
    {PROF_WITH_CLASSES, "prof.vmm", ""},
    {PROF_WITH_CALLERS, "prof.depth", "0"},
    {PROF_WITH_STREAM, "prof.out", "off"},
    {PROF_WITH_STREAM, "prof.share", ""},
    {PROF_WITH_TRACE, "prof.trace", "off"},
    {PROF_WITH_TRACE, "prof.trace_kb", ""},
    {PROF_WITH_TRACE, "prof.trace_stacks", "0"},
    {PROF_WITH_LOOP, "prof.loop", "0"},
    {PROF_WITH_LOOP, "prof.loop_by", ""},
    {PROF_WITH_LOOP, "prof.loop_kb", ""},
    {PROF_WITH_LOOP, "prof.loop_held", ""},
    {PROF_WITH_LOOP, "prof.loop_freeze", ""},
    {PROF_WITH_LOOP, "prof.loop_trigger", ""},
    {PROF_WITH_CAUSAL, "prof.causal", "off"},
    {PROF_WITH_CAUSAL, "prof.accrue", ""},
    {PROF_WITH_CAUSAL, "prof.target", ""},
    {PROF_WITH_CAUSAL, "prof.progress", ""},
    {PROF_WITH_TREES, "prof.report", "top"},
    {PROF_WITH_TREES, "prof.callers", ""},
    {PROF_WITH_BUILTIN, "prof.tick_drains", "off"},
};

/* Whether (word) needs a part that is not in this build. */
static bool is_left_out(const char *word)
{
    for (size_t i = 0; i < COUNT(parts); i++) {
        const char *value = value_of(word, parts[i].key);

        if (value != NULL && !parts[i].is_there)
            return !prof_equal(value, parts[i].value);
    }
    return false;
}

int prof_option(const char *word)
{
    if (!PROF_WITH_OPTIONS || (!ALL_IN && is_left_out(word)))
        return PROF_EABSENT;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        const char *value = value_of(word, numbers[i].key);

        if (value != NULL)
            return parse_number(value, &numbers[i]) ? PROF_OK : PROF_EVALUE;
    }
    return set_choice(word);
}
