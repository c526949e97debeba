/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MACHINE_REGISTERS_H
#define MACHINE_REGISTERS_H

/* The registers of a CPU that an unwinder needs, all of them for people, and
 * where they are in what a stub sends. A stub describes that in XML; one that
 * does not is taken to send what GDB expects of old: 164 bytes and more are
 * x86_64's. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum registers_mode {
    MODE_REAL,
    MODE_32,
    MODE_64,
};

struct registers {
    enum registers_mode mode;
    uint64_t ip; /* linear where the mode is real */
    uint64_t sp;
    uint64_t fp;
    uint64_t cs;
    uint64_t cr0;
    uint64_t cr3;
    uint64_t cr4;
    uint64_t efer;
    bool masked; /* interrupts are off; false if that is not known */
};

enum register_name {
    REGISTER_IP,
    REGISTER_SP,
    REGISTER_FP,
    REGISTER_CS,
    REGISTER_FLAGS,
    REGISTER_FS_BASE,
    REGISTER_GS_BASE,
    REGISTER_CR0,
    REGISTER_CR2,
    REGISTER_CR3,
    REGISTER_CR4,
    REGISTER_EFER,
    REGISTERS_TAKEN, /* of those above, with each sample; these are shown: */
    REGISTER_AX = REGISTERS_TAKEN,
    REGISTER_BX,
    REGISTER_CX,
    REGISTER_DX,
    REGISTER_SI,
    REGISTER_DI,
    REGISTER_R8,
    REGISTER_R9,
    REGISTER_R10,
    REGISTER_R11,
    REGISTER_R12,
    REGISTER_R13,
    REGISTER_R14,
    REGISTER_R15,
    REGISTER_SS,
    REGISTER_DS,
    REGISTER_ES,
    REGISTER_FS,
    REGISTER_GS,
    REGISTERS,
};

/* All registers of a CPU, as they are. */
struct register_values {
    bool known[REGISTERS];
    uint64_t values[REGISTERS];
};

struct register_place {
    uint32_t offset;
    uint32_t bytes; /* 0 = it is not sent */
};

struct register_layout {
    bool is_64;
    bool described; /* by XML */
    struct register_place places[REGISTERS];
    uint32_t bytes; /* of all registers, as far as known */
};

/* Adds the registers in (xml), one part of a description, to (layout), which
 * starts as zeros. The parts are to be added in the order of their inclusion.
 */
void registers_add_xml(struct register_layout *layout, const char *xml);

/* The (number)th file that (xml) includes, to (name); false if none. */
bool registers_included(const char *xml, unsigned number, char *name,
                        size_t room);

/* Reads all registers that are among the (count) bytes. */
void registers_read(const struct register_layout *layout, const uint8_t *bytes,
                    size_t count, struct register_values *values);

/* Prints what is known of (values), by the names of this (mode), with the bits
 * of flags and control registers. */
void registers_print(FILE *out, const struct register_values *values,
                     enum registers_mode mode);

/* Takes the registers from the (count) bytes of a stub; false if the layout
 * does not fit these. A layout that is not described is chosen first. */
bool registers_take(struct register_layout *layout, const uint8_t *bytes,
                    size_t count, struct registers *registers);

#endif
