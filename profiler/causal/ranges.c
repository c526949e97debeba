/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/ranges.h"

#include "base/alloc.h"
#include "base/equal.h"
#include "base/own_code.h"
#include "causal/causal.h"
#include "causal/patch.h"

#include <prof/error.h>
#include <prof/symbols.h>

#define FIRST_ROOM 4u

/* A target and its sorted ranges, which neither overlap nor touch. */
struct code_target {
    struct prof_target target; /* the first member */
    struct prof_range *ranges;
    uint32_t room;
    struct code_target *next;
    char name[];
};

static struct code_target *all;

/* ---- sets of ranges */

bool prof_ranges_have(const struct prof_target *target, uintptr_t address)
{
    const struct prof_range *ranges = target->ranges;
    uint32_t first = 0, last = target->ranges_count;

    while (first != last) {
        uint32_t middle = (first + last) / 2;

        if (address >= ranges[middle].end)
            first = middle + 1;
        else if (address < ranges[middle].begin)
            last = middle;
        else
            return true;
    }
    return false;
}

/* Makes room for one more. */
static int make_room_for_range(struct code_target *to)
{
    const uint32_t room = to->room == 0 ? FIRST_ROOM : 2 * to->room;
    struct prof_range *ranges;

    if (to->target.ranges_count < to->room)
        return PROF_OK;
    if (to->room >= PROF_TARGET_RANGES_MAX)
        return PROF_EPATCH_RANGES;
    ranges = prof_alloc(room * sizeof *ranges);
    if (ranges == NULL)
        return PROF_EMEMORY;
    for (uint32_t i = 0; i < to->target.ranges_count; i++)
        ranges[i] = to->ranges[i];
    prof_free(to->ranges);
    to->target.ranges = to->ranges = ranges;
    to->room = room;
    return PROF_OK;
}

/* Merges (range) with those that it overlaps or touches. */
static int insert(struct code_target *to, struct prof_range range)
{
    uint32_t count = to->target.ranges_count, at = 0, kept;
    int error;

    while (at < count && to->ranges[at].end < range.begin)
        at++;
    for (kept = at; kept < count && to->ranges[kept].begin <= range.end;
         kept++) {
        if (to->ranges[kept].begin < range.begin)
            range.begin = to->ranges[kept].begin;
        if (to->ranges[kept].end > range.end)
            range.end = to->ranges[kept].end;
    }
    error = kept == at ? make_room_for_range(to) : PROF_OK;
    if (error != PROF_OK)
        return error;
    if (kept == at)
        for (uint32_t i = count++; i > at; i--)
            to->ranges[i] = to->ranges[i - 1];
    else
        for (count -= kept - at - 1; kept < to->target.ranges_count; kept++)
            to->ranges[kept - (to->target.ranges_count - count)] =
                to->ranges[kept];
    to->ranges[at] = range;
    to->target.ranges_count = count;
    to->target.by_samples = true;
    to->target.begin = to->ranges[0].begin;
    to->target.end = to->ranges[count - 1].end;
    return PROF_OK;
}

/* ---- targets */

/* The target (name), of (bytes) bytes; NULL: no memory. */
static struct code_target *target_named(const char *name, size_t bytes)
{
    struct code_target *each = all;

    for (; each != NULL; each = each->next) {
        size_t same = 0;

        while (same < bytes && each->name[same] == name[same])
            same++;
        if (same == bytes && each->name[same] == '\0')
            return each;
    }
    each = prof_alloc(sizeof *each + bytes + 1);
    if (each == NULL)
        return NULL;
    *each = (struct code_target){.next = all};
    for (size_t i = 0; i < bytes; i++)
        each->name[i] = name[i];
    each->name[bytes] = '\0';
    each->target.name = each->name;
    all = each;
    return each;
}

static int check_range(struct prof_range range)
{
    const struct prof_image_code *code = prof_patch_code();

    if (range.begin >= range.end || range.begin < code->begin ||
        range.end > code->end)
        return PROF_EPATCH_RANGES;
    return prof_code_is_own(range.begin) ? PROF_EPATCH_OWN : PROF_OK;
}

static int add_range(const char *name, size_t name_bytes,
                     struct prof_range range)
{
    struct code_target *to;
    int error = check_range(range);

    if (error != PROF_OK)
        return error;
    to = target_named(name, name_bytes);
    if (to == NULL)
        return PROF_EMEMORY;
    error = insert(to, range);
    if (error == PROF_OK)
        prof_causal_add_target(&to->target);
    return error;
}

int prof_ranges_put(const char *name, uintptr_t begin, size_t bytes)
{
    size_t name_bytes = 0;

    if (prof_patch_code()->write == NULL || prof_causal_on())
        return PROF_ESTATE;
    while (name[name_bytes] != '\0')
        name_bytes++;
    return add_range(name, name_bytes,
                     (struct prof_range){begin, begin + bytes});
}

/* ---- from text */

/* Parses a hexadecimal number, and moves (*text) after it; false: there is
 * none, or it is too large. */
static bool parse_hex(const char **text, uintptr_t *value)
{
    unsigned digits = 0;

    for (*value = 0;; digits++, ++*text) {
        uint8_t byte = (uint8_t) * *text;
        unsigned digit = byte - '0';

        if (digit > 9)
            digit = (byte | 0x20u) - 'a' + 10;
        if (digit > 15 || digit < (byte > '9' ? 10u : 0u))
            return digits != 0 && digits <= 2 * sizeof *value;
        *value = *value << 4 | digit;
    }
}

/* Parses "BEGIN+BYTES", or returns false. */
static bool parse_range(const char **text, struct prof_range *range)
{
    uintptr_t bytes;

    if (!parse_hex(text, &range->begin) || *(*text)++ != '+' ||
        !parse_hex(text, &bytes) || (**text != ',' && **text != '\0'))
        return false;
    range->begin += prof_symbols_moved_by();
    range->end = range->begin + bytes;
    return true;
}

/* All of them are looked at before the first is added. */
static int add_ranges(const char *name, const char *mark)
{
    const char *text = mark;
    struct prof_range range;
    int error = PROF_OK;

    do {
        text++;
        if (!parse_range(&text, &range))
            return PROF_EPATCH_RANGES;
        error = check_range(range);
    } while (error == PROF_OK && *text != '\0');
    for (text = mark; error == PROF_OK && *text != '\0';) {
        text++;
        (void)parse_range(&text, &range);
        error = add_range(name, (size_t)(mark - name), range);
    }
    return error;
}

/* The last "@" of (name); NULL: none. */
static const char *mark_of(const char *name)
{
    const char *mark = NULL;

    for (; *name != '\0'; name++)
        if (*name == '@')
            mark = name;
    return mark;
}

/* "file.c:42": no function's name ends with a colon and digits. */
static bool is_line(const char *name)
{
    const char *end = name, *digits;

    while (*end != '\0')
        end++;
    for (digits = end; digits != name && digits[-1] >= '0' && digits[-1] <= '9';
         digits--)
        continue;
    return digits != end && digits - name > 1 && digits[-1] == ':';
}

int prof_ranges_add(const char *name, enum prof_causal_kind kind)
{
    const char *mark = mark_of(name);

    if (mark == NULL && !is_line(name))
        return 1;
    if (kind == PROF_CAUSAL_PROGRESS || kind == PROF_CAUSAL_TARGET_ENTRY)
        return PROF_EPATCH_KIND;
    return mark == NULL || mark == name ? PROF_EPATCH_LINE
                                        : add_ranges(name, mark);
}
