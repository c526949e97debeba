/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_image 32|64 FUNCTIONS OUT: an ELF file of that width with so many
 * functions, for embed to make a table of. Its code is nowhere, only said to be
 * there. Names are like those of C++, some twenty functions to a class, and the
 * same for the same number; sizes and gaps are like those that compilers make.
 */

#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT 0x100000u
#define NAME_MAX_BYTES 128u
#define FUNCTIONS_TO_CLASS 20u

static const char *const words[] = {
    "accept", "add",    "align",  "block",  "buffer", "cache",  "channel",
    "check",  "client", "close",  "copy",   "count",  "create", "data",
    "decode", "device", "drop",   "encode", "entry",  "error",  "event",
    "field",  "file",   "find",   "flush",  "frame",  "get",    "handle",
    "hash",   "head",   "index",  "init",   "insert", "item",   "key",
    "level",  "line",   "list",   "lookup", "map",    "merge",  "message",
    "name",   "next",   "node",   "open",   "packet", "parse",  "path",
    "queue",  "read",   "remove", "reset",  "scan",   "send",   "server",
    "set",    "size",   "state",  "stream", "table",  "token",  "value",
    "write",
};
#define WORDS (sizeof words / sizeof words[0])

static const char *const arguments[] = {"v",   "i",    "j",    "Pv",
                                        "PKc", "PKcj", "RKS_", "S0_ij"};
#define ARGUMENTS (sizeof arguments / sizeof arguments[0])

static uint32_t chance(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* A part of a name: its length, and one word or two. */
static int put_part(char *to, uint64_t *state)
{
    const char *first = words[chance(state) % WORDS];
    const char *second = chance(state) % 2 ? words[chance(state) % WORDS] : "";

    return sprintf(to, "%zu%s%s", strlen(first) + strlen(second), first,
                   second);
}

/* Writes the name of function (number); returns its length. */
static size_t put_name(char *to, uint32_t number)
{
    uint64_t class = number / FUNCTIONS_TO_CLASS * 2654435761u + 1;
    uint64_t own = number * 2246822519ull + 7;
    char *at = to + sprintf(to, "_ZN");

    at += put_part(at, &class);
    at += put_part(at, &class);
    at += put_part(at, &own);
    at += sprintf(at, "E%s", arguments[chance(&own) % ARGUMENTS]);
    return (size_t)(at - to);
}

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "made_image: %s: %s\n", what, elf_errmsg(-1));
    exit(1);
}

/* A section with (bytes) of (from), or of nothing. Returns its index. */
static size_t section(Elf *elf, GElf_Shdr header, Elf_Type type, void *from,
                      size_t bytes)
{
    Elf_Scn *made = elf_newscn(elf);
    Elf_Data *data = elf_newdata(made);

    must(made != NULL && data != NULL, "a section");
    data->d_align = 8;
    data->d_buf = from;
    data->d_size = bytes;
    data->d_type = type;
    header.sh_addralign = 8;
    must(gelf_update_shdr(made, &header), "a section's header");
    return elf_ndxscn(made);
}

static void put_symbol(int class, void *symbols, uint32_t number, size_t name,
                       uint64_t start, uint64_t size)
{
    const unsigned char info = GELF_ST_INFO(STB_GLOBAL, STT_FUNC);

    if (class == ELFCLASS64)
        ((Elf64_Sym *)symbols)[number] =
            (Elf64_Sym){.st_name = (Elf64_Word)name,
                        .st_info = info,
                        .st_shndx = 1,
                        .st_value = start,
                        .st_size = size};
    else
        ((Elf32_Sym *)symbols)[number] =
            (Elf32_Sym){.st_name = (Elf32_Word)name,
                        .st_info = info,
                        .st_shndx = 1,
                        .st_value = (Elf32_Addr)start,
                        .st_size = (Elf32_Word)size};
}

/* Lays out (count) functions; returns where the code ends. */
static uint64_t make_symbols(int class, void *symbols, char *strings,
                             size_t *used, uint32_t count)
{
    uint64_t at = TEXT, state = 1;

    for (uint32_t i = 0; i < count; ++i) {
        uint64_t size = 16 + chance(&state) % 300;

        put_symbol(class, symbols, i + 1, *used, at, size);
        at += (size + 15) / 16 * 16;
        *used += put_name(strings + *used, i) + 1;
    }
    return at;
}

static void write_file(Elf *elf, int class, uint32_t count)
{
    static char names[] = "\0.text\0.note\0.symtab\0.strtab\0.shstrtab";
    static uint32_t note[] = {4, 4, 3 /* NT_GNU_BUILD_ID */, 0x554e47, 1};
    size_t each = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), used = 1;
    char *strings = calloc(count + 1, NAME_MAX_BYTES);
    void *symbols = calloc(count + 1, each);
    GElf_Ehdr head;
    uint64_t end;

    must(strings != NULL && symbols != NULL, "memory");
    end = make_symbols(class, symbols, strings, &used, count);
    section(elf,
            (GElf_Shdr){.sh_name = 1,
                        .sh_type = SHT_NOBITS,
                        .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                        .sh_addr = TEXT},
            ELF_T_BYTE, NULL, end - TEXT);
    section(elf, (GElf_Shdr){.sh_name = 7, .sh_type = SHT_NOTE}, ELF_T_BYTE,
            note, sizeof note);
    section(elf,
            (GElf_Shdr){.sh_name = 13,
                        .sh_type = SHT_SYMTAB,
                        .sh_link = 4,
                        .sh_info = 1,
                        .sh_entsize = each},
            ELF_T_SYM, symbols, (count + 1) * each);
    section(elf, (GElf_Shdr){.sh_name = 21, .sh_type = SHT_STRTAB}, ELF_T_BYTE,
            strings, used);
    must(gelf_getehdr(elf, &head) != NULL, "the head");
    head.e_type = ET_EXEC;
    head.e_machine = class == ELFCLASS64 ? EM_X86_64 : EM_386;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_shstrndx = (GElf_Half)section(
        elf, (GElf_Shdr){.sh_name = 29, .sh_type = SHT_STRTAB}, ELF_T_BYTE,
        names, sizeof names);
    must(gelf_update_ehdr(elf, &head), "the head");
    must(elf_update(elf, ELF_C_WRITE) > 0, "the file");
}

int main(int argc, char **argv)
{
    int class, file;
    Elf *elf;

    if (argc != 4) {
        fputs("usage: made_image 32|64 FUNCTIONS OUT\n", stderr);
        return 2;
    }
    class = strcmp(argv[1], "64") == 0 ? ELFCLASS64 : ELFCLASS32;
    file = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0666);
    elf_version(EV_CURRENT);
    elf = elf_begin(file, ELF_C_WRITE, NULL);
    must(elf != NULL && gelf_newehdr(elf, class) != NULL, argv[3]);
    write_file(elf, class, (uint32_t)strtoul(argv[2], NULL, 10));
    elf_end(elf);
    return close(file) != 0;
}
