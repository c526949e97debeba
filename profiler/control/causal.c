/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Causal experiments, as options and commands ask for them. Targets are those
 * that were named, or the hottest functions of the profile so far.
 *
 * Code that waits for something to happen is never chosen: it would only wait
 * less. That is the idle loop, what the kernel knows as polling, and, since
 * this is called by the event loop, whatever is on the stack now.
 */

#include "control/control.h"

#include "base/busy.h"
#include "base/equal.h"
#include "causal/causal.h"
#include "causal/pace.h"
#include "causal/patch.h"
#include "causal/untried.h"
#include "aggregate/functions.h"
#include "aggregate/sums.h"
#include "sample/cpu_state.h"
#include "sample/cpus.h"

#include <prof/causal.h>
#include <prof/config.h>
#include <prof/error.h>
#include <prof/frame.h>
#include <prof/name.h>
#include <prof/origin.h>
#include <prof/port.h>
#include <prof/text.h>

#define CHOSEN_MAX 64u
#define SAMPLES_MIN 500u   /* that targets are chosen by, at first */
#define FIRST 5u           /* hottest targets, that others wait for */
#define LEAST_PERMILLE 5u  /* of the busy time, of a target with its callees */
#define MOST_PERMILLE 900u /* of one that is nearly all of the program */
#define FRAMES_MAX 48u
#define LISTED_MAX 16u /* functions of one name */
#define PERCENT_PPM 10000u

static bool begun; /* what the options ask for */
static uint64_t samples_needed = SAMPLES_MIN;

/* ---- what is printed */

static void say(const char *name, const char *between, const char *what)
{
    struct prof_text out;

    prof_text_open(&out, prof_port_write);
    prof_text_format(&out, "causal: %s%s%s\n", name, between, what);
    prof_text_flush(&out);
}

static void refuse(const char *name, int error)
{
    say(name, ": ", prof_strerror(error));
}

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
    uint64_t busy;      /* weight of all samples in functions */
    uint64_t last_heat; /* of the function that was looked at last, */
    uint32_t last;      /* its number; 0: none was */
    uint32_t chosen;
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

static bool is_hot(const struct choice *choice,
                   const struct prof_function *function)
{
    return prof_function_is_named(function) &&
           function->total * 1000 >= choice->busy * LEAST_PERMILLE;
}

/* Why (function) cannot be one, or PROF_UNTRIED_NOT. */
static enum prof_untried_why why_not(const struct choice *choice,
                                     const struct prof_function *function)
{
    const struct prof_range *idle = &prof_control_config()->idle;
    uintptr_t begin = (uintptr_t)function->record.key;

    if (prof_causal_apart(begin, function->bytes))
        return PROF_UNTRIED_APART;
    if ((begin < idle->end && begin + function->bytes > idle->begin) ||
        prof_causal_polls(begin, function->bytes))
        return PROF_UNTRIED_WAITS;
    if (is_among(function, choice->frames, choice->frames_count))
        return PROF_UNTRIED_LOOP;
    if (function->total * 1000 > choice->busy * MOST_PERMILLE)
        return PROF_UNTRIED_MOST;
    return choice->chosen == CHOSEN_MAX ? PROF_UNTRIED_ROOM : PROF_UNTRIED_NOT;
}

/* What is hot by itself comes first, then what is with its callees: of a chain
 * of calls that do little but call each other, all say the same. */
static uint64_t heat(const struct prof_function *function)
{
    return prof_sums_weight(&function->self) + function->total / 32;
}

/* The hottest function after the last one, of those that are as hot by their
 * numbers; NULL: that was all. */
