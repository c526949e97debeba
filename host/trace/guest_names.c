/* SPDX-License-Identifier: Apache-2.0 */
/* Names that a guest gives. A site's text is "what@file". */

#include "trace/guest_names.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void define_name(struct guest_names *names, uint32_t number,
                        const char *text, bool is_site, uint32_t line)
{
    const char *mark = is_site ? strrchr(text, '@') : NULL;
    struct guest_name *name;
    char *what;

    if (number >= GUEST_NAMES)
        return;
    while (names->count <= number) {
        VECTOR_ADD(names->all, names->count, (struct guest_name){0});
    }
    if (number == 0 || names->all[number].text != 0)
        return;
    name = &names->all[number];
    what = xstrdup(text);
    if (mark != NULL)
        what[mark - text] = '\0';
    name->text = strings_put(&names->strings, *what != '\0' ? what : "?");
    name->file = mark != NULL ? strings_put(&names->strings, mark + 1) : 0;
    name->line = line;
    free(what);
}

static void name_space(struct guest_names *names, uint32_t space,
                       const char *text)
{
    if (space < PROF_SPACES)
        names->spaces[space] =
            *text != '\0' ? strings_put(&names->strings, text) : 0;
}

bool guest_names_take(struct guest_names *names, const struct event *event)
{
    if (event->kind == PROF_EVENT_NAME)
        define_name(names, event->as_name.number, event->as_name.text, false,
                    0);
    else if (event->kind == PROF_EVENT_SITE)
        define_name(names, event->as_site.number, event->as_site.text, true,
                    event->as_site.line);
    else if (event->kind == PROF_EVENT_SPACE)
        name_space(names, event->as_space.number, event->as_space.text);
    else
        return false;
    return true;
}

static const struct guest_name *name_of(const struct guest_names *names,
                                        uint32_t name)
{
    static const struct guest_name none;

    return name < names->count ? &names->all[name] : &none;
}

const char *guest_names_text(const struct guest_names *names, uint32_t name)
{
    uint32_t text = name_of(names, name)->text;

    return text != 0 ? strings_text(&names->strings, text) : "";
}

const char *guest_names_file(const struct guest_names *names, uint32_t name)
{
    uint32_t file = name_of(names, name)->file;

    return file != 0 ? strings_text(&names->strings, file) : "";
}

const char *guest_names_space(const struct guest_names *names, uint32_t space)
{
    uint32_t text = space < PROF_SPACES ? names->spaces[space] : 0;

    return text != 0 ? strings_text(&names->strings, text) : "";
}

uint32_t guest_names_line(const struct guest_names *names, uint32_t name)
{
    return name_of(names, name)->line;
}

void guest_names_free(struct guest_names *names)
{
    free(names->all);
    strings_free(&names->strings);
}
