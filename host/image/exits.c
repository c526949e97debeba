/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that leave the guest, by capstone. */

#include "image/exits.h"

#include "base/memory.h"

#include <capstone/capstone.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>

struct exits {
    const struct image *image;
    const regex_t *functions;
    int file;
    Elf *elf;
    csh decoder;
    cs_insn *instruction;

    /* Where decoding stopped last: of the function that begins at (begin), the
     * instruction at (at) is next, whether the one before it (left), and */
    uint64_t begin;
    uint64_t at;
    bool left;
    uint64_t called; /* by it, directly; 0 = it is no such call */
};

/* Always, or unless the hypervisor disabled it (Intel SDM vol. 3, 26.1,
 * "Instructions that cause VM exits"). */
static bool leaves(unsigned instruction)
{
    static const uint16_t leaving[] = {
        X86_INS_IN,      X86_INS_INSB,   X86_INS_INSD,   X86_INS_INSW,
        X86_INS_OUT,     X86_INS_OUTSB,  X86_INS_OUTSD,  X86_INS_OUTSW,
        X86_INS_HLT,     X86_INS_CPUID,  X86_INS_RDMSR,  X86_INS_WRMSR,
        X86_INS_MONITOR, X86_INS_MWAIT,  X86_INS_XSETBV, X86_INS_INVD,
        X86_INS_VMCALL,  X86_INS_VMMCALL};

    for (size_t i = 0; i < sizeof leaving / sizeof leaving[0]; ++i)
        if (leaving[i] == instruction)
            return true;
    return false;
}

static bool open_decoder(struct exits *exits)
{
    GElf_Ehdr header;
    cs_mode mode;

    if (exits->elf == NULL || gelf_getehdr(exits->elf, &header) == NULL)
        return false;
    if (header.e_machine == EM_X86_64)
        mode = CS_MODE_64;
    else if (header.e_machine == EM_386)
        mode = CS_MODE_32;
    else
        return false;
    if (cs_open(CS_ARCH_X86, mode, &exits->decoder) != CS_ERR_OK)
        return false;
    /* bytes that are not an instruction are skipped one by one */
    cs_option(exits->decoder, CS_OPT_SKIPDATA, CS_OPT_ON);
    cs_option(exits->decoder, CS_OPT_DETAIL, CS_OPT_ON);
    exits->instruction = cs_malloc(exits->decoder);
    return true;
}

struct exits *exits_open(const struct image *image, const regex_t *functions)
{
    struct exits *exits = xreallocarray(NULL, 1, sizeof *exits);
    const char *file = image_file(image);

    *exits = (struct exits){.image = image, .functions = functions};
    exits->file = file != NULL ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    elf_version(EV_CURRENT);
    exits->elf = elf_begin(exits->file, ELF_C_READ_MMAP, NULL);
    if (open_decoder(exits))
        return exits;
    exits_close(exits);
    return NULL;
}

/* The bytes at (address), of which *(count) are in its section. */
static const uint8_t *code_at(const struct exits *exits, uint64_t address,
                              size_t *count)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(exits->elf, section)) != NULL) {
        GElf_Shdr header;
        Elf_Data *data;

        if (gelf_getshdr(section, &header) == NULL ||
            (header.sh_flags & SHF_EXECINSTR) == 0 ||
            header.sh_type != SHT_PROGBITS || address < header.sh_addr ||
            address - header.sh_addr >= header.sh_size)
            continue;
        data = elf_rawdata(section, NULL);
        if (data == NULL || data->d_size != header.sh_size)
            return NULL;
        *count = header.sh_size - (address - header.sh_addr);
        return (const uint8_t *)data->d_buf + (address - header.sh_addr);
    }
    return NULL;
}

/* A jump to the next instruction, which a driver may have after port output. */
static bool jumps_to_next(const cs_insn *instruction)
{
    return instruction->id == X86_INS_JMP && instruction->size == 2 &&
           instruction->bytes[1] == 0;
}

/* Whether control goes on behind (instruction) in any case. */
static bool goes_on(const struct exits *exits, const cs_insn *instruction)
{
    return jumps_to_next(instruction) ||
           (!cs_insn_group(exits->decoder, instruction, CS_GRP_JUMP) &&
            !cs_insn_group(exits->decoder, instruction, CS_GRP_CALL) &&
            !cs_insn_group(exits->decoder, instruction, CS_GRP_RET));
}

/* Whether the function at (address) returns after an instruction that leaves,
 * with no other jump in between. */
static bool returns_from_exit(struct exits *exits, uint64_t address)
{
    const struct image_symbol *function = image_function(exits->image, address);
    const cs_insn *instruction = exits->instruction;
    size_t count;
    const uint8_t *code;
    bool left = false;

    if (function == NULL || function->start != address)
        return false;
    code = code_at(exits, address, &count);
    while (code != NULL && address < function->end &&
           cs_disasm_iter(exits->decoder, &code, &count, &address,
                          exits->instruction)) {
        if (left && cs_insn_group(exits->decoder, instruction, CS_GRP_RET))
            return true;
        left = leaves(instruction->id) || (left && goes_on(exits, instruction));
    }
    return false;
}

/* Where (instruction) calls to, 0 if that is in a register or in memory. */
static uint64_t call_target(const cs_insn *instruction)
{
    const cs_x86 *x86;

    if (instruction->id != X86_INS_CALL)
        return 0;
    x86 = &instruction->detail->x86;
    return x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM
               ? (uint64_t)x86->operands[0].imm
               : 0;
}

/* Decodes from the function's beginning until (address) is reached, or from
 * where it stopped last: addresses that rise cost one pass, not its square. */
static bool decoded(struct exits *exits, uint64_t begin, uint64_t address)
{
    const cs_insn *instruction = exits->instruction;
    uint64_t at = address;
    size_t count;
    const uint8_t *code;

    if (exits->begin != begin || exits->at > address) {
        exits->begin = exits->at = begin;
        exits->left = false;
        exits->called = 0;
    }
    code = code_at(exits, exits->at, &count);
    while (code != NULL && exits->at < address &&
           cs_disasm_iter(exits->decoder, &code, &count, &exits->at,
                          exits->instruction)) {
        exits->left = leaves(instruction->id) ||
                      (exits->left && jumps_to_next(instruction));
        exits->called = call_target(instruction);
    }
    if (exits->at != address || exits->left)
        return exits->at == address;
    if (exits->called != 0 && returns_from_exit(exits, exits->called))
        return true;
    /* no instruction may be here: the function's end */
    return code != NULL &&
           cs_disasm_iter(exits->decoder, &code, &count, &at,
                          exits->instruction) &&
           leaves(instruction->id);
}

bool exits_at(struct exits *exits, uint64_t address)
{
    const struct image_symbol *function;

    if (exits == NULL)
        return false;
    function = image_function(exits->image, address);
    /* the last instruction of a function that does not return */
    if (function == NULL && address > 0)
        function = image_function(exits->image, address - 1);
    if (function == NULL)
        return false;
    if (exits->functions != NULL &&
        regexec(exits->functions, function->name, 0, NULL, 0) == 0)
        return true;
    return decoded(exits, function->start, address);
}

void exits_close(struct exits *exits)
{
    if (exits == NULL)
        return;
    if (exits->instruction != NULL) {
        cs_free(exits->instruction, 1);
        cs_close(&exits->decoder);
    }
    elf_end(exits->elf);
    if (exits->file >= 0)
        close(exits->file);
    free(exits);
}
