/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions are found by name, checked, given an entry, patched and restored.
 * An entry belongs to its function forever, and so does what is in it.
 */

#include "causal/patch.h"

#include "base/alloc.h"
#include "base/equal.h"
#include "base/own_code.h"
#include "causal/relocate.h"
#include "causal/causal.h"
#include "causal/own.h"
#include "causal/ranges.h"
#include "causal/shares.h"
#include "sample/cpu_state.h"

#include <prof/error.h>
#include <prof/name.h>
#include <prof/origin.h>
#include <prof/port.h>
#include <prof/symbols.h>

#define OWN "prof_" /* functions of the profiler */

/* Below this, hook overhead dominates. */
#define CYCLES_A_VISIT 5000u

static struct prof_image_code code;

void prof_causal_code(const struct prof_image_code *given)
{
    code = *given;
}

const struct prof_image_code *prof_patch_code(void)
{
    return &code;
}

bool prof_causal_polls(uintptr_t begin, size_t bytes)
{
    return code.polls != NULL && code.polls(begin, bytes);
}

static bool (*is_apart)(uintptr_t begin, size_t bytes);

void prof_causal_leave_out_code(bool (*given)(uintptr_t begin, size_t bytes))
{
    is_apart = given;
}

bool prof_causal_apart(uintptr_t begin, size_t bytes)
{
    return is_apart != NULL && is_apart(begin, bytes);
}

static void measure_by_samples(struct prof_patched *function)
{
    function->target.by_samples = true;
    function->target.on_trial = false;
}

/* ---- by name */

static bool begins(const char *text, const char *with)
{
    while (*with != '\0')
        if (*text++ != *with++)
            return false;
    return true;
}

static bool contains(const char *text, const char *part)
{
    for (; *text != '\0'; text++)
        if (begins(text, part))
            return true;
    return false;
}

/* The part after the last "::" of a name, which its mangled form contains. */
static const char *last_part(const char *name)
{
    const char *last = name;

    for (; *name != '\0' && *name != '(' && *name != '<'; name++)
        if (*name == ':')
            last = name + 1;
    return *name == '\0' ? last : "";
}

/* Comparing mangled names first: to demangle thousands takes too long. */
static bool is_named(const struct prof_symbol *symbol, const char *name)
{
    char mangled[256];
    size_t bytes = prof_symbol_name(symbol, mangled, sizeof mangled);

    if (bytes < sizeof mangled && !contains(mangled, last_part(name)))
        return false;
    return prof_name_is(symbol, name);
}

/* The name of a part of a function, or of one with constant arguments, has a
 * dot. */
static bool is_clone(const struct prof_symbol *symbol)
{
    char mangled[256];

    (void)prof_symbol_name(symbol, mangled, sizeof mangled);
    return contains(mangled, ".");
}

bool prof_patch_next_named(const char *name, uintptr_t *at,
                           struct prof_symbol *symbol)
{
    if (*at < code.begin)
        *at = code.begin;
    while (*at < code.end) {
        if (!prof_symbol_find(*at, symbol)) {
            ++*at;
            continue;
        }
        *at = symbol->start + symbol->size;
        if (is_named(symbol, name))
            return true;
    }
    return false;
}

/* "0x1234", which is no function's name. */
static bool is_address(const char *name, uintptr_t *address)
{
    unsigned digits = 0;

    *address = 0;
    if (name[0] != '0' || (name[1] != 'x' && name[1] != 'X'))
        return false;
    for (name += 2; *name != '\0'; name++, digits++) {
        unsigned digit = (uint8_t)*name - '0';

        if (digit > 9)
            digit = ((uint8_t)*name | 0x20u) - 'a' + 10;
        if (digit > 15 || digit < (*name > '9' ? 10u : 0u))
            return false;
        *address = *address << 4 | digit;
    }
    return digits > 0 && digits <= 2 * sizeof *address;
}

