/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Uses no driver, no state except one flag, and little stack, so that it works
 * when nothing else does.
 */

#include "emergency_console.h"

#include <arch/cpu.h>
#include <stdbool.h>

#define COM1_DATA 0x3f8u
#define COM1_LINE_STATUS (COM1_DATA + 5)
#define LINE_STATUS_THRE (1u << 5)
#define DEBUG_EXIT_PORT 0xf4u
#define WAIT_READS_MAX 100000u

static bool timed_out; /* COM1 did not accept a byte in time */

static void put_char(char c)
{
    unsigned reads = 0;

    while ((arch_in8(COM1_LINE_STATUS) & LINE_STATUS_THRE) == 0) {
        if (timed_out || ++reads == WAIT_READS_MAX) {
            timed_out = true;
            return;
        }
    }
    arch_out8(COM1_DATA, (uint8_t)c);
}

void emergency_print(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n')
            put_char('\r');
        put_char(*text);
    }
}

void emergency_print_hex(uintptr_t value)
{
    unsigned bits = sizeof(value) * 8;

    emergency_print("0x");
    while (bits != 0) {
        bits -= 4;
        put_char("0123456789abcdef"[value >> bits & 0xf]);
    }
}

void emergency_exit(uint8_t code)
{
    arch_out8(DEBUG_EXIT_PORT, code);
    arch_stop();
}
