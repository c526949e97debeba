/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of symbols, a text, in one of two forms that may not be mixed up:
 *
 *   ADDRESS [SIZE] TYPE NAME [MODULE]      /proc/kallsyms, nm, nm -S
 *   ADDRESS FLAGS SECTION SIZE NAME        objdump -t, and objdump -x, in which
 *                                          much else precedes and follows
 *
 * objdump says what is a function, how large it is and where its section ends,
 * so that the functions are those of the ELF file itself. nm says none of it,
 * but that a symbol is code: a function ends where the next symbol begins, and
 * what has the name of the function before it and a further part is a label in
 * that function (nasm's local labels), unless a compiler makes such names of
 * functions.
 *
 * Which of several names an address has is decided as for an ELF file
 * (function_symbols.h).
 *
 * Sources: nm(1), objdump(1); bfd/syms.c, bfd_print_symbol_vandf(), and
 * bfd/elf.c, bfd_elf_print_symbol(), of binutils.
 */

#include "base/checked.h"
#include "base/index.h"
#include "base/memory.h"
#include "image/image.h"
#include "symbols/function_symbols.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES_MAX 65536u
#define LAST_BYTES 4096u /* of the last function, if nothing says its size */
#define DIGITS_MAX 16u

enum kind { KIND_DATA, KIND_LABEL, KIND_FUNCTION };

struct entry {
    uint64_t address;
    uint64_t size;    /* 0 = not stated */
    uint32_t section; /* only objdump's */
    const char *name;
    enum binding binding;
    enum kind kind;
};

/* Of objdump's list. */
struct section {
    bool is_code;
    bool is_listed; /* by objdump -x, which says where it is */
    uint64_t begin;
    uint64_t end;
};

struct list {
    struct entry *entries;
    size_t count;
    struct strings section_names;
    struct section *sections; /* by the numbers of their names; 0 is unused */
    size_t section_count;
    uint32_t described; /* the section of the last row of objdump -x's table */
    bool is_objdump;
    bool has_sizes;  /* nm -S */
    bool in_table;   /* of objdump's symbols */
    bool only_zeros; /* all addresses so far, at least one */
    uint64_t begin;  /* _stext and _etext, 0 = not there */
    uint64_t end;
    unsigned number; /* of the line */
};

/* ---- words of a line */

/* A hexadecimal number and one space after it; false if it is none. */
static bool take_number(const char **text, uint64_t *value, size_t *digits)
{
    char *end;

    *digits = strspn(*text, "0123456789abcdefABCDEF");
    if (*digits == 0 || *digits > DIGITS_MAX || (*text)[*digits] != ' ')
        return false;
    *value = strtoull(*text, &end, 16);
    *text = end + 1;
    return true;
}

/* The length of (text) without the module of a line of /proc/kallsyms. */
static size_t name_bytes(const char *text)
{
    const char *module = strstr(text, "\t[");

    return module != NULL ? (size_t)(module - text) : strlen(text);
}

static char *copy_name(const char *text, size_t bytes)
{
    char *name = xreallocarray(NULL, bytes + 1, 1);

    memcpy(name, text, bytes);
    name[bytes] = '\0';
    return name;
}

static void add_entry(struct list *list, struct entry entry, const char *name)
{
    size_t bytes = name_bytes(name);

    if (list->count == 0)
        list->only_zeros = true;
    list->only_zeros = list->only_zeros && entry.address == 0;
    entry.name = copy_name(name, bytes);
    if (strcmp(entry.name, "_stext") == 0)
        list->begin = entry.address;
    else if (strcmp(entry.name, "_etext") == 0)
        list->end = entry.address;
    VECTOR_ADD(list->entries, list->count, entry);
}

/* ---- a line of nm */

/* "                 U NAME": needed, but not there. */
static bool is_undefined(const char *text)
{
    size_t spaces = strspn(text, " ");

    return spaces > 0 && isalpha((unsigned char)text[spaces]) &&
           text[spaces + 1] == ' ' && text[spaces + 2] != '\0';
}

static bool is_type(char type)
{
    return isalpha((unsigned char)type) || type == '?' || type == '-';
}

static enum binding binding_of_type(char type)
{
    if (type == 'w' || type == 'W')
        return BINDING_WEAK;
    return islower((unsigned char)type) ? BINDING_LOCAL : BINDING_GLOBAL;
}

static bool take_nm(struct list *list, const char *text)
{
    struct entry entry = {.kind = KIND_DATA};
    size_t digits;
    char type;

    if (is_undefined(text))
        return true;
    if (!take_number(&text, &entry.address, &digits))
        return false;
    if (text[0] != '\0' && text[1] != ' ' &&
        !take_number(&text, &entry.size, &digits))
        return false;
    type = text[0];
    if (type == 'N' && strcmp(text + 1, " ") == 0)
        return true; /* nasm's, of a section that has debugging data only */
    if (!is_type(type) || text[1] != ' ' || text[2] == '\0' || text[2] == ' ')
        return false;
    list->has_sizes = list->has_sizes || entry.size != 0;
    if (strchr("tTwWi", type) != NULL)
        entry.kind = KIND_FUNCTION;
    else if (strchr("dDbBrR", type) == NULL)
        return true; /* of constants and sections, which end no function */
    entry.binding = binding_of_type(type);
    add_entry(list, entry, text + 2);
    return true;
}

/* ---- a line of objdump */

#define FLAGS_BYTES 7u /* "g     F" */
#define FLAG_SCOPE 0
#define FLAG_WEAK 1
#define FLAG_INDIRECT 4
#define FLAG_DEBUGGING 5
#define FLAG_TYPE 6

static bool are_flags(const char *text)
{
    static const char *const may[FLAGS_BYTES] = {" lgu!", " w",  " C",  " W",
                                                 " iI",   " dD", " fFO"};

    for (size_t i = 0; i < FLAGS_BYTES; ++i) {
        if (text[i] == '\0' || strchr(may[i], text[i]) == NULL)
            return false;
    }
    return text[FLAGS_BYTES] == ' ';
}

static uint32_t section_of(struct list *list, const char *text, size_t bytes)
{
    char *name = copy_name(text, bytes);
    uint32_t number = strings_put(&list->section_names, name);

    while (list->section_count <= number)
        VECTOR_ADD(list->sections, list->section_count, (struct section){0});
    free(name);
    return number;
}

static bool begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* The name after what objdump says of who may see it. */
static const char *skip_visibility(const char *text)
{
    static const char *const words[] = {".hidden ", ".internal ",
                                        ".protected "};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
        if (begins_with(text, words[i]))
            text += strlen(words[i]);
    }
    if (begins_with(text, "0x") && strchr(text, ' ') != NULL)
        text = strchr(text, ' ') + 1; /* other bits, as a number */
    return text;
}