/* The only function (name), or without one the only clone. */
static int find_function(const char *name, struct prof_symbol *found)
{
    struct prof_symbol symbol, clone;
    uint32_t functions = 0, clones = 0;
    uintptr_t at = 0;

    if (is_address(name, &at))
        return prof_symbol_find(at, found) ? 0 : PROF_EPATCH_NAME;
    at = 0;
    while (prof_patch_next_named(name, &at, &symbol)) {
        if (is_clone(&symbol)) {
            clones++;
            clone = symbol;
        } else {
            functions++;
            *found = symbol;
        }
    }
    if (functions == 0 && clones == 1)
        *found = clone;
    if (functions + clones == 0)
        return PROF_EPATCH_NAME;
    return functions == 1 || (functions == 0 && clones == 1)
               ? 0
               : PROF_EPATCH_NAMES;
}

/* ---- entries */

static char *name_end; /* of what keep_name() writes, and the room left */
static size_t name_room;

static void add_to_name(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes && name_room > 1; i++, name_room--)
        *name_end++ = text[i];
    *name_end = '\0';
}

/* A table has no room for arguments. */
void prof_patch_name(const struct prof_symbol *symbol, char *name, size_t room)
{
    struct prof_text out;

    name_end = name;
    name_room = room;
    prof_text_open(&out, add_to_name);
    prof_name_write(&out, symbol, 0);
    prof_text_flush(&out);
    for (char *at = name + 1; *at != '\0'; at++)
        if (*at == '(' && at[-1] != ':' && at[-1] != ' ') {
            *at = '\0';
            break;
        }
}

uintptr_t prof_patch_entry(const struct prof_patched *function)
{
    return (uintptr_t)prof_patch_entries +
           (uintptr_t)(function - prof_patch->functions) * PROF_ENTRY_BYTES;
}

/* A hook must not be entered through an entry, without end: so none of the
 * profiler's functions may have one. Static ones are known by where they are,
 * and the hooks also in images where that is not known. */
static bool is_own(const struct prof_symbol *symbol)
{
    const uintptr_t at = symbol->start;
    const uintptr_t hooks = (uintptr_t)prof_patch_entries;
    char mangled[sizeof OWN];

    (void)prof_symbol_name(symbol, mangled, sizeof mangled);
    return begins(mangled, OWN) || prof_code_is_own(at) ||
           at - hooks < (uintptr_t)prof_patch_hooks_end - hooks;
}

static int new_function(const struct prof_symbol *symbol,
                        struct prof_patched **added)
{
    struct prof_patched *function =
        &prof_patch->functions[prof_patch->functions_count];
    uintptr_t at = prof_patch_entry(function) + PROF_ENTRY_HEAD;
    struct prof_moved moved;

    if (is_own(symbol) || symbol->start < code.begin ||
        symbol->start >= code.end)
        return PROF_EPATCH_OWN;
    if (prof_patch->functions_count == PROF_PROBE)
        return PROF_EPATCH_ROOM;
    function->error = prof_move(symbol->start, symbol->size, at, &moved);
    function->head.begin = symbol->start;
    if (function->error == 0) {
        code.write(at, moved.bytes, moved.count);
        prof_prologue_add(&function->head);
    }
    function->end = symbol->start + symbol->size;
    function->taken = moved.taken;
    prof_patch_name(symbol, function->name, sizeof function->name);
    function->target.name = function->point.name = function->name;
    prof_patch->functions_count++;
    *added = function;
    return 0;
}

static bool open_patch(void)
{
    static const uint8_t just_return = 0xc3;
    struct prof_patched *probe;

    if (prof_patch != NULL)
        return true;
    prof_patch = prof_alloc(sizeof *prof_patch);
    if (prof_patch == NULL)
        return false;
    *prof_patch = (struct prof_patch){0};
    prof_origin_of_patch = prof_patch_origin;
    probe = &prof_patch->functions[PROF_PROBE];
    probe->head.begin = (uintptr_t)prof_own_measure; /* where it is called */
    probe->taken = 1;
    probe->is_target = true;
    code.write(prof_patch_entry(probe) + PROF_ENTRY_HEAD, &just_return,
               sizeof just_return);
    return true;
}

