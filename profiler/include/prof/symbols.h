/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SYMBOLS_H
#define PROF_SYMBOLS_H

/*
 * Symbol lookup: finds the function that contains an address, without a heap
 * or locks. The image contains its own sorted table (<prof/symtab.h>), in space
 * that one source file reserves and `parasite embed` fills in the linked image:
 *
 *     PROF_SYMBOLS_RESERVE(65536);     once, outside functions
 *     prof_symbols_embedded();         before prof_init()
 *
 * Opening validates the whole table once, so that lookups need no checks.
 * Without a table, or with a damaged one, every lookup fails.
 *
 * If no table was embedded, and the loader passes the ELF symbol table to the
 * image (as GRUB does by Multiboot), use prof_symbols_elf() instead.
 */

#include <prof/config.h>
#include <prof/symtab.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a lookup. Valid while the table is in use. */
struct prof_symbol {
    uintptr_t start; /* first address of the function */
    size_t size;     /* bytes of the function */
    uint32_t index;  /* its entry in the table, in order of addresses from 0 */
};

/*
 * Validates the table of (bytes) bytes at (table) and uses it from now on. Its
 * build-id must equal the (build_id_bytes) bytes at (build_id), the image's; 0
 * bytes skips that test. Linear in the size of the table; reads nothing outside
 * it. Contexts: boot, thread. Returns 0 or a negative PROF_ESYM...
 * (<prof/error.h>); after an error there are no names.
 */
int prof_symbols_open(const void *table, size_t bytes, const void *build_id,
                      size_t build_id_bytes);

/* An image's ELF symbol table in memory, with link-time addresses. */
struct prof_elf_symbols {
    void *symbols;        /* .symtab: Elf32_Sym or Elf64_Sym of the image */
    size_t symbols_bytes; /* of whole entries; a remainder is ignored */
    size_t entry_bytes;   /* sh_entsize: 16 or 24 */
    const char *strings;  /* .strtab */
    size_t strings_bytes; /* the last byte is NUL */
    uintptr_t code_begin; /* symbols outside the code are ignored */
    uintptr_t code_end;
};

/*
 * Uses the ELF symbol table (*symbols) from now on. For images without an
 * embedded table: call it if prof_symbols_embedded() returned PROF_ESYM_NONE.
 * The struct is not kept. The symbols and strings are, and MUST remain valid
 * and unchanged: keep the heap out of that memory. The symbols are WRITTEN, so
 * they MUST NOT be part of the image: functions are moved to the beginning and
 * sorted by address. Of several symbols at one address, and of labels, it
 * selects the same as `parasite embed`. It ignores a symbol whose name is not
 * in the strings or has PROF_SYMTAB_NAME_MAX bytes or more, or whose address is
 * not in the code. The same table may be opened again.
 *
 * Contexts: boot, thread; an NMI during the call finds no names. No allocation,
 * 256 bytes of stack, n log n comparisons for n symbols: some 20 ms for
 * 100,000. Reads and writes nothing outside of what (*symbols) states.
 * PROF_WITH_ELF. Returns 0 or
 *   PROF_ESYM_NONE    there are no symbols or strings, or no functions in them
 *   PROF_ESYM_WIDTH   (entry_bytes) is not that of the image's pointer width
 *   PROF_ESYM_LAYOUT  symbols are not aligned to words, overlap the strings, or
 *                     are more than 2^31 - 1
 *   PROF_ESYM_NAME    the last name is not terminated
 * After an error there are no names.
 */
int prof_symbols_elf(const struct prof_elf_symbols *symbols);

/*
 * Sets the load offset of an image that has relocated itself: it runs (bytes)
 * above its link address, modulo the size of the address space. Applies to
 * tables opened afterwards; no entry may then cross the end of the address
 * space. The stream contains run-time addresses, so that only the guest's own
 * tables have names. A call stack whose outermost frames are in the code at the
 * link address, which called the copy, is complete. PROF_WITH_BUILTIN.
 *
 * prof_symbols_moved_by() returns the offset, 0 if none was set. Contexts:
 * boot.
 */
void prof_symbols_moved(uintptr_t bytes);
uintptr_t prof_symbols_moved_by(void);

/* Returns the result of the last prof_symbols_open() or prof_symbols_elf();
 * PROF_ESYM_NONE before the first. Contexts: any. */
int prof_symbols_error(void);

/* Reserves (size) bytes for the table, in read-only data, and describes them in
 * prof_symbols_space: once in an image, at file scope. `parasite embed` prints
 * how many are needed. libprof.a reserves PROF_SYMBOLS_BYTES (<prof/config.h>)
 * if the image reserves nothing. */
#define PROF_SYMBOLS_RESERVE(size)                                             \
    static const unsigned char prof_symbols_reserved[size]                     \
        __attribute__((aligned(8), used)) = {0};                               \
    const struct prof_symbols_space prof_symbols_space                         \
        __attribute__((aligned(8), used)) = {                                  \
            PROF_SYMBOLS_SPACE_MAGIC, 8 * sizeof(void *), (size),              \
            &prof_symbols_space, prof_symbols_reserved}
extern const struct prof_symbols_space prof_symbols_space;

/* Returns the table in the reserved space. Keeps the compiler from assuming
 * that the space contains zeros, and from dropping its descriptor, which
 * `embed` searches for. */
static inline const struct prof_symtab *prof_symbols_in_image(void)
{
    const struct prof_symbols_space *space = &prof_symbols_space;
    const void *table;

    __asm__("" : "+r"(space));
    table = space->table;
    __asm__("" : "+r"(table));
    return (const struct prof_symtab *)table;
}

/* Opens the table in the reserved space. Contexts: boot, thread. Returns
 * PROF_ESYM_NONE if `parasite embed` has not filled it, otherwise as
 * prof_symbols_open(). */
static inline int prof_symbols_embedded(void)
{
    const struct prof_symtab *table = prof_symbols_in_image();
    size_t bytes = prof_symbols_space.bytes;

    if (bytes < sizeof *table || table->magic == 0)
        bytes = 0;
    return prof_symbols_open(table, bytes, NULL, 0);
}

/* Returns the image's build-id, for prof_config.build_id, and its length in
 * *bytes. `parasite embed` found it in a note or generated it. Returns NULL and
 * a length of 0 if no table is open, or if it has no build-id. Contexts: any,
 * after prof_symbols_embedded(). */
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

/* Returns the number of entries of the table in use, which are functions and
 * wide gaps between them; 0: no table. Contexts: any. */
uint32_t prof_symbols_count(void);

/* Finds the function whose [start, start + size) contains (address). Returns
 * false, with *found unchanged, if the address is in no function, such as in
 * padding. Contexts: any, including NMI and panic. Re-entrant, no allocation,
 * at most 32 probes, 64 bytes of stack. */
bool prof_symbol_find(uintptr_t address, struct prof_symbol *found);

/*
 * Copies the mangled name of (symbol), a result of prof_symbol_find(), to
 * (out), cut to (size) bytes including its NUL. If (size) is 0, nothing is
 * written and (out) MAY be NULL. Returns the length of the whole name in bytes,
 * without NUL; 0, with an empty string, if the table in which (symbol) was
 * found is no longer in use.
 *
 * Contexts: any, including NMI and panic. Re-entrant, no allocation, at most
 * 128 bytes of stack. Expands at most 16 names of up to 32,767 bytes, 8 on
 * average.
 */
size_t prof_symbol_name(const struct prof_symbol *symbol, char *out,
                        size_t size);

#ifdef __cplusplus
}
#endif

#endif
