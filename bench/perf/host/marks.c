/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A plugin of QEMU that counts the instructions of the Linux guest: those of
 * the kernel, of the work, and of other programs, by their addresses.
 * An iteration of a string instruction counts as one, as it does for -icount.
 *
 *     marks.so,out=FILE,mark=ADDRESS,work=BEGIN+END
 *
 * FILE gets a line "KERNEL WORK OTHERS" each time that the instruction at
 * ADDRESS is executed; the three are totals since the start. BEGIN and END are
 * the bounds of the work's program, to which no other one is linked. All
 * addresses are hexadecimal.
 */

#include "../../../tests/truth/qemu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_BEGIN 0x800000000000 /* of 64-bit addresses; users' are below */

int qemu_plugin_version = 1;

static uint64_t kernel, work, others;
static uint64_t mark, work_begin, work_end;
static FILE *out;

static uint64_t *counter_of(uint64_t address)
{
    if (address >= KERNEL_BEGIN)
        return &kernel;
    return address >= work_begin && address < work_end ? &work : &others;
}

static void on_mark(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", kernel, work, others);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t address = qemu_plugin_insn_vaddr(insn);

        qemu_plugin_register_vcpu_insn_exec_inline(
            insn, QEMU_PLUGIN_INLINE_ADD_U64, counter_of(address), 1);
        if (address == mark)
            qemu_plugin_register_vcpu_insn_exec_cb(
                insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, NULL);
    }
}

static void ended(qemu_plugin_id_t id, void *owner)
{
    (void)id, (void)owner;
    fclose(out);
}

static int argument(const char *word)
{
    if (strncmp(word, "out=", 4) == 0)
        out = fopen(word + 4, "w");
    else if (strncmp(word, "mark=", 5) == 0)
        mark = strtoull(word + 5, NULL, 16);
    else if (sscanf(word, "work=%" SCNx64 "+%" SCNx64, &work_begin,
                    &work_end) != 2)
        return -1;
    return 0;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
                        char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++)
        if (argument(argv[i]) != 0)
            return -1;
    if (out == NULL || mark == 0 || work_end == 0)
        return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