/* A target once is one for ever, in the way in which it was added first. */
static int add_target(struct prof_patched *function, enum prof_causal_kind kind)
{
    if (function->error != 0 && kind == PROF_CAUSAL_TARGET_ENTRY)
        return function->error;
    if (function->is_target)
        return 0;
    function->is_target = true;
    function->target.begin = function->head.begin;
    function->target.end = function->end;
    function->may_be_learnt = kind == PROF_CAUSAL_TARGET;
    if (function->error != 0 || kind == PROF_CAUSAL_TARGET_SAMPLES)
        measure_by_samples(function);
    prof_causal_add_target(&function->target);
    return 0;
}

static int add_function(const struct prof_symbol *symbol,
                        enum prof_causal_kind kind)
{
    struct prof_patched *function = NULL;
    int error;

    if (!open_patch())
        return PROF_EMEMORY;
    for (uint32_t i = 0; i < prof_patch->functions_count; i++)
        if (prof_patch->functions[i].head.begin == symbol->start)
            function = &prof_patch->functions[i];
    error = function == NULL ? new_function(symbol, &function) : 0;
    if (error != 0)
        return error;
    if (kind != PROF_CAUSAL_PROGRESS)
        return add_target(function, kind);
    function->is_point = function->error == 0;
    if (function->is_point)
        prof_causal_add_progress(&function->point);
    return function->error;
}

/* Where no more can be patched, targets can still be learnt. */
static int add_found(const struct prof_symbol *symbol,
                     enum prof_causal_kind kind)
{
    char name[PROF_PATCH_NAME];
    int error = add_function(symbol, kind);

    if (error != PROF_EPATCH_ROOM || kind == PROF_CAUSAL_PROGRESS ||
        kind == PROF_CAUSAL_TARGET_ENTRY)
        return error;
    prof_patch_name(symbol, name, sizeof name);
    return prof_ranges_put(name, symbol->start, symbol->size);
}

int prof_causal_add_function(const char *name, enum prof_causal_kind kind)
{
    struct prof_symbol symbol;
    int error;

    if (code.write == NULL || prof_causal_on())
        return PROF_ESTATE;
    error = prof_ranges_add(name, kind);
    if (error <= 0)
        return error;
    error = find_function(name, &symbol);
    return error != 0 ? error : add_found(&symbol, kind);
}

int prof_causal_add_address(uintptr_t address, enum prof_causal_kind kind)
{
    struct prof_symbol symbol;

    if (code.write == NULL || prof_causal_on())
        return PROF_ESTATE;
    return prof_symbol_find(address, &symbol) ? add_found(&symbol, kind)
                                              : PROF_EPATCH_NAME;
}

void prof_patch_no_target(const struct prof_target *target)
{
    for (uint32_t i = 0; prof_patch != NULL && i < prof_patch->functions_count;
         i++)
        if (&prof_patch->functions[i].target == target)
            prof_patch->functions[i].is_target = false;
}

/* ---- on and off */

static bool is_there(uintptr_t address, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < PROF_JUMP_BYTES; i++)
        if (((const volatile uint8_t *)address)[i] != bytes[i])
            return false;
    return true;
}

bool prof_patch_enters(const struct prof_patched *function)
{
    return function->is_target && !function->target.by_samples &&
           (!prof_patch->one_only || prof_causal_chosen(&function->target));
}

/* A target that is learnt from samples needs no hook, but a point does. */
static bool is_hooked(const struct prof_patched *function)
{
    return function->is_point || prof_patch_enters(function);
}

static void patch(struct prof_patched *function)
{
    uint8_t jump[PROF_JUMP_BYTES];

    if (function->on || function->error != 0 ||
        !is_there(function->head.begin, function->head.bytes))
        return;
    prof_jump(jump, function->head.begin, prof_patch_entry(function));
    code.write(function->head.begin, jump, sizeof jump);
    function->on = true;
}

void prof_patch_begin(bool one_only)
{
    if (prof_patch == NULL)
        return;
    prof_patch->one_only = one_only;
    for (uint32_t i = 0; i < prof_patch->functions_count; i++) {
        struct prof_patched *function = &prof_patch->functions[i];

        function->on_cycles = function->since = 0;
        function->target.on_trial = one_only && !function->target.by_samples;
    }
}

