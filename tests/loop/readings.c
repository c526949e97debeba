/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of QEMU that counts instructions, and writes how many there were
 * whenever the statistics of the event loop read the time stamp counter, and
 * whenever a function work_NAME() begins:
 *
 *     -plugin readings.so,map=FILE,out=FILE
 *
 * (map) has lines "START END NAME" in hexadecimal, of these functions only;
 * (out) gets lines "COUNT NAME".
 */

#include "truth/qemu.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define FUNCTIONS_MAX 64u

int qemu_plugin_version = 1;

static struct function {
    uint64_t start, end;
    char name[64];
} functions[FUNCTIONS_MAX];
static size_t count;

static uint64_t executed;
static FILE *out;

static void on_reading(unsigned vcpu, void *owner)
{
    const struct function *function = owner;

    (void)vcpu;
    fprintf(out, "%" PRIu64 " %s\n", executed, function->name);
}

static bool is_rdtsc(const struct qemu_plugin_insn *insn)
{
    static const uint8_t rdtsc[] = {0x0f, 0x31};

    return qemu_plugin_insn_size(insn) == sizeof rdtsc &&
           memcmp(qemu_plugin_insn_data(insn), rdtsc, sizeof rdtsc) == 0;
}

static void watch(struct qemu_plugin_insn *insn)
{
    uint64_t address = qemu_plugin_insn_vaddr(insn);

    for (size_t i = 0; i < count; ++i)
        if ((strncmp(functions[i].name, "work_", 5) == 0
                 ? address == functions[i].start
                 : address >= functions[i].start &&
                       address < functions[i].end && is_rdtsc(insn)))
            qemu_plugin_register_vcpu_insn_exec_cb(
                insn, on_reading, QEMU_PLUGIN_CB_NO_REGS, &functions[i]);
    qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
                                               &executed, 1);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); ++i)
        watch(qemu_plugin_tb_get_insn(tb, i));
}

static void ended(qemu_plugin_id_t id, void *owner)
{
    (void)id, (void)owner;
    fclose(out);
}

static bool read_map(const char *path)
{
    FILE *in = fopen(path, "r");

    if (in == NULL)
        return false;
    while (count < FUNCTIONS_MAX &&
           fscanf(in, "%" SCNx64 " %" SCNx64 " %63s", &functions[count].start,
                  &functions[count].end, functions[count].name) == 3)
        ++count;
    fclose(in);
    return count > 0;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
                        char **argv)
{
    bool mapped = false;

    (void)info;
    for (int i = 0; i < argc; ++i) {
        if (strncmp(argv[i], "map=", 4) == 0)
            mapped = read_map(argv[i] + 4);
        else if (strncmp(argv[i], "out=", 4) == 0)
            out = fopen(argv[i] + 4, "w");
    }
    if (!mapped || out == NULL) {
        fputs("readings: needs map= and out=\n", stderr);
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