static const struct prof_function *next_hottest(struct choice *choice)
{
    const struct prof_function *found = NULL;
    uint64_t most = 0;
    uint32_t number = 0;

    for (uint32_t i = 1; i < prof_functions.used; i++) {
        const struct prof_function *each = prof_function_at(i);
        uint64_t hot = heat(each);

        if (choice->last != 0 &&
            (hot > choice->last_heat ||
             (hot == choice->last_heat && i <= choice->last)))
            continue;
        if (!is_hot(choice, each) || (found != NULL && hot <= most))
            continue;
        found = each;
        most = hot;
        number = i;
    }
    choice->last_heat = most;
    choice->last = number;
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

static uint32_t ppm_of(const struct choice *choice, uint64_t weight)
{
    uint64_t busy = choice->busy;

    while (busy > UINT32_MAX) {
        busy >>= 1;
        weight >>= 1;
    }
    return busy == 0 ? 0
                     : (uint32_t)prof_divide(weight * 1000000, (uint32_t)busy);
}

static void choose(struct choice *choice, const struct prof_function *function)
{
    const uintptr_t address = (uintptr_t)function->record.key;
    struct prof_untried untried = {.why = why_not(choice, function),
                                   .functions = 1};
    struct prof_symbol symbol;

    if (!prof_symbol_find(address, &symbol))
        return;
    if (untried.why == PROF_UNTRIED_NOT &&
        prof_causal_add_address(address, kind_of_target()) != PROF_OK)
        untried.why = PROF_UNTRIED_REFUSED;
    prof_patch_name(&symbol, untried.name, sizeof untried.name);
    if (untried.why == PROF_UNTRIED_NOT) {
        say(untried.name, " ", "is a target");
        choice->chosen++;
        return;
    }
    untried.ppm = ppm_of(choice, function->total);
    prof_untried_add(&untried);
}

/* What all others have by themselves, and how many they are. */
static void count_cold(const struct choice *choice)
{
    struct prof_untried cold = {.why = PROF_UNTRIED_COLD};
    uint64_t weight = 0;

    for (uint32_t i = 1; i < prof_functions.used; i++) {
        const struct prof_function *each = prof_function_at(i);

        if (is_hot(choice, each))
            continue;
        cold.functions++;
        weight += prof_sums_weight(&each->self);
    }
    cold.ppm = ppm_of(choice, weight);
    if (cold.functions != 0)
        prof_untried_add(&cold);
}

static void choose_targets(void)
{
    struct choice choice = {0};
    const struct prof_function *function;

    walk_stack(&choice);
    (void)prof_sums();
    prof_untried_clear();
    for (uint32_t i = 1; i < prof_functions.used; i++)
        choice.busy += prof_sums_weight(&prof_function_at(i)->self);
    while ((function = next_hottest(&choice)) != NULL)
        choose(&choice, function);
    count_cold(&choice);
}

/* Without memory for experiments with all targets, the coldest of those that
 * were chosen are given up. */
static int start_with_memory(const struct prof_causal_settings *settings,
                             uint32_t named)
{
    const uint32_t least = named != 0 ? named : 1;
    int error;

    while ((error = prof_causal_start(settings)) == PROF_EMEMORY &&
           prof_causal.targets->number > least)
        prof_untried_give_up();
    return error;
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

int prof_causal_want(const char *name)
{
    if (prof_causal_running())
        return PROF_ECAUSAL_RUNS;
    return prof_causal_add_function(name, kind_of_target());
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
                ? "no hot function can be a target yet"
                : "prof.target= names one, prof.causal=auto chooses");
    if (prof_causal.points == NULL)
        say("no progress point", ": ",
            is_wanted(true) ? "what prof.progress= names was refused"
                            : "prof.progress= names one");
    return PROF_ECAUSAL;
}

static bool are_several_cpus(void)
{
    return prof_cpu_count() > 1;
}

/* Experiments that can begin: with what, and how many targets were named. */
bool prof_causal_ended;
static bool after; /* the rate of progress is watched once more */

static void end_all(void)
{
    after = false;
    prof_causal_report();
    prof_causal_ended = true;
}

struct plan {
    struct prof_causal_settings settings;
    uint32_t named;
};

/* Adds targets and points. Returns 0, or why there can be no experiments. */
static int make_plan(struct plan *plan)
{
    const bool chooses = prof_options()->causal == PROF_CAUSAL_MODE_AUTO;

    if (prof_causal_running())
        return PROF_ECAUSAL_RUNS;
    if (are_several_cpus())
        return PROF_ECAUSAL_CPUS;
    prof_pace_end();
    if (after) /* the table of the experiments before is not lost */
        end_all();
    prof_enter(); /* the tables stay as they are */
    add_wanted();
    plan->named = prof_causal.targets == NULL ? 0 : prof_causal.targets->number;
    if (chooses)
        choose_targets();
    plan->settings = (struct prof_causal_settings){
        .tsc_hz = prof_control_config()->tsc_hz,
        .seed = prof_options()->seed,
        .rotates = chooses,
        .weighs = prof_options()->causal_until != 0,
        .first = plan->named + FIRST,
        .narrow = prof_options()->causal_until,
    };
    prof_leave();
    return PROF_OK;
}

static int carry_out(const struct plan *plan)
{
    switch (start_with_memory(&plan->settings, plan->named)) {
    case PROF_OK:
        prof_causal_ended = false;
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

int prof_causal_begin(void)
{
    struct plan plan;
    int error = make_plan(&plan);

    return error != PROF_OK ? error : carry_out(&plan);
}

static bool is_enough(void)
{
    struct prof_stats stats;

    if (prof_options()->causal != PROF_CAUSAL_MODE_AUTO)
        return true;
    prof_stats(&stats);
    return stats.attributed >= samples_needed;
}

/* ---- how long they take */

/* As the table has it: with what the number of samples leaves open. */
static bool is_narrow(const struct prof_target *target, uint32_t ppm)
{
    const uint32_t count = prof_causal.experiments.settings.speedups - 1;
    const struct prof_progress *first = prof_causal_first_point();
    struct prof_gain gain;

    for (uint32_t i = 0; i < count && target->visits != 0; i++)
        if (prof_causal_gain(target, i, first, &gain) != PROF_OK ||
            gain.interval_ppm > ppm)
            return false;
    return true;
}

static bool are_narrow(uint32_t percent)
{
    /* cheap, and nearly right */
    if (!prof_experiments_reach(&prof_causal.experiments, percent))
        return false;
    for (const struct prof_target *each = prof_causal.targets; each != NULL;
         each = each->next)
        if (!is_narrow(each, percent * PERCENT_PPM))
            return false;
    return true;
}

static void end_if_enough(void)
{
    const uint32_t seconds = prof_options()->causal_for_s;
    const uint32_t percent = prof_options()->causal_until;
    const uint64_t cycles = prof_tsc() - prof_causal.started;
    const bool narrow = percent != 0 && are_narrow(percent);

    if (!narrow && (seconds == 0 || cycles < seconds * prof_causal.tsc_hz))
        return;
    prof_causal_stop();
    say("experiments", " have ended: ",
        narrow ? "no interval is wider than prof.causal_until="
               : "they took as long as prof.causal_for=");
    after = prof_pace_watch(PROF_RATE_AFTER, prof_causal.tsc_hz);
    if (!after)
        end_all();
}

/* Whether targets can be chosen again with more samples: the first ones may be
 * of the start alone, in which one function had nearly all of the time. */
static bool may_choose_later(int error)
{
    return error == PROF_ECAUSAL && prof_causal.targets == NULL &&
           prof_causal.points != NULL &&
           prof_options()->causal == PROF_CAUSAL_MODE_AUTO;
}

static void begin_wanted(const struct plan *plan)
{
    int error = carry_out(plan);

    if (may_choose_later(error)) {
        begun = false;
        samples_needed *= 2;
    } else if (error != PROF_OK) {
        refuse("no experiments", error);
    }
}

void prof_causal_step(void)
{
    static struct plan plan;
    int error;

    if (prof_causal_running()) {
        end_if_enough();
        return;
    }
    if (prof_pace_watches()) {
        if (!prof_pace_has_lasted())
            return;
        prof_pace_end();
        if (!after) {
            begin_wanted(&plan);
            return;
        }
    }
    if (after) { /* it may have been stopped, too */
        end_all();
        return;
    }
    if (begun || prof_options()->causal == PROF_CAUSAL_MODE_OFF ||
        (!are_several_cpus() && !is_enough()))
        return;
    begun = true;
    error = make_plan(&plan);
    if (error != PROF_OK)
        refuse("no experiments", error);
    else if (prof_causal.targets == NULL ||
             !prof_pace_watch(PROF_RATE_BEFORE, plan.settings.tsc_hz))
        begin_wanted(&plan);
}
