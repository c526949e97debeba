/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a guest executes, and where it could be stopped, as a plugin of QEMU:
 *
 *     -plugin stops.so,out=FILE
 *
 * QEMU's emulator looks for a request to stop at the beginning of each block of
 * instructions, so a request that comes during a block is seen at the beginning
 * of the next one. FILE gets a line "ADDRESS OWN BEFORE" for each block, its
 * address hexadecimal: the instructions that were executed in it, and those of
 * the blocks that were executed just before it. For one CPU.
 */

#include <inttypes.h>
#include <qemu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
    struct block *next;
    uint64_t address;
    uint64_t instructions;
    uint64_t executed; /* times */
    uint64_t before;   /* instructions */
};

int qemu_plugin_version = 1;

static struct block *blocks;
static uint64_t last; /* instructions of the block before */
static const char *out_path;

static void on_block(unsigned cpu, void *owner)
{
    struct block *block = owner;

    (void)cpu;
    ++block->executed;
    block->before += last;
    last = block->instructions;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    struct block *block = calloc(1, sizeof *block); /* lives as long as QEMU */

    (void)id;
    block->next = blocks;
    blocks = block;
    block->address = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
    block->instructions = qemu_plugin_tb_n_insns(tb);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                         block);
}

static void write_out(qemu_plugin_id_t id, void *owner)
{
    FILE *out = fopen(out_path, "w");

    (void)id, (void)owner;
    if (out == NULL) {
        perror(out_path);
        return;
    }
    for (struct block *block = blocks; block != NULL; block = block->next)
        fprintf(out, "%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", block->address,
                block->instructions * block->executed, block->before);
    fclose(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
                        char **argv)
{
    (void)info;
    if (argc != 1 || strncmp(argv[0], "out=", 4) != 0) {
        fputs("stops: needs out=\n", stderr);
        return 1;
    }
    out_path = strdup(argv[0] + 4);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, write_out, NULL);
    return 0;
}
