/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What newlib does on this kernel, apart from memory and time, which have
 * tests of their own: constructors, formats, jumps, and files that are not
 * there.
 */

#include "guest/tap.h"

#include <errno.h>
#include <kernel/service.h>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char constructed[4];

__attribute__((constructor(200))) static void construct_second(void)
{
    strcat(constructed, "b");
}

__attribute__((constructor(101))) static void construct_first(void)
{
    free(malloc(1));
    strcat(constructed, "a");
}

static void test_formats(void)
{
    char text[64];

    snprintf(text, sizeof text, "%llu %lld %zu", 18446744073709551615ull,
             -9000000000ll, sizeof text);
    tap_ok(strcmp(text, "18446744073709551615 -9000000000 64") == 0,
           "whole numbers of 64 bits are written");
    snprintf(text, sizeof text, "%.3f %g %.0e", 2.5, 1e-7, sqrt(4e10));
    tap_ok(strcmp(text, "2.500 1e-07 2e+05") == 0,
           "broken numbers are written");
    tap_ok(strtod("0x1.8p1", NULL) == 3.0 && strtod("1e400", NULL) == HUGE_VAL,
           "broken numbers are read");
    tap_ok(strtoull("18446744073709551615", NULL, 10) == UINT64_MAX,
           "whole numbers of 64 bits are read");
}

static void test_jump(void)
{
    static jmp_buf back;
    volatile double kept = 1.5;
    volatile int jumps = 0;

    if (setjmp(back) < 3) {
        kept *= 2;
        longjmp(back, ++jumps);
    }
    tap_ok(jumps == 3 && kept == 12.0, "longjmp comes back with its value");
}

static void test_files(void)
{
    char byte;

    errno = 0;
    tap_ok(fopen("file", "r") == NULL && errno == ENOENT, "there are no files");
    tap_ok(read(0, &byte, 1) == 0, "there is nothing to read");
    tap_ok(write(5, "x", 1) == -1 && errno == EBADF,
           "nor other files to write");
    tap_ok(write(1, "# by write()\n", 13) == 13,
           "write() returns what it wrote");
    tap_ok(isatty(1) == 1 && lseek(1, 0, SEEK_SET) == -1 && errno == ESPIPE,
           "the console is a terminal");
    tap_ok(system("true") != 0, "there are no other programs");
    tap_ok(getenv("PATH") == NULL, "nor an environment");
}

int service_main(void)
{
    tap_plan(13);
    tap_ok(strcmp(constructed, "ab") == 0, "constructors run, in their order");
    test_formats();
    test_jump();
    test_files();
    return tap_end();
}
