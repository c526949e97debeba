/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the image does to its names at boot, by names=WHAT on the command line,
 * before anybody has seen them. The linker's --wrap leads the kernel's call
 * here (ldflags); the kernel's options are read later, hence the look of our
 * own.
 */

#include "ways.h"

#include <arch/boot.h>
#include <prof/symtab.h>
#include <string.h>

#define TABLE_MAX (256u * 1024)
#define CUT_BYTES 1000u

static _Alignas(8) char table_copy[TABLE_MAX];

static bool asked_for(const char *word)
{
    return strstr(arch_boot.command_line, word) != NULL;
}

int __wrap_prof_symbols_open(const void *table, size_t bytes,
                             const void *build_id, size_t build_id_bytes)
{
    const struct prof_symtab *head = table;

    if (bytes > head->total_bytes)
        bytes = head->total_bytes; /* zeros follow */
    if (bytes > TABLE_MAX)
        bytes = TABLE_MAX;
    memcpy(table_copy, table, bytes);
    if (asked_for("names=none"))
        bytes = 0;
    if (asked_for("names=cut"))
        bytes -= CUT_BYTES;
    if (asked_for("names=damaged"))
        table_copy[bytes / 2] ^= 0x10;
    return __real_prof_symbols_open(table_copy, bytes, build_id,
                                    build_id_bytes);
}

bool names_option(const char *value)
{
    return strcmp(value, "none") == 0 || strcmp(value, "cut") == 0 ||
           strcmp(value, "damaged") == 0;
}
