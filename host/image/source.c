/* SPDX-License-Identifier: Apache-2.0 */
/* The language and the folder of a function's source. */

#include "image/source.h"

#include "image/dwarf.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdio.h>
#include <string.h>

const char *source_language_name(enum source_language language)
{
    static const char *const names[SOURCE_LANGUAGES] = {
        "", "C", "C++", "Rust", "OCaml", "assembly"};

    return names[language];
}

static enum source_language of_dwarf(int language)
{
    switch (language) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
        return SOURCE_C;
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
        return SOURCE_CXX;
    case DW_LANG_Rust:
        return SOURCE_RUST;
    case DW_LANG_OCaml:
        return SOURCE_OCAML;
    case DW_LANG_Mips_Assembler:
        return SOURCE_ASSEMBLY;
    default:
        return SOURCE_UNKNOWN;
    }
}

/* Rust's old mangling is C++'s with a hash as the last name. */
static bool is_old_rust(const char *symbol)
{
    const char *hash = strstr(symbol, "17h");

    return hash != NULL && strspn(hash + 3, "0123456789abcdef") == 16 &&
           hash[19] == 'E';
}

static enum source_language of_symbol(const char *symbol)
{
    if (strncmp(symbol, "_R", 2) == 0)
        return SOURCE_RUST;
    if (strncmp(symbol, "_Z", 2) == 0)
        return is_old_rust(symbol) ? SOURCE_RUST : SOURCE_CXX;
    /* a module's name follows; the runtime, in C, has caml_ */
    if (strncmp(symbol, "caml", 4) == 0 && isupper((unsigned char)symbol[4]))
        return SOURCE_OCAML;
    return SOURCE_UNKNOWN;
}

/* Without DWARF data the name of the source says it. */
static enum source_language of_source(const char *path)
{
    static const struct {
        const char *ending;
        enum source_language language;
    } endings[] = {
        {".c", SOURCE_C},        {".cc", SOURCE_CXX},
        {".cpp", SOURCE_CXX},    {".cxx", SOURCE_CXX},
        {".hpp", SOURCE_CXX},    {".rs", SOURCE_RUST},
        {".ml", SOURCE_OCAML},   {".asm", SOURCE_ASSEMBLY},
        {".S", SOURCE_ASSEMBLY}, {".s", SOURCE_ASSEMBLY},
    };
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof endings[0];
         ++i) {
        if (strcmp(endings[i].ending, dot) == 0)
            return endings[i].language;
    }
    return SOURCE_UNKNOWN;
}

enum source_language source_language(const struct names *names,
                                     uint64_t address)
{
    const struct image_symbol *symbol =
        names->image != NULL ? image_function(names->image, address) : NULL;
    enum source_language language = SOURCE_UNKNOWN;
    const char *source;

    /* mangling first: DWARF calls OCaml's code assembly */
    if (symbol != NULL)
        language = of_symbol(symbol->name);
    if (language == SOURCE_UNKNOWN && names->dwarf != NULL)
        language = of_dwarf(dwarf_language(names->dwarf, address));
    if (language == SOURCE_UNKNOWN && names->image != NULL &&
        image_line(names->image, address, &source) != NULL)
        language = of_source(source);
    return language;
}

const char *source_folder(const struct names *names, uint64_t address,
                          size_t frame)
{
    static char folder[4096];
    const char *path;
    struct dwarf_frame found[NAMES_INLINED_MAX];
    size_t count = 0;
    char *slash;

    if (names->dwarf != NULL)
        count = dwarf_at(names->dwarf, address, found, NAMES_INLINED_MAX);
    else if (names->image != NULL &&
             image_line(names->image, address, &found[0].file) != NULL)
        count = 1;
    if (count == 0)
        return "";
    /* without inlined functions the one frame is the outermost of these */
    if (!names->inlined || frame >= count)
        frame = count - 1;
    if (found[frame].file == NULL)
        return "";
    path = found[frame].file;
    /* from an unknown build folder; the folders above it are enough */
    while (strncmp(path, "../", 3) == 0)
        path += 3;
    snprintf(folder, sizeof folder, "%s", path);
    slash = strrchr(folder, '/');
    if (slash == NULL)
        return "";
    *slash = '\0';
    return folder;
}

size_t source_common(const char *one, const char *other, size_t limit)
{
    size_t whole = 0, i = 0;

    while (i < limit && one[i] != '\0' && one[i] == other[i]) {
        ++i;
        if (one[i - 1] == '/')
            whole = i;
    }
    if (i == limit || ((one[i] == '\0' || one[i] == '/') &&
                       (other[i] == '\0' || other[i] == '/')))
        whole = i;
    return whole;
}
