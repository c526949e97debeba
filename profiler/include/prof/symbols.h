/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SYMBOLS_H
#define PROF_SYMBOLS_H

/*
 * Finds the function that contains an address, without a heap and without
 * waiting: the image includes its own sorted table (<prof/symtab.h>), in space
 * that one source file reserves and `parasite embed` fills in the linked image:
 *
 *     PROF_SYMBOLS_RESERVE(65536);     once, outside functions
 *     prof_symbols_embedded();         before prof_init()
 *
 * Opening validates the whole table once; lookups then need no checks. Without
 * a table, or with a damaged one, every lookup fails.
 *
 * Where nothing was embedded, and the loader gives the image its ELF symbol
 * table (GRUB does by Multiboot), prof_symbols_elf() uses that one.
 */

#include <prof/config.h>
#include <prof/symtab.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a lookup. Valid as long as the table is in use. */
struct prof_symbol {
    uintptr_t start; /* first address of the function */
    size_t size;     /* its bytes */
    uint32_t index;  /* its entry in the table, 0 = the lowest address */
};

/*
 * Validates the table of (bytes) bytes at (table) and uses it from now on.
 * (build_id), (build_id_bytes) long, is the image's own and must match; 0 bytes
 * skips that test. Contexts: boot, thread. Linear in the table; reads nothing
 * outside it. Returns 0, or a negative PROF_ESYM... (<prof/error.h>); there are
 * then no names.
 */
int prof_symbols_open(const void *table, size_t bytes, const void *build_id,
                      size_t build_id_bytes);

/* An image's ELF symbol table in memory, addresses as it was linked. */
struct prof_elf_symbols {
    void *symbols;        /* .symtab: Elf32_Sym or Elf64_Sym, by the width */
    size_t symbols_bytes; /* whole entries; a rest is ignored */
    size_t entry_bytes;   /* sh_entsize: 16 or 24 */
    const char *strings;  /* .strtab */
    size_t strings_bytes; /* the last of them is NUL */
    uintptr_t code_begin; /* symbols outside of the code are ignored */
    uintptr_t code_end;
};

/*
 * Uses (symbols) from now on. For images in which nothing was embedded: to be
 * called where prof_symbols_embedded() has returned PROF_ESYM_NONE. (*symbols)
 * is not kept; the symbols and strings that it leads to are, and MUST remain
 * valid and unchanged: keep the heap out of that memory. The symbols are
 * WRITTEN, so they MUST NOT be part of the image: functions are moved to their
 * beginning, sorted by address. Where several symbols have one address, and for
 * labels, the choice is that of `parasite embed`. A symbol whose name is not in
 * the strings, or has PROF_SYMTAB_NAME_MAX bytes or more, or whose address is
 * not in the code, is ignored. The same table may be opened again.
 *
 * Contexts: boot, thread; an NMI meanwhile has no names. No allocation, 256
 * bytes of stack; n log n comparisons for n symbols, some 20 ms for 100,000.
 * Reads and writes nothing outside of what (symbols) states. Returns 0, or
 *   PROF_ESYM_NONE    there are no symbols or strings, or no functions in them,
 *   PROF_ESYM_WIDTH   entries are not those of this width,
 *   PROF_ESYM_LAYOUT  symbols are not aligned to words, overlap the strings, or
 *                     are more than 2^31 - 1,
 *   PROF_ESYM_NAME    the last name has no end;
 * there are then no names. PROF_WITH_ELF.
 */
int prof_symbols_elf(const struct prof_elf_symbols *symbols);

/*
 * For an image that has copied itself to where it was not linked: it runs
 * (bytes) above that, modulo the size of the address space. No entry may then
 * reach over the end of the address space. Addresses in a stream stay those
 * where it runs, so only its own tables have names. A call stack that begins
 * in the code where it was linked, because that called the copy, is complete.
 * PROF_WITH_BUILTIN.
 *
 * Contexts: boot; valid for tables opened afterwards. prof_symbols_moved_by()
 * returns it, 0 without a call.
 */
