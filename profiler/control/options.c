/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The profiler's settings, and prof_option(), which changes them. Options that
 * take a number are rows of the table below; set_choice() has all others.
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

/* 0 if (text) is the word (zero), 1 if it is (one), else -1. */
static int parse_either(const char *text, const char *zero, const char *one)
{
    if (prof_equal(text, zero))
        return 0;
    return prof_equal(text, one) ? 1 : -1;
}

/* Names of all transports that an image may offer (<prof/transport.h>). Whether
 * this one does is found out later, by prof_transport_choose(). */
static const char *const outs[] = {"off", "serial", "uart2",
                                   "e9",  "virtio", "shm"};

static int parse_out(const char *value)
{
    for (size_t i = 0; i < COUNT(outs); i++)
        if (prof_equal(value, outs[i])) {
            prof_options_in_force.out = outs[i];
            return 0;
        }
    return -1;
}

/* Which of (words) the text (value) is, -1: none. */
static int parse_word(const char *value, const char *const words[3])
{
    for (int i = 0; i < 3; i++)
        if (prof_equal(value, words[i]))
            return i;
    return -1;
}

/* In the order of enum prof_report_kind. */
static int parse_report(const char *value)
{
    static const char *const kinds[3] = {"top", "tree", "folded"};
    int kind = parse_word(value, kinds);

    if (kind >= 0)
        prof_options_in_force.report = (enum prof_report_kind)kind;
    return kind;
}

/* In the order of enum prof_trace_mode. */
static int parse_trace(const char *value)
{
    static const char *const modes[3] = {"off", "stream", "flight"};
    int mode = parse_word(value, modes);

    if (mode >= 0)
        prof_options_in_force.trace = (enum prof_trace_mode)mode;
    return mode;
}

/* In the order of enum prof_loop_by. */
static int parse_loop_by(const char *value)
{
    static const char *const orders[3] = {"own", "total", "longest"};
    int order = parse_word(value, orders);

    if (order >= 0)
        prof_options_in_force.loop_by = (enum prof_loop_by)order;
    return order;
}

/* In the order of enum prof_causal_mode. */
static int parse_causal(const char *value)
{
    static const char *const modes[3] = {"off", "on", "auto"};
    int mode = parse_word(value, modes);

    if (mode >= 0)
        prof_options_in_force.causal = (enum prof_causal_mode)mode;
    return mode;
}

/* In the order of enum prof_accrue_mode. */
static int parse_accrue(const char *value)
{
    static const char *const modes[3] = {"auto", "entry", "smooth"};
    int mode = parse_word(value, modes);

    if (mode >= 0)
        prof_options_in_force.accrue = (enum prof_accrue_mode)mode;
    return mode;
}

static int want(enum prof_causal_kind kind, const char *name)
{
    return PROF_WITH_CAUSAL ? prof_causal_want(kind, name) : PROF_EABSENT;
}

/* Copies a function's name into (name), which has (room) bytes. -1: too long,
 * and nothing is copied. */
static int parse_name(const char *value, char *name, size_t room)
{
    size_t bytes = 0;

    while (value[bytes] != '\0')
        if (++bytes == room)
            return -1;
    for (size_t i = 0; i <= bytes; i++)
        name[i] = value[i];
    return 0;
}

/* Options whose value is a word or a name. PROF_EOPTION: none of these keys. */
static int set_choice(const char *word)
{
    const char *value;
    int choice;

    if ((value = value_of(word, "prof.weight")) != NULL) {
        choice = parse_either(value, "time", "count");
        if (choice >= 0)
            prof_options_in_force.weight = (enum prof_weight)choice;
    } else if ((value = value_of(word, "prof.form")) != NULL) {
        choice = parse_either(value, "shares", "classic");
        if (choice >= 0)
            prof_options_in_force.form = (enum prof_form)choice;
    } else if ((value = value_of(word, "prof.start")) != NULL) {
        choice = parse_either(value, "off", "on");
        if (choice >= 0)
            prof_options_in_force.start = choice == 1;
    } else if ((value = value_of(word, "prof.tick_drains")) != NULL) {
        choice = parse_either(value, "off", "on");
        if (choice >= 0)
            prof_options_in_force.tick_drains = choice == 1;
    } else if ((value = value_of(word, "prof.out")) != NULL) {
        choice = parse_out(value);
    } else if ((value = value_of(word, "prof.report")) != NULL) {
        choice = parse_report(value);
    } else if ((value = value_of(word, "prof.trace")) != NULL) {
        choice = parse_trace(value);
    } else if ((value = value_of(word, "prof.loop_by")) != NULL) {
        choice = parse_loop_by(value);
    } else if ((value = value_of(word, "prof.loop_trigger")) != NULL) {
        choice = parse_either(value, "off", "on");
        if (choice >= 0)
            prof_options_in_force.loop_trigger = choice == 1;
    } else if ((value = value_of(word, "prof.callers")) != NULL) {
        choice = parse_name(value, callers, sizeof callers);
        prof_options_in_force.callers = callers;
    } else if ((value = value_of(word, "prof.vmm")) != NULL) {
        choice = parse_name(value, vmm, sizeof vmm);
        prof_options_in_force.vmm = vmm;
    } else if ((value = value_of(word, "prof.causal")) != NULL) {
        choice = parse_causal(value);
    } else if ((value = value_of(word, "prof.accrue")) != NULL) {
        choice = parse_accrue(value);
    } else if ((value = value_of(word, "prof.target")) != NULL) {
        return want(PROF_CAUSAL_TARGET, value);
    } else if ((value = value_of(word, "prof.progress")) != NULL) {
        return want(PROF_CAUSAL_PROGRESS, value);
    } else {
        return PROF_EOPTION;
    }
    return choice >= 0 ? PROF_OK : PROF_EVALUE;
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