static enum binding binding_of_flags(const char *flags)
{
    if (flags[FLAG_WEAK] == 'w')
        return BINDING_WEAK;
    return flags[FLAG_SCOPE] == 'l' ? BINDING_LOCAL : BINDING_GLOBAL;
}

/* Whether it is in no section: a constant, or one that is not there. */
static bool is_nowhere(const char *section)
{
    return section[0] == '*';
}

static bool take_objdump(struct list *list, const char *text)
{
    struct entry entry = {.kind = KIND_DATA};
    size_t digits, size_digits, bytes;
    const char *flags, *section;

    if (!take_number(&text, &entry.address, &digits) || !are_flags(text))
        return false;
    flags = text;
    section = text + FLAGS_BYTES + 1;
    bytes = strcspn(section, "\t");
    text = section + bytes;
    if (bytes == 0 || *text++ != '\t' ||
        !take_number(&text, &entry.size, &size_digits) || size_digits != digits)
        return false;
    text = skip_visibility(text);
    if (flags[FLAG_DEBUGGING] == 'd' || is_nowhere(section) || *text == '\0')
        return true;
    entry.section = section_of(list, section, bytes);
    if (flags[FLAG_TYPE] == 'F' || flags[FLAG_INDIRECT] == 'i')
        entry.kind = KIND_FUNCTION;
    else if (flags[FLAG_TYPE] == ' ')
        entry.kind = KIND_LABEL;
    entry.binding = binding_of_flags(flags);
    add_entry(list, entry, text);
    return true;
}