void prof_symbols_moved(uintptr_t bytes);
uintptr_t prof_symbols_moved_by(void);

/* What the last prof_symbols_open(), or prof_symbols_elf(), returned;
 * PROF_ESYM_NONE before any. */
int prof_symbols_error(void);

/* Reserves (size) bytes for the table, in read-only data, and says where they
 * are: once in an image, at file scope. `parasite embed` says how many are
 * needed; libprof.a has PROF_SYMBOLS_BYTES (<prof/config.h>) by default. */
#define PROF_SYMBOLS_RESERVE(size)                                             \
    static const unsigned char prof_symbols_reserved[size]                     \
        __attribute__((aligned(8), used)) = {0};                               \
    const struct prof_symbols_space prof_symbols_space                         \
        __attribute__((aligned(8), used)) = {                                  \
            PROF_SYMBOLS_SPACE_MAGIC, 8 * sizeof(void *), (size),              \
            &prof_symbols_space, prof_symbols_reserved}
extern const struct prof_symbols_space prof_symbols_space;

/* The table in the reserved space. The compiler may neither assume the zeros
 * that it saw there nor drop the description of it, which embed looks for. */
static inline const struct prof_symtab *prof_symbols_in_image(void)
{
    const struct prof_symbols_space *space = &prof_symbols_space;
    const void *table;

    __asm__("" : "+r"(space));
    table = space->table;
    __asm__("" : "+r"(table));
    return (const struct prof_symtab *)table;
}

/* Opens the table in the reserved space. Returns PROF_ESYM_NONE if `parasite
 * embed` has not filled it, or as prof_symbols_open() does. */
static inline int prof_symbols_embedded(void)
{
    const struct prof_symtab *table = prof_symbols_in_image();
    size_t bytes = prof_symbols_space.bytes;

    if (bytes < sizeof *table || table->magic == 0)
        bytes = 0;
    return prof_symbols_open(table, bytes, NULL, 0);
}

/* The image's build-id for prof_config.build_id, as `parasite embed` found it
 * in a note or made it; (*bytes) is its length. Contexts: any, after
 * prof_symbols_embedded(); NULL and 0 where that failed, or has no build-id. */
static inline const uint8_t *prof_symbols_build_id(size_t *bytes)
{
    const struct prof_symtab *table = prof_symbols_in_image();

    *bytes = prof_symbols_error() == 0 &&
                     prof_symbols_space.bytes >= sizeof *table &&
                     table->magic == PROF_SYMTAB_MAGIC &&
                     table->build_id_bytes <= PROF_BUILD_ID_MAX
                 ? table->build_id_bytes
                 : 0;
    return *bytes != 0 ? table->build_id : NULL;
}

/* Entries of the table in use: functions, and wide gaps between them. */
uint32_t prof_symbols_count(void);

/* Finds the function whose [start, start + size) contains (address). Returns
 * false and leaves (*found) unchanged for an address in none, such as padding.
 * Contexts: any, NMI and panic included; re-entrant; no allocation; at most 32
 * probes, 64 bytes of stack. */
bool prof_symbol_find(uintptr_t address, struct prof_symbol *found);

/*
 * Writes the mangled name of (symbol), which prof_symbol_find() found, into
 * (out): as much as fits into (size) bytes, always NUL-terminated. With (size)
 * 0 nothing is written and (out) MAY be NULL. Returns the length of the whole
 * name in bytes, without NUL; 0, with an empty text, if the table in which
 * (symbol) was found is no longer in use.
 *
 * Contexts: any, NMI and panic included; re-entrant; no allocation; at most
 * 128 bytes of stack; expands at most 16 names of up to 32,767 bytes, on
 * average 8.
 */
size_t prof_symbol_name(const struct prof_symbol *symbol, char *out,
                        size_t size);

#ifdef __cplusplus
}
#endif

#endif