void prof_patch_on(void)
{
    if (prof_patch == NULL)
        return;
    prof_patch->visits_count = 0;
    prof_patch->untracked = 0;
    for (uint32_t i = 0; i < prof_patch->functions_count; i++) {
        prof_patch->functions[i].loops = false;
        if (is_hooked(&prof_patch->functions[i]))
            patch(&prof_patch->functions[i]);
    }
}

void prof_patch_points_on(void)
{
    for (uint32_t i = 0; prof_patch != NULL && i < prof_patch->functions_count;
         i++)
        if (prof_patch->functions[i].is_point)
            patch(&prof_patch->functions[i]);
}

/* Returns whether the code was not as it was left. */
static bool restore(struct prof_patched *function)
{
    uint8_t jump[PROF_JUMP_BYTES];
    bool strange = false;

    prof_jump(jump, function->head.begin, prof_patch_entry(function));
    if (function->on && is_there(function->head.begin, jump))
        code.write(function->head.begin, function->head.bytes, PROF_JUMP_BYTES);
    else
        strange = function->on;
    function->on = false;
    return strange;
}

uint32_t prof_patch_off(void)
{
    uint32_t strange = 0;

    if (prof_patch == NULL)
        return 0;
    for (uint32_t i = 0; i < prof_patch->functions_count; i++)
        strange += restore(&prof_patch->functions[i]);
    return strange;
}

/* Whether it was called too often in (cycles). */
static bool is_too_frequent(const struct prof_patched *function,
                            uint64_t cycles)
{
    const uint64_t visits = function->target.visits;

    return visits != 0 && visits * CYCLES_A_VISIT >= cycles;
}

/* Experiments are with (function), or not. */
static void take_turn(struct prof_patched *function, uint64_t now)
{
    const bool is_on = is_hooked(function);

    if (function->on && !is_on)
        prof_causal.strange += restore(function);
    else if (is_on)
        patch(function);
    if (!prof_patch_enters(function) && function->since != 0) {
        function->on_cycles += now - function->since;
        function->since = 0;
    } else if (prof_patch_enters(function) && function->since == 0) {
        function->since = now;
    }
}

void prof_patch_follow(uint64_t now)
{
    if (prof_patch == NULL || !prof_patch->one_only || !prof_causal_on())
        return;
    for (uint32_t i = 0; i < prof_patch->functions_count; i++)
        take_turn(&prof_patch->functions[i], now);
}

/* Its hits were counted from the beginning. */
static void end_trial(struct prof_patched *function, uint64_t now)
{
    struct prof_target *target = &function->target;
    uint64_t cycles = function->on_cycles +
                      (function->since != 0 ? now - function->since : 0);
    bool uncalled = target->visits == 0;

    if (uncalled && cycles < prof_causal_uncalled_cycles())
        return;
    target->on_trial = false;
    if (!function->may_be_learnt || !prof_shares_on ||
        (!uncalled && !is_too_frequent(function, cycles)))
        return;
    measure_by_samples(function);
    target->visits = prof_shares_hits(target);
}

void prof_patch_try(uint64_t now)
{
    for (uint32_t i = 0; prof_patch != NULL && i < prof_patch->functions_count;
         i++)
        if (prof_patch->functions[i].target.on_trial &&
            prof_patch->functions[i].since != 0)
            end_trial(&prof_patch->functions[i], now);
}

bool prof_patch_learn_if(uint64_t cycles)
{
    bool any = false;

    if (prof_patch == NULL || !prof_cpu_here()->enabled)
        return false;
    for (uint32_t i = 0; i < prof_patch->functions_count; i++) {
        struct prof_patched *function = &prof_patch->functions[i];

        if (!function->may_be_learnt || function->target.by_samples ||
            !is_too_frequent(function, cycles))
            continue;
        measure_by_samples(function);
        if (!is_hooked(function))
            prof_causal.strange += restore(function);
        any = true;
    }
    return any;
}
