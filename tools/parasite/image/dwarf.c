/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source lines and inlined functions, by libdw.
 *
 * libdwfl finds the compilation unit, since it also finds those that no table
 * of address ranges lists. An address in inlined functions is in several nested
 * scopes; each inlined one has the position of its call, which is the line of
 * the next outer one.
 */

#include "image/dwarf.h"

#include "base/memory.h"
#include "base/strings.h"
#include "image/source_path.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>

struct dwarf {
    Dwfl *session;
    Dwfl_Module *module;
    struct strings paths; /* of sources, tidied */
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

struct dwarf *dwarf_open(const char *path)
{
    struct dwarf *dwarf = xreallocarray(NULL, 1, sizeof *dwarf);
    Dwarf_Addr bias;

    *dwarf = (struct dwarf){.session = dwfl_begin(&callbacks)};
    dwarf->module =
        dwarf->session != NULL
            ? dwfl_report_elf(dwarf->session, "image", path, -1, 0, true)
            : NULL;
    if (dwarf->module != NULL &&
        dwfl_report_end(dwarf->session, NULL, NULL) == 0 &&
        dwfl_module_getdwarf(dwarf->module, &bias) != NULL)
        return dwarf;
    dwarf_close(dwarf);
    return NULL;
}

static const char *name_of(Dwarf_Die *die)
{
    static const unsigned names[] = {DW_AT_linkage_name,
                                     DW_AT_MIPS_linkage_name, DW_AT_name};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        Dwarf_Attribute attribute;
        const char *name =
            dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));

        if (name != NULL)
            return name;
    }
    return "[inlined]";
}

static int number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;

    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0)
        return 0;
    return (int)value;
}

/* Where (die), an inlined function, was called. */
static void set_call_line(Dwarf_Die *unit, Dwarf_Die *die,
                          struct dwarf_frame *frame)
{
    Dwarf_Files *files;
    size_t count, file = (size_t)number_of(die, DW_AT_call_file);

    frame->line = number_of(die, DW_AT_call_line);
    if (dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
        frame->file = dwarf_filesrc(files, file, NULL, NULL);
}

/* The paths of (frames) as they are shown. */
static void tidy_paths(struct dwarf *dwarf, struct dwarf_frame *frames,
                       size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        char *path;

        if (frames[i].file == NULL)
            continue;
        path = xstrdup(frames[i].file);
        source_path_tidy(path);
        frames[i].file =
            strings_text(&dwarf->paths, strings_put(&dwarf->paths, path));
        free(path);
    }
}

static size_t put_scopes(Dwarf_Die *unit, Dwarf_Die *scopes, int scope_count,
                         struct dwarf_frame *frames, size_t room)
{
    size_t count = 0;

    for (int i = 0; i < scope_count && count + 1 < room; ++i) {
        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            continue;
        frames[count++].function = name_of(&scopes[i]);
        frames[count] = (struct dwarf_frame){0};
        set_call_line(unit, &scopes[i], &frames[count]);
    }
    return count + 1;
}

/* The scopes around (address) in the order of nesting. libdw's answer for an
 * address continues from an inlined function to where that function was
 * defined; so its innermost scope is asked again for the scopes around it. */
static int scopes_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
    Dwarf_Die *written = NULL;
    int count = dwarf_getscopes(unit, address, &written);

    if (count > 0)
        count = dwarf_getscopes_die(&written[0], scopes);
    free(written);
    return count;
}

size_t dwarf_at(struct dwarf *dwarf, uint64_t address,
                struct dwarf_frame *frames, size_t room)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(dwarf->module, address, &bias);
    Dwarf_Line *line;
    Dwarf_Die *scopes = NULL;
    int scope_count;
    size_t count;

    if (unit == NULL)
        return 0;
    frames[0] = (struct dwarf_frame){0};
    line = dwarf_getsrc_die(unit, address - bias);
    if (line != NULL) {
        frames[0].file = dwarf_linesrc(line, NULL, NULL);
        dwarf_lineno(line, &frames[0].line);
    }
    scope_count = scopes_at(unit, address - bias, &scopes);
    count = put_scopes(unit, scopes, scope_count, frames, room);
    free(scopes);
    tidy_paths(dwarf, frames, count);
    return count;
}

int dwarf_language(struct dwarf *dwarf, uint64_t address)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(dwarf->module, address, &bias);

    return unit != NULL ? dwarf_srclang(unit) : -1;
}

void dwarf_close(struct dwarf *dwarf)
{
    if (dwarf != NULL && dwarf->session != NULL)
        dwfl_end(dwarf->session);
    if (dwarf != NULL)
        strings_free(&dwarf->paths);
    free(dwarf);
}
