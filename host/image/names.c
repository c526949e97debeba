/* SPDX-License-Identifier: Apache-2.0 */
/* Names of addresses, looked up once and kept. */

#include "image/names.h"

#include "base/log.h"
#include "base/memory.h"
#include "image/dwarf.h"
#include "trace/guest_names.h"

#include <inttypes.h>
#include <prof/demangle.h>
#include <prof/user.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool names_with_returns;

/* Valid until the next call. */
static const char *demangled(const char *symbol)
{
    static struct prof_demangle_work work;
    static char text[65536];

    prof_demangle_as(names_with_returns ? PROF_LANGUAGE_AUTO
                                        : PROF_LANGUAGE_AUTO_BRIEF,
                     symbol, text, sizeof text, &work);
    return text;
}

static struct dwarf *open_dwarf(const struct image *image)
{
    const char *file = image_file(image);

    return file != NULL ? dwarf_open(file) : NULL;
}

static void open_others(struct names *names)
{
    size_t count = 0;

    for (const struct image *at = names->image->next; at != NULL;
         at = at->next) {
        vector_reserve_one(&names->others, count, sizeof(struct dwarf *));
        names->others[count++] = open_dwarf(at);
    }
}

void names_open(struct names *names, struct image *image, bool lines,
                bool inlined)
{
    *names = (struct names){
        .image = image,
        .lines = lines || inlined,
        .inlined = inlined,
        .readable = demangled,
    };
    own_code_find(&names->own, image);
    if (image != NULL && (lines || inlined)) {
        names->dwarf = open_dwarf(image);
        if (image->is_list)
            log_info("%s: a list of symbols, which has no source lines",
                     image->path);
        else if (names->dwarf == NULL && image_file(image) != NULL)
            log_info(
                "%s: no debug information, so no source lines; compile with -g",
                image->path);
        open_others(names);
    }
}

struct dwarf *names_dwarf(const struct names *names, uint64_t *address)
{
    const struct image *wanted, *at = names->image;
    size_t number = 0;

    if (at == NULL || at->next == NULL)
        return names->dwarf;
    wanted = image_at(at, *address);
    if (wanted == NULL || names->others == NULL)
        return NULL;
    *address -= wanted->moved;
    if (wanted == at)
        return names->dwarf;
    while ((at = at->next) != wanted)
        ++number;
    return names->others[number];
}

/* Samples of user mode have an address for their space (<prof/user.h>). Writes
 * what such an address means; false if it is another. */
static bool special_name(const struct names *names, uint64_t address,
                         char *text, size_t room)
{
    uint64_t end = address >> 32 == 0 ? UINT32_MAX : UINT64_MAX;
    uint64_t space = address - (end - 255);
    const char *name = "";
    const char *other =
        (address | 1) == (NAMES_SCANNED | 1) ? "[found by a scan]" : NULL;

    if ((address | 1) == (NAMES_OTHER | 1))
        other = "[other code]";
    if (other != NULL) {
        snprintf(text, room, "%s", other);
        return true;
    }
    if (space >= PROF_SPACES)
        return false;
    if (names->guest != NULL)
        name = guest_names_space(names->guest, (uint32_t)space);
    if (*name != '\0')
        snprintf(text, room, "[user mode: %s]", name);
    else if (space == 0)
        snprintf(text, room, "[user mode]");
    else
        snprintf(text, room, "[user mode: space %u]", (unsigned)space);
    return true;
}

static uint32_t function_at(struct names *names, uint64_t address)
{
    const struct image_symbol *symbol =
        names->image != NULL ? image_function(names->image, address) : NULL;
    char text[64];

    if (symbol != NULL)
        return strings_put(&names->strings, names->readable(symbol->name));
    if (!special_name(names, address, text, sizeof text))
        snprintf(text, sizeof text, "0x%" PRIx64, address);
    return strings_put(&names->strings, text);
}

static uint32_t line_text(struct names *names, const struct dwarf_frame *frame)
{
    char text[512];
    const char *slash;

    if (frame->file == NULL)
        return 0;
    slash = strrchr(frame->file, '/');
    snprintf(text, sizeof text, "%s:%d",
             slash != NULL ? slash + 1 : frame->file, frame->line);
    return strings_put(&names->strings, text);
}

static void put_frame(struct names *names, struct frame frame)
{
    VECTOR_ADD(names->frames, names->frame_count, frame);
}

/* The line that a trace has of (address); inlined functions it has not. */
static size_t stored_at(const struct names *names, uint64_t address,
                        struct dwarf_frame *found)
{
    const struct image_line *line =
        names->lines && names->image != NULL
            ? image_line(names->image, address, &found->file)
            : NULL;

    if (line == NULL)
        return 0;
    found->function = NULL;
    found->line = (int)line->line;
    return 1;
}

/* Looks (address) up, and appends what is there. */
static void look_up(struct names *names, uint64_t address)
{
    struct dwarf_frame found[NAMES_INLINED_MAX];
    uint64_t linked = address;
    struct dwarf *dwarf = names_dwarf(names, &linked);
    size_t count = dwarf != NULL
                       ? dwarf_at(dwarf, linked, found, NAMES_INLINED_MAX)
                       : stored_at(names, address, found);
    uint32_t innermost = count > 0 ? line_text(names, &found[0]) : 0;
    bool own = own_code_has(&names->own, address);

    if (!names->inlined || count == 0) {
        put_frame(names,
                  (struct frame){function_at(names, address), innermost, own});
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        uint32_t function =
            found[i].function != NULL
                ? strings_put(&names->strings,
                              names->readable(found[i].function))
                : function_at(names, address);

        put_frame(names,
                  (struct frame){function, line_text(names, &found[i]), own});
    }
}

const struct frame *names_at(struct names *names, uint64_t address,
                             bool returned, size_t *count)
{
    struct names_lookups *lookups = &names->lookups[returned];
    bool is_new;
    uint32_t number = index_add(&lookups->known, address, &is_new);

    if (is_new) {
        vector_reserve_one(&lookups->found, number, sizeof *lookups->found);
        lookups->found[number].first = (uint32_t)names->frame_count;
        look_up(names, address - returned);
        lookups->found[number].count =
            (uint32_t)names->frame_count - lookups->found[number].first;
    }
    *count = lookups->found[number].count;
    return names->frames + lookups->found[number].first;
}

uint32_t names_put(struct names *names, const char *text)
{
    return strings_put(&names->strings, text);
}

const char *names_text(const struct names *names, uint32_t number)
{
    return strings_text(&names->strings, number);
}

void names_close(struct names *names)
{
    const struct image *next =
        names->others != NULL ? names->image->next : NULL;

    own_code_free(&names->own);
    dwarf_close(names->dwarf);
    for (size_t i = 0; next != NULL; next = next->next)
        dwarf_close(names->others[i++]);
    free(names->others);
    strings_free(&names->strings);
    for (int i = 0; i < 2; ++i) {
        index_free(&names->lookups[i].known);
        free(names->lookups[i].found);
    }
    free(names->frames);
}

struct source_line frame_source(const struct names *names,
                                const struct frame *frame)
{
    struct source_line source = {xstrdup(names_text(names, frame->line)), 0};
    char *colon = strrchr(source.file, ':');

    if (colon != NULL) {
        *colon = '\0';
        source.line = (uint32_t)strtoul(colon + 1, NULL, 10);
    }
    return source;
}
