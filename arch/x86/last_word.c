/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A serial port and an exit, as few lines as possible and dependent on
 * nothing: no driver, no state but one flag, hardly any stack.
 */

#include "last_word.h"

#include <arch/cpu.h>
#include <stdbool.h>

#define COM1_DATA 0x3f8u
#define COM1_LINE_STATUS (COM1_DATA + 5)
#define LINE_STATUS_THRE (1u << 5)
#define DEBUG_EXIT_PORT 0xf4u
#define WAIT_READS_MAX 100000u

static bool last_word_deaf; /* COM1 did not take a byte in time */

static void put(char c)
{
    unsigned reads = 0;

    while ((arch_in8(COM1_LINE_STATUS) & LINE_STATUS_THRE) == 0) {
        if (last_word_deaf || ++reads == WAIT_READS_MAX) {
            last_word_deaf = true;
            return;
        }
    }
    arch_out8(COM1_DATA, (uint8_t)c);
}

void last_word(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n')
            put('\r');
        put(*text);
    }
}

void last_word_hex(uintptr_t value)
{
    unsigned bits = sizeof(value) * 8;

    last_word("0x");
    while (bits != 0) {
        bits -= 4;
        put("0123456789abcdef"[value >> bits & 0xf]);
    }
}

void last_word_exit(uint8_t code)
{
    arch_out8(DEBUG_EXIT_PORT, code);
    arch_stop();
}
