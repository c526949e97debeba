/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for Linux without a library that reserves space for its symbol
 * table, as a kernel does, and prints what it finds there: the result of
 * opening it, the functions around two addresses, and the build-id. C or C++.
 */

#include <prof/symbols.h>

#ifdef __cplusplus
#define C extern "C"
#else
#define C
#endif
#define KEPT __attribute__((noinline, used))

#ifndef SPACE_BYTES
#define SPACE_BYTES 4096
#endif
#ifndef NO_SPACE
PROF_SYMBOLS_RESERVE(SPACE_BYTES);
#endif

C void start_here(void);
C int early_function(int x);
C int first_function(int x);
C int second_function(int x);

static long call(long number, long a, const void *b, long c)
{
    long result;

#ifdef __x86_64__
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
#else
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(a), "c"(b), "d"(c)
                     : "memory");
#endif
    return result;
}

static void print(const char *text)
{
    long length = 0;

    while (text[length] != '\0')
        ++length;
    call(sizeof(void *) == 8 ? 1 : 4, 1, text, length);
}

static void print_number(long value)
{
    char text[24];
    char *at = text + sizeof text - 1;
    unsigned long left =
        value < 0 ? -(unsigned long)value : (unsigned long)value;

    *at = '\0';
    do
        *--at = (char)('0' + left % 10);
    while ((left /= 10) != 0);
    if (value < 0)
        *--at = '-';
    print(at);
}

static void print_name(uintptr_t address)
{
    struct prof_symbol symbol;
    char name[64];

    if (!prof_symbol_find(address, &symbol)) {
        print(" ?");
        return;
    }
    prof_symbol_name(&symbol, name, sizeof name);
    print(" ");
    print(name);
}

static void print_build_id(void)
{
    size_t bytes;
    const uint8_t *id = prof_symbols_build_id(&bytes);

    print(" ");
    for (size_t i = 0; i < bytes; ++i) {
        char digits[3] = {"0123456789abcdef"[id[i] / 16],
                          "0123456789abcdef"[id[i] % 16], '\0'};

        print(digits);
    }
}

C KEPT __attribute__((section(".boot"))) int early_function(int x)
{
    return x + 1;
}

C KEPT int first_function(int x)
{
    return x * 3;
}

C KEPT int second_function(int x)
{
    return x / 3;
}

C KEPT void start_here(void)
{
    print_number(prof_symbols_embedded());
    print_name((uintptr_t)first_function);
    print_name((uintptr_t)second_function + 1);
    print_build_id();
    print("\n");
    call(sizeof(void *) == 8 ? 60 : 1, 0, NULL, 0);
    __builtin_unreachable();
}
