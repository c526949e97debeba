/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_DEMANGLE_OUT_H
#define PROF_DEMANGLE_OUT_H

/*
 * Bounded output of the demanglers: keeps the first bytes, counts them all.
 *
 * Counting goes on after the buffer is full, so that an error which shows
 * late in a name is seen with every buffer size alike.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_HIDDEN __attribute__((visibility("hidden")))

struct prof_out {
    char *to;        /* the caller's buffer */
    size_t room;     /* bytes in it, that of the NUL not counted */
    uint32_t length; /* bytes of the answer so far, kept or not */
    uint16_t commas; /* ", " that wait for something to follow them */
    char last;       /* last byte as the dialect sees it */
    uint32_t steps;  /* left in the budget */
};

/* Starts over in the same buffer; the budget goes on. */
PROF_HIDDEN void prof_out_restart(struct prof_out *o);

PROF_HIDDEN void prof_out_bytes(struct prof_out *o, const char *s, size_t n);
PROF_HIDDEN void prof_out_char(struct prof_out *o, char c);
PROF_HIDDEN void prof_out_string(struct prof_out *o, const char *s);
PROF_HIDDEN void prof_out_decimal(struct prof_out *o, uint32_t value);
/* (code) as one to four bytes of UTF-8. MUST be a valid code point. */
PROF_HIDDEN void prof_out_utf8(struct prof_out *o, uint32_t code);

/*
 * Promises ", " before whatever is printed next. Whoever promises takes the
 * promise back at the end of the list (prof_out_commas) if nothing came.
 */
PROF_HIDDEN void prof_out_comma(struct prof_out *o);
PROF_HIDDEN void prof_out_commas(struct prof_out *o, uint16_t keep);
/* Keeps all promises: for those who write into the buffer themselves. */
PROF_HIDDEN void prof_out_flush(struct prof_out *o);

/* The budget is spent within a part of the name: nothing is kept from here
 * on, for what comes next is not what follows. */
PROF_HIDDEN void prof_out_stop(struct prof_out *o);

/* Ends the answer with its NUL, between two characters. Returns the bytes. */
PROF_HIDDEN size_t prof_out_close(struct prof_out *o);

/* Copies (n) bytes, most often few: two overlapping words do for 4 to 16. */
static inline void prof_out_copy(char *to, const char *s, size_t n)
{
    if (n > 16) {
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

/* Takes (n) steps out of the budget; false when it is spent. */
static inline bool prof_out_pay(struct prof_out *o, uint32_t n)
{
    if (o->steps < n) {
        o->steps = 0;
        return false;
    }
    o->steps -= n;
    return true;
}

/* Whether (n) bytes at (s) are UTF-8 from end to end. */
PROF_HIDDEN bool prof_utf8_valid(const char *s, size_t n);

#endif
