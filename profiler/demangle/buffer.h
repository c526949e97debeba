/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_DEMANGLE_BUFFER_H
#define PROF_DEMANGLE_BUFFER_H

/*
 * Bounded output of the demanglers, and their budget of steps.
 *
 * Demangling continues when the buffer is full, and bytes are still counted.
 * An error late in a name is thus found whatever the buffer's size.
 *
 * Contexts of all calls: any. No allocation, no state but the struct.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_HIDDEN __attribute__((visibility("hidden")))

/* A function that would be copied to its callers though a call is smaller,
 * where code is compiled for size. */
#ifdef __OPTIMIZE_SIZE__
#define DEMANGLE_SHARED __attribute__((noinline))
#else
#define DEMANGLE_SHARED
#endif

struct demangle_buffer {
    char *to;        /* the caller's buffer */
    size_t room;     /* its size, without the byte for NUL */
    uint32_t length; /* bytes of output so far, kept or not */
    uint16_t commas; /* deferred ", ", printed before the next output */
    char last;       /* last byte printed; a deferred comma counts as ' ' */
    uint32_t steps;  /* left in the budget */
    bool brief;      /* types that functions return are omitted */
};

/* Discards the output; the budget is not reset. */
PROF_HIDDEN void demangle_restart(struct demangle_buffer *o);

PROF_HIDDEN void demangle_put_bytes(struct demangle_buffer *o, const char *s,
                                    size_t n);
PROF_HIDDEN void demangle_put_char(struct demangle_buffer *o, char c);
PROF_HIDDEN void demangle_put_string(struct demangle_buffer *o, const char *s);
/* Writes (value) in decimal to the end of (digits); returns its beginning. */
#define DEMANGLE_DIGITS 10
PROF_HIDDEN size_t demangle_decimal(char digits[DEMANGLE_DIGITS],
                                    uint32_t value);
PROF_HIDDEN void demangle_put_decimal(struct demangle_buffer *o,
                                      uint32_t value);
/* Bytes of (s) before its NUL. */
PROF_HIDDEN size_t demangle_length(const char *s);
/* (code) as one to four bytes of UTF-8. MUST be a valid code point. */
PROF_HIDDEN void demangle_put_utf8(struct demangle_buffer *o, uint32_t code);

/*
 * Defers ", " until something is printed. At the end of a list the caller drops
 * the commas that nothing followed, with demangle_commas(): (keep) is the
 * number that was deferred before the list.
 */
PROF_HIDDEN void demangle_comma(struct demangle_buffer *o);
PROF_HIDDEN void demangle_commas(struct demangle_buffer *o, uint16_t keep);
/* Prints all deferred commas: for callers that write to the buffer directly. */
PROF_HIDDEN void demangle_flush(struct demangle_buffer *o);

/* Ends the output here: the budget was spent in the middle of a part, so later
 * output would not be contiguous. */
PROF_HIDDEN void demangle_stop(struct demangle_buffer *o);

/* Terminates the output with NUL, after a whole character. Returns its length
 * in bytes, without NUL. */
PROF_HIDDEN size_t demangle_close(struct demangle_buffer *o);

/* Copies (n) bytes. Most copies are short: 4 to 16 bytes are two overlapping
 * words, which is faster than a call of memcpy, but takes more code. */
static inline void demangle_copy(char *to, const char *s, size_t n)
{
#ifdef __OPTIMIZE_SIZE__
    const bool call = true;
#else
    const bool call = n > 16;
#endif

    if (call) {
        __builtin_memcpy(to, s, n);
    } else if (n >= 8) {
        __builtin_memcpy(to, s, 8);
        __builtin_memcpy(to + n - 8, s + n - 8, 8);
    } else if (n >= 4) {
        __builtin_memcpy(to, s, 4);
        __builtin_memcpy(to + n - 4, s + n - 4, 4);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = s[i];
    }
}

/* Spends (n) steps; false if the budget is exhausted. */
static inline bool demangle_pay(struct demangle_buffer *o, uint32_t n)
{
    if (o->steps < n) {
        o->steps = 0;
        return false;
    }
    o->steps -= n;
    return true;
}

/* Decodes the character at the beginning of the (n) bytes at (text), valid
 * UTF-8. Returns its bytes; 0: there is none. */
PROF_HIDDEN size_t prof_utf8_decode(const char *text, size_t n, uint32_t *code);
/* The value of a hexadecimal digit, or -1. */
PROF_HIDDEN int demangle_hex(char c);

#endif