/* A row of objdump -x's table of sections: number, name, size, address. Its
 * flags are the next line. Other text is skipped. */
static void take_section(struct list *list, const char *text)
{
    struct section *section;
    uint64_t size, address;
    char name[256];

    if (sscanf(text, " %*u %255s %" SCNx64 " %" SCNx64 " %*x %*x 2**", name,
               &size, &address) == 3) {
        list->described = section_of(list, name, strlen(name));
        section = &list->sections[list->described];
        section->is_listed = true;
        section->begin = address;
        section->end = checked_add(address, size);
    } else if (list->described != 0 && strstr(text, ", CODE") != NULL) {
        list->sections[list->described].is_code = true;
    }
}

/* ---- all lines */

/* Whether objdump wrote it: what precedes its table of symbols. */
static bool is_heading(const char *text)
{
    return strstr(text, ":     file format ") != NULL ||
           strcmp(text, "SYMBOL TABLE:") == 0;
}

/* False if the line is neither of this list nor to be skipped. */
static bool take_line(struct list *list, const char *text)
{
    if (is_heading(text)) {
        list->is_objdump = list->is_objdump || list->count == 0;
        list->in_table = strcmp(text, "SYMBOL TABLE:") == 0;
        return list->is_objdump;
    }
    if (text[0] == '\0') {
        list->in_table = false;
        return true;
    }
    if (list->in_table)
        return take_objdump(list, text) ||
               strcmp(text, "no symbols") == 0; /* of a stripped file */
    if (list->is_objdump) {
        take_section(list, text);
        return true;
    }
    if (list->count == 0 && take_objdump(list, text)) {
        /* such a list without its heading */
        list->is_objdump = list->in_table = true;
        return true;
    }
    return take_nm(list, text);
}

/* False, with the reason in (why), if that is no list. */
static bool read_lines(struct list *list, FILE *in, const char *path, char *why)
{
    static char text[LINE_BYTES_MAX];

    while (fgets(text, sizeof text, in) != NULL) {
        size_t bytes = strcspn(text, "\r\n");
        bool whole = text[bytes] != '\0' || feof(in);

        text[bytes] = '\0';
        ++list->number;
        if (whole && take_line(list, text))
            continue;
        if (list->count == 0)
            snprintf(why, IMAGE_WHY_MAX,
                     "%s: not an ELF file, and no list of symbols as nm, "
                     "objdump -t and /proc/kallsyms print it; -k takes the "
                     "image as it was linked",
                     path);
        else
            snprintf(why, IMAGE_WHY_MAX,
                     "%s:%u: the list of symbols is damaged: the lines before "
                     "this one are those of %s",
                     path, list->number,
                     list->is_objdump ? "objdump" : "nm or /proc/kallsyms");
        return false;
    }
    return true;
}

/* ---- from symbols to functions */

/* What compilers put after a function's name where they make another function
 * of a part or a variant of it. */
static bool is_compilers(const char *suffix)
{
    static const char *const words[] = {
        "cold",     "part",    "constprop", "isra",    "lto_priv",
        "llvm",     "clone",   "cfi",       "cfi_jt",  "localalias",
        "resolver", "default", "warm",      "__uniq",  "actor",
        "destroy",  "resume",  "cleanup",   "_omp_fn", "_omp_cpyfn",
        "lto"};
    size_t bytes = strcspn(suffix, ".");

    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
        if (strlen(words[i]) == bytes && strncmp(suffix, words[i], bytes) == 0)
            return true;
    }
    return false;
}

