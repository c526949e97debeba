/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions, by capstone, from the bytes in the image's code sections.
 *
 * The target of a call or jump is named, unless it is in the function itself.
 * An address that was sampled and has no bytes in the image, such as code
 * generated at run time, is an instruction without a text.
 */

#include "annotate/annotate.h"
#include "base/log.h"
#include "base/memory.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct decoder {
    struct annotate *annotate;
    struct annotate_function *function;
    Elf *elf;
    csh capstone;
    cs_insn *instruction;
};

/* The bytes at (address), *(count) of them up to the end of their section, or
 * NULL. */
static const uint8_t *bytes_at(Elf *elf, uint64_t address, size_t *count)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        Elf_Data *data;

        if (gelf_getshdr(section, &header) == NULL ||
            (header.sh_flags & SHF_ALLOC) == 0 ||
            header.sh_type == SHT_NOBITS || address < header.sh_addr ||
            address - header.sh_addr >= header.sh_size)
            continue;
        data = elf_rawdata(section, NULL);
        if (data == NULL || data->d_size <= address - header.sh_addr)
            return NULL;
        *count = data->d_size - (size_t)(address - header.sh_addr);
        return (const uint8_t *)data->d_buf + (address - header.sh_addr);
    }
    return NULL;
}

/* " <name+0x12>" if (instruction) goes to another function, else "". */
static char *destination(const struct decoder *decoder,
                         const cs_insn *instruction)
{
    const char *operand = strstr(instruction->op_str, "0x");
    struct names *names = &decoder->annotate->view->names;
    const struct image_symbol *symbol = NULL;
    const char *name;
    uint64_t to;
    char *text;

    if (operand != NULL && strpbrk(instruction->op_str, "[(*") == NULL &&
        (instruction->mnemonic[0] == 'j' ||
         strncmp(instruction->mnemonic, "call", 4) == 0))
        symbol = image_function(names->image, strtoull(operand, NULL, 16));
    if (symbol == NULL || symbol == decoder->function->symbol)
        return xstrdup("");
    to = strtoull(operand, NULL, 16) - symbol->start;
    name = names->readable(symbol->name);
    text = xreallocarray(NULL, strlen(name) + 32, 1);
    if (to == 0)
        sprintf(text, " <%s>", name);
    else
        sprintf(text, " <%s+0x%" PRIx64 ">", name, to);
    return text;
}

static void put_code(struct decoder *decoder, uint64_t address, uint32_t bytes,
                     char *text)
{
    struct annotate_function *function = decoder->function;

    vector_reserve_one(&function->code, function->code_count,
                       sizeof *function->code);
    function->code[function->code_count++] = (struct annotate_code){
        .address = address, .bytes = bytes, .text = text};
}

static void put_instruction(struct decoder *decoder, const cs_insn *from)
{
    char *to = destination(decoder, from);
    char *text = xreallocarray(
        NULL, strlen(to) + sizeof from->mnemonic + sizeof from->op_str + 2, 1);

    sprintf(text, "%s%s%s%s", from->mnemonic,
            from->op_str[0] != '\0' ? " " : "", from->op_str, to);
    free(to);
    put_code(decoder, from->address, from->size, text);
}

static void disassemble(struct decoder *decoder)
{
    const struct annotate_function *function = decoder->function;
    uint64_t address = function->symbol->start;
    size_t left = 0, wanted = (size_t)(function->end - address);
    const uint8_t *bytes = bytes_at(decoder->elf, address, &left);

    left = left < wanted ? left : wanted;
    while (bytes != NULL && cs_disasm_iter(decoder->capstone, &bytes, &left,
                                           &address, decoder->instruction))
        put_instruction(decoder, decoder->instruction);
}

/* Both are sorted; hits after the last instruction get an instruction of their
 * own. */
static void spread_hits(struct decoder *decoder)
{
    const struct annotate *annotate = decoder->annotate;
    struct annotate_function *function = decoder->function;
    size_t at = 0;

    for (uint32_t i = 0; i < annotate->hit_keys.count; ++i) {
        const struct annotate_hit *hit = &annotate->hits[i];

        if (hit->address < function->symbol->start ||
            hit->address >= function->end)
            continue;
        while (at < function->code_count &&
               hit->address - function->code[at].address >=
                   function->code[at].bytes)
            ++at;
        if (at == function->code_count)
            put_code(decoder, hit->address, 1, xstrdup("(not in the image)"));
        model_count_add(&function->code[at].self, &hit->self);
    }
}

static bool open_capstone(struct decoder *decoder)
{
    const struct annotate *annotate = decoder->annotate;
    GElf_Ehdr header;
    cs_mode mode;
    cs_err problem;

    if (gelf_getehdr(decoder->elf, &header) == NULL ||
        (header.e_machine != EM_386 && header.e_machine != EM_X86_64)) {
        log_error("%s: neither an i386 nor an x86_64 image",
                  annotate->view->image.path);
        return false;
    }
    mode = header.e_machine == EM_386 ? CS_MODE_32 : CS_MODE_64;
    problem = cs_open(CS_ARCH_X86, mode, &decoder->capstone);
    if (problem == CS_ERR_OK)
        problem = cs_option(decoder->capstone, CS_OPT_SKIPDATA, CS_OPT_ON);
    if (problem == CS_ERR_OK && annotate->att)
        problem =
            cs_option(decoder->capstone, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
    if (problem != CS_ERR_OK)
        die("cannot start the disassembler: %s", cs_strerror(problem));
    decoder->instruction = cs_malloc(decoder->capstone);
    return true;
}

static void disassemble_all(struct decoder *decoder)
{
    struct annotate *annotate = decoder->annotate;

    for (size_t i = 0; i < annotate->shown; ++i) {
        decoder->function = &annotate->functions[i];
        disassemble(decoder);
        spread_hits(decoder);
    }
    cs_free(decoder->instruction, 1);
    cs_close(&decoder->capstone);
}

bool annotate_disassemble(struct annotate *annotate)
{
    struct decoder decoder = {.annotate = annotate};
    const char *path = image_file(&annotate->view->image);
    int file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool fine;

    if (path == NULL) {
        log_error("%s: only names are known, and not the instructions; give "
                  "the image with -k",
                  annotate->view->image.path);
        return false;
    }
    if (file < 0) {
        log_error("%s: cannot be read: %s", path, strerror(errno));
        return false;
    }
    decoder.elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    if (decoder.elf == NULL)
        log_error("%s: not an ELF file", path);
    fine = decoder.elf != NULL && open_capstone(&decoder);
    if (fine)
        disassemble_all(&decoder);
    elf_end(decoder.elf);
    close(file);
    return fine;
}
