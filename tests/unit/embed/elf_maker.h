/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ELF_MAKER_H
#define ELF_MAKER_H

/*
 * Writes small ELF images of this test's own width, without libelf:
 *
 *     [header][.text][.note.gnu.build-id][.data][.symtab][.strtab][.shstrtab]
 *     [section headers]
 *
 * .text is ELF_TEXT_BYTES long at ELF_TEXT. Everything else is as the plan
 * says.
 */

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ELF_TEXT 0x100000u
#define ELF_TEXT_BYTES 0x400u
#define ELF_DATA 0x300000u

enum elf_section {
    ELF_NONE,
    ELF_IN_TEXT,
    ELF_IN_NOTE,
    ELF_IN_DATA,
    ELF_IN_SYMTAB,
    ELF_IN_STRTAB,
    ELF_IN_NAMES,
    ELF_SECTIONS
};

struct elf_symbol {
    const char *name;
    uintptr_t value;
    size_t size;
    unsigned char type;    /* STT_... */
    unsigned char binding; /* STB_... */
    uint16_t section;      /* enum elf_section, or SHN_... */
};

struct elf_plan {
    const struct elf_symbol *symbols;
    size_t count;
    uint32_t build_id_bytes; /* 0 = no note */
    bool stripped;           /* no .symtab */
    uint16_t type;           /* 0 = ET_EXEC */
};

/* A file in the making; 64 KiB are more than any plan here needs. */
struct elf_file {
    uint8_t bytes[65536];
    size_t used;
    ElfW(Shdr) sections[ELF_SECTIONS];
};

static inline size_t elf_put(struct elf_file *file, const void *bytes,
                             size_t count)
{
    size_t at = (file->used + 7) / 8 * 8;

    memcpy(file->bytes + at, bytes, count);
    file->used = at + count;
    return at;
}

static inline void elf_section(struct elf_file *file, enum elf_section index,
                               ElfW(Shdr) header, const void *bytes)
{
    header.sh_addralign = 8;
    header.sh_offset = elf_put(file, bytes, header.sh_size);
    file->sections[index] = header;
}

static inline void elf_put_note(struct elf_file *file, uint32_t id_bytes)
{
    struct {
        ElfW(Nhdr) head;
        char name[4];
        uint8_t id[64];
    } note = {{4, id_bytes, NT_GNU_BUILD_ID}, "GNU", {0}};

    for (uint32_t i = 0; i < id_bytes; ++i)
        note.id[i] = (uint8_t)(0xa0 + i);
    elf_section(
        file, ELF_IN_NOTE,
        (ElfW(Shdr)){.sh_type = id_bytes > 0 ? SHT_NOTE : SHT_NULL,
                     .sh_flags = SHF_ALLOC,
                     .sh_size = sizeof note - sizeof note.id + id_bytes},
        &note);
}

static inline void elf_put_symbols(struct elf_file *file,
                                   const struct elf_plan *plan)
{
    ElfW(Sym) *symbols = calloc(plan->count + 1, sizeof *symbols);
    static char strings[49152];
    size_t used = 1;

    for (size_t i = 0; i < plan->count; ++i) {
        const struct elf_symbol *from = &plan->symbols[i];
        ElfW(Sym) *to = &symbols[i + 1];

        to->st_name = (uint32_t)used;
        to->st_value = from->value;
        to->st_size = from->size;
        to->st_info = (unsigned char)(from->binding << 4 | from->type);
        to->st_shndx = from->section;
        strcpy(strings + used, from->name);
        used += strlen(from->name) + 1;
    }
    elf_section(file, ELF_IN_SYMTAB,
                (ElfW(Shdr)){.sh_type = plan->stripped ? SHT_NULL : SHT_SYMTAB,
                             .sh_link = ELF_IN_STRTAB,
                             .sh_entsize = sizeof *symbols,
                             .sh_size = (plan->count + 1) * sizeof *symbols},
                symbols);
    elf_section(file, ELF_IN_STRTAB,
                (ElfW(Shdr)){.sh_type = SHT_STRTAB, .sh_size = used}, strings);
    free(symbols);
}

static inline void elf_put_code(struct elf_file *file,
                                const struct elf_plan *plan)
{
    static const uint8_t text[ELF_TEXT_BYTES];

    elf_section(file, ELF_IN_TEXT,
                (ElfW(Shdr)){.sh_type = SHT_PROGBITS,
                             .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                             .sh_addr = ELF_TEXT,
                             .sh_size = sizeof text},
                text);
    elf_put_note(file, plan->build_id_bytes);
    elf_section(file, ELF_IN_DATA,
                (ElfW(Shdr)){.sh_type = SHT_PROGBITS,
                             .sh_flags = SHF_ALLOC | SHF_WRITE,
                             .sh_addr = ELF_DATA,
                             .sh_size = sizeof text},
                text);
}

/* The caller frees what comes back. */
static inline struct elf_file *elf_make(const struct elf_plan *plan)
{
    static const char names[] = "";
    struct elf_file *file = calloc(1, sizeof *file);
    ElfW(Ehdr) head = {
        .e_ident = {0x7f, 'E', 'L', 'F', sizeof(void *) == 8 ? 2 : 1, 1, 1},
        .e_type = plan->type != 0 ? plan->type : ET_EXEC,
        .e_machine = sizeof(void *) == 8 ? EM_X86_64 : EM_386,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof head,
        .e_shentsize = sizeof(ElfW(Shdr)),
        .e_shnum = ELF_SECTIONS,
        .e_shstrndx = ELF_IN_NAMES,
    };

    file->used = sizeof head;
    elf_put_code(file, plan);
    elf_put_symbols(file, plan);
    elf_section(file, ELF_IN_NAMES,
                (ElfW(Shdr)){.sh_type = SHT_STRTAB, .sh_size = sizeof names},
                names);
    head.e_shoff = elf_put(file, file->sections, sizeof file->sections);
    memcpy(file->bytes, &head, sizeof head);
    return file;
}

#endif