/* Whether nm's (entry) is a label of (function), by its name. */
static bool is_label_of(const struct function *entry,
                        const struct function *function)
{
    size_t bytes = strlen(function->name);

    return entry->binding == BINDING_LOCAL && entry->size == 0 &&
           strncmp(entry->name, function->name, bytes) == 0 &&
           entry->name[bytes] == '.' && !is_compilers(entry->name + bytes + 1);
}

/* Whether nm's (entry) is a label: by itself, or of one of the (count)
 * functions below it, which are sorted, by any name at its own address or at
 * the nearest lower one. */
static bool is_label(const struct function *functions, size_t count,
                     const struct function *entry)
{
    uint64_t lowest = entry->start;

    if (entry->binding == BINDING_LOCAL && entry->size == 0 &&
        (entry->name[0] == '.' || entry->name[0] == '$'))
        return true;
    for (size_t i = count; i-- > 0;) {
        if (functions[i].start < lowest) {
            if (lowest != entry->start)
                break;
            lowest = functions[i].start;
        }
        if (is_label_of(entry, &functions[i]))
            return true;
    }
    return false;
}

static void drop_labels(struct function *all, size_t *count)
{
    size_t kept = 0;

    for (size_t i = 0; i < *count; ++i) {
        if (is_label(all, kept, &all[i]))
            free((char *)all[i].name);
        else
            all[kept++] = all[i];
    }
    *count = kept;
}

static int by_address(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (int)a->kind - (int)b->kind; /* a datum ends what is before it */
}

static uint64_t last_end(const struct entry *entry)
{
    return checked_add(entry->address,
                       entry->size != 0 ? entry->size : LAST_BYTES);
}

/* Where the run of code of (entries)[at] ends in nm's list: at the next datum.
 * They are looked at from the last one on. */
static uint64_t limit_of_run(const struct list *list, size_t at,
                             uint64_t *datum, uint64_t *last)
{
    const struct entry *entry = &list->entries[at];

    if (entry->kind == KIND_DATA) {
        *datum = entry->address;
        return 0;
    }
    if (last_end(entry) > *last)
        *last = last_end(entry);
    return *datum != 0 ? *datum : *last;
}

