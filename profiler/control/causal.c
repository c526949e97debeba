/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Causal experiments, as options and commands ask for them. Targets are those
 * that were named, or the hottest functions of the profile so far.
 *
 * Code that waits for something to happen is never chosen: it would only wait
 * less. That is the idle loop, what the kernel knows as polling, and, since
 * this is called by the event loop, whatever is on the stack now.
 */

#include "control/causal.h"

#include "base/busy.h"
#include "base/equal.h"
#include "base/format.h"
#include "causal/causal.h"
#include "causal/patch.h"
#include "control/control.h"
#include "aggregate/functions.h"
#include "aggregate/sums.h"
#include "sample/cpu_state.h"

#include <prof/causal.h>
#include <prof/config.h>
#include <prof/error.h>
#include <prof/frame.h>
#include <prof/name.h>
#include <prof/origin.h>
#include <prof/port.h>
#include <prof/text.h>

#define CHOSEN_MAX 5u
#define TRIED_MAX 16u
#define SAMPLES_MIN 500u /* that targets are chosen by */
#define LEAST_PERCENT 2u /* of the busy time, of a target with its callees */
#define MOST_PERCENT 95u
#define FRAMES_MAX 48u
#define LISTED_MAX 16u /* functions of one name */

static bool begun; /* what the options ask for */

/* ---- what is printed */

static void say(const char *name, const char *between, const char *what)
{
    struct prof_text out;

    prof_text_open(&out, prof_port_write);
    prof_text_format(&out, "causal: %s%s%s\n", name, between, what);
    prof_text_flush(&out);
}

static void say_chosen(const struct prof_symbol *symbol)
{
    struct prof_text out;

    prof_text_open(&out, prof_port_write);
    prof_text_string(&out, "causal: ");
    prof_name_write(&out, symbol, 0);
    prof_text_string(&out, " is a target\n");
    prof_text_flush(&out);
}

static void refuse(const char *name, int error)
{
    say(name, ": ", prof_strerror(error));
}

/* All functions (name), of which one is to be chosen. */
static void list_named(const char *name)
{
    struct prof_symbol symbol;
    struct prof_text out;
    uint32_t count = 0;
    uintptr_t at = 0;

    prof_text_open(&out, prof_port_write);
    while (prof_patch_next_named(name, &at, &symbol)) {
        if (++count > LISTED_MAX)
            continue;
        prof_text_string(&out, "causal:   ");
        prof_text_hex(&out, symbol.start, 2 * sizeof(void *));
        prof_text_char(&out, ' ');
        prof_name_write(&out, &symbol, 0);
        prof_text_char(&out, '\n');
    }
    if (count > LISTED_MAX)
        prof_text_format(&out, "causal:   and %u more\n", count - LISTED_MAX);
    prof_text_string(&out, "causal: name one by its address, such as 0x1234\n");
    prof_text_flush(&out);
}

/* ---- choosing targets */

struct choice {
    uintptr_t frames[FRAMES_MAX]; /* return addresses on the present stack */
    uint32_t frames_count;
    uintptr_t tried[TRIED_MAX];
    uint32_t tried_count;
    uint64_t busy; /* weight of all samples in functions */
};

static void walk_stack(struct choice *choice)
{
    const struct prof_stack_bounds *bounds = prof_cpu_here()->stack;
    struct prof_frame_walk frames = {.fp =
                                         (uintptr_t)__builtin_frame_address(0)};
    uintptr_t caller;

    if (bounds == NULL)
        return;
    frames.begin = bounds->begin;
    frames.last = bounds->last_frame * sizeof caller;
    while (choice->frames_count < FRAMES_MAX &&
           prof_frame_step(&frames, &caller))
        choice->frames[choice->frames_count++] = prof_origin(caller);
}

static bool is_among(const struct prof_function *function,
                     const uintptr_t *addresses, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (addresses[i] - function->record.key < function->bytes)
            return true;
    return false;
}

static bool is_eligible(const struct choice *choice,
                        const struct prof_function *function)
{
    const struct prof_range *idle = &prof_control_config()->idle;
    uintptr_t begin = (uintptr_t)function->record.key;

    return prof_function_is_named(function) &&
           function->total * 100 >= choice->busy * LEAST_PERCENT &&
           function->total * 100 <= choice->busy * MOST_PERCENT &&
           (begin >= idle->end || begin + function->bytes <= idle->begin) &&
           !prof_causal_polls(begin, function->bytes) &&
           !is_among(function, choice->frames, choice->frames_count) &&
           !is_among(function, choice->tried, choice->tried_count);
}

/* What is hot by itself comes first, then what is with its callees. */
static uint64_t heat(const struct prof_function *function)
{
    return prof_sums_weight(&function->self) + function->total / 2;
}

