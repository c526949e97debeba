/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QEMU_H
#define QEMU_H

/*
 * The part of QEMU's interface for TCG plugins (its version 1) that is used
 * here, as the manual describes it ("QEMU TCG Plugins"); Debian ships no
 * header. QEMU itself gives these functions when it loads a plugin.
 */

#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;   /* a block, in translation */
struct qemu_plugin_insn; /* one of its instructions */

/* Passed where the callback reads and writes no registers. */
#define QEMU_PLUGIN_CB_NO_REGS 0
#define QEMU_PLUGIN_INLINE_ADD_U64 0

/* Called when (a block is translated | it or an instruction is about to be
 * executed | QEMU ends). */
typedef void qemu_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void qemu_executed(unsigned vcpu, void *owner);
typedef void qemu_ended(qemu_plugin_id_t id, void *owner);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           qemu_translated *callback);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
                                          qemu_executed *callback, int flags,
                                          void *owner);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
                                            qemu_executed *callback, int flags,
                                            void *owner);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
                                                int operation, void *counter,
                                                uint64_t amount);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_ended *callback,
                                    void *owner);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t number);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);

/* What a plugin gives. */
extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
                        char **argv);

#endif