/* The first of the sorted entries at (address) or above it. */
static size_t first_from(const struct list *list, uint64_t address)
{
    size_t low = 0, high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->entries[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where (section), whose last symbol ends at (least), ends: at the next symbol
 * of another section, if one is near. */
static uint64_t end_of_section(const struct list *list, uint32_t section,
                               uint64_t least)
{
    uint64_t end = checked_add(least, LAST_BYTES);
    size_t at = first_from(list, least);

    /* few of its own are here: those without a size at its very end */
    while (at < list->count && list->entries[at].section == section)
        ++at;
    if (at < list->count && list->entries[at].address < end)
        end = list->entries[at].address;
    return end;
}

/* The sections' ends, where nothing says them. */
static void find_ends(struct list *list)
{
    for (size_t i = 0; i < list->count; ++i) {
        const struct entry *entry = &list->entries[i];
        struct section *section = &list->sections[entry->section];
        uint64_t end = checked_add(entry->address, entry->size);

        if (begins_with(strings_text(&list->section_names, entry->section),
                        ".text") ||
            entry->kind == KIND_FUNCTION)
            section->is_code = section->is_code || !section->is_listed;
        if (!section->is_listed && end > section->end)
            section->end = end;
    }
    for (size_t i = 0; i < list->section_count; ++i) {
        struct section *section = &list->sections[i];

        if (!section->is_listed && section->is_code)
            section->end = end_of_section(list, (uint32_t)i, section->end);
    }
}

/* Whether objdump's (entry) is a function, or may be one in assembler. */
static bool is_function(const struct list *list, const struct entry *entry)
{
    const struct section *section = &list->sections[entry->section];

    return section->is_code && entry->kind != KIND_DATA &&
           entry->address < section->end &&
           (entry->kind == KIND_FUNCTION ||
            (strchr(entry->name, '.') == NULL && entry->name[0] != '$'));
}

/* Moves the functions of (list) to *(all), where they are sorted. */
static size_t take_functions(struct list *list, struct function **all)
{
    uint64_t datum = 0, last = 0;
    size_t count = 0;

    for (size_t i = list->count; i-- > 0;) {
        struct entry *entry = &list->entries[i];
        uint64_t limit = list->is_objdump
                             ? list->sections[entry->section].end
                             : limit_of_run(list, i, &datum, &last);
        bool is_one = list->is_objdump ? is_function(list, entry)
                                       : entry->kind == KIND_FUNCTION;

        if (!is_one || entry->address == 0 || limit <= entry->address)
            continue;
        vector_reserve_one(all, count, sizeof **all);
        (*all)[count++] = (struct function){
            .start = entry->address,
            .size = entry->size,
            .limit = limit,
            .name = entry->name,
            .binding = entry->binding,
            .label = entry->kind == KIND_LABEL ||
                     (list->has_sizes && entry->size == 0),
        };
        entry->name = NULL;
    }
    if (count > 0)
        qsort(*all, count, sizeof **all, function_compare);
    return count;
}

static void put_functions(struct image *image, struct list *list)
{
    struct function *all = NULL, *chosen;
    size_t count;

    if (list->count > 0)
        qsort(list->entries, list->count, sizeof *list->entries, by_address);
    if (list->is_objdump)
        find_ends(list);
    count = take_functions(list, &all);
    if (!list->is_objdump)
        drop_labels(all, &count);
    chosen = xreallocarray(NULL, count, sizeof *chosen);
    image->count = functions_choose(all, count, chosen);
    image->functions =
        xreallocarray(NULL, image->count, sizeof *image->functions);
    for (size_t i = 0, k = 0; i < count; ++i) {
        if (k == image->count || all[i].name != chosen[k].name) {
            free((char *)all[i].name);
            continue;
        }
        image->functions[k] = (struct image_symbol){
            chosen[k].start, chosen[k].start + chosen[k].size, chosen[k].name};
        ++k;
    }
    free(chosen);
    free(all);
}

/* Where the code is: between the kernel's own marks, in the sections of code,
 * or where the functions are. */
static void find_code(struct image *image, const struct list *list)
{
    bool marked = list->begin != 0 && list->begin < list->end;

    image->begin = marked ? list->begin : 0;
    image->end = marked ? list->end : 0;
    if (image->count == 0 || marked)
        return;
    image->begin = image->functions[0].start;
    image->end = image->functions[image->count - 1].end;
    for (size_t i = 0; i < list->section_count; ++i) {
        const struct section *section = &list->sections[i];

        if (!section->is_listed || !section->is_code ||
            section->begin == section->end)
            continue;
        if (section->begin < image->begin)
            image->begin = section->begin;
        if (section->end > image->end)
            image->end = section->end;
    }
}

static void free_list(struct list *list)
{
    for (size_t i = 0; i < list->count; ++i)
        free((char *)list->entries[i].name);
    strings_free(&list->section_names);
    free(list->entries);
    free(list->sections);
}

bool image_open_list(struct image *image, const char *path, char *why)
{
    FILE *in = fopen(path, "re");
    struct list list = {0};
    bool fine = in != NULL;

    if (in == NULL)
        snprintf(why, IMAGE_WHY_MAX, "%s: cannot be read: %s", path,
                 strerror(errno));
    fine = fine && read_lines(&list, in, path, why);
    if (in != NULL)
        fclose(in);
    if (fine) {
        put_functions(image, &list);
        find_code(image, &list);
        image->is_list = true;
    }
    if (fine && image->count == 0) {
        fine = false;
        snprintf(why, IMAGE_WHY_MAX,
                 list.only_zeros
                     ? "%s: all addresses are 0; read /proc/kallsyms as root, "
                       "with kernel.kptr_restrict below 2"
                     : "%s: a list of symbols without a function",
                 path);
    }
    free_list(&list);
    return fine;
}