static const struct prof_function *hottest(const struct choice *choice)
{
    const struct prof_function *found = NULL;

    for (uint32_t i = 1; i < prof_functions.used; i++) {
        const struct prof_function *each = prof_function_at(i);

        if (is_eligible(choice, each) &&
            (found == NULL || heat(each) > heat(found)))
            found = each;
    }
    return found;
}

static enum prof_causal_kind kind_of_target(void)
{
    switch (prof_options()->accrue) {
    case PROF_ACCRUE_ENTRY:
        return PROF_CAUSAL_TARGET_ENTRY;
    case PROF_ACCRUE_SMOOTH:
        return PROF_CAUSAL_TARGET_SAMPLES;
    default:
        return PROF_CAUSAL_TARGET;
    }
}

/* Adds the hottest functions that can be targets. Returns how many. */
static uint32_t choose_targets(void)
{
    struct choice choice = {0};
    const struct prof_function *function;
    struct prof_symbol symbol;
    uint32_t chosen = 0;

    walk_stack(&choice);
    (void)prof_sums();
    for (uint32_t i = 1; i < prof_functions.used; i++)
        choice.busy += prof_sums_weight(&prof_function_at(i)->self);
    while (chosen < CHOSEN_MAX && choice.tried_count < TRIED_MAX &&
           (function = hottest(&choice)) != NULL) {
        uintptr_t address = (uintptr_t)function->record.key;

        choice.tried[choice.tried_count++] = address;
        if (prof_causal_add_address(address, kind_of_target()) != 0)
            continue;
        chosen++;
        if (prof_symbol_find(address, &symbol))
            say_chosen(&symbol);
    }
    return chosen;
}

/* ---- start and stop */

static void add_wanted(void)
{
    for (struct prof_causal_wanted *each = prof_causal_wanted; each != NULL;
         each = each->next) {
        enum prof_causal_kind kind =
            each->kind == PROF_CAUSAL_TARGET ? kind_of_target() : each->kind;
        int error =
            each->added ? PROF_OK : prof_causal_add_function(each->name, kind);

        each->added = true;
        if (error != PROF_OK)
            refuse(each->name, error);
        if (error == PROF_EPATCH_NAMES)
            list_named(each->name);
    }
}

static bool is_wanted(bool progress)
{
    for (const struct prof_causal_wanted *each = prof_causal_wanted;
         each != NULL; each = each->next)
        if ((each->kind == PROF_CAUSAL_PROGRESS) == progress)
            return true;
    return false;
}

/* Why experiments cannot begin: what is missing, though it may have been named.
 * Returns the error. */
static int say_what_is_missing(void)
{
    if (prof_causal.targets != NULL && prof_causal.points != NULL)
        return PROF_ECONFIG;
    if (prof_causal.targets == NULL)
        say("no target", ": ",
            is_wanted(false) ? "what prof.target= names was refused"
            : prof_options()->causal == PROF_CAUSAL_MODE_AUTO
                ? "no function is hot, and can be one"
                : "prof.target= names one, prof.causal=auto chooses");
    if (prof_causal.points == NULL)
        say("no progress point", ": ",
            is_wanted(true) ? "what prof.progress= names was refused"
                            : "prof.progress= names one");
    return PROF_ECAUSAL;
}

int prof_causal_begin(void)
{
    const struct prof_causal_settings settings = {
        .tsc_hz = prof_control_config()->tsc_hz,
        .seed = prof_options()->seed,
    };

    if (prof_causal_running())
        return PROF_ECAUSAL_RUNS;
    prof_enter(); /* the tables stay as they are */
    add_wanted();
    if (prof_options()->causal == PROF_CAUSAL_MODE_AUTO)
        (void)choose_targets();
    prof_leave();
    switch (prof_causal_start(&settings)) {
    case PROF_OK:
        say("experiments", " ", "have begun");
        return PROF_OK;
    case PROF_EVALUE:
        return say_what_is_missing();
    case PROF_EMEMORY:
        return PROF_ECAUSAL_MEMORY;
    default:
        return PROF_ECAUSAL_RUNS;
    }
}

static bool is_enough(void)
{
    struct prof_stats stats;

    if (prof_options()->causal != PROF_CAUSAL_MODE_AUTO)
        return true;
    prof_stats(&stats);
    return stats.attributed >= SAMPLES_MIN;
}

void prof_causal_step(void)
{
    int error;

    if (begun || prof_options()->causal == PROF_CAUSAL_MODE_OFF || !is_enough())
        return;
    begun = true;
    error = prof_causal_begin();
    if (error != PROF_OK)
        refuse("no experiments", error);
}
