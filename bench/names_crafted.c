/* SPDX-License-Identifier: Apache-2.0 */

/* Names that are crafted to be slow: 4 KiB of input into 4 KiB of output. */

#include "names_engines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Repeats (middle) between (head) and (tail) up to (bytes). */
static char *repeated(const char *head, const char *middle, const char *tail,
                      size_t bytes)
{
    char *name = malloc(bytes + 1);
    size_t n = strlen(head);

    memcpy(name, head, n + 1);
    while (n + strlen(middle) + strlen(tail) <= bytes) {
        strcpy(name + n, middle);
        n += strlen(middle);
    }
    strcpy(name + n, tail);
    return name;
}

/* (head) makes (made) substitutions, the first of them a template. Then each
 * S_I x x E uses the one before it twice. */
static char *doubling(const char *head, size_t made, size_t levels)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *name = malloc(64 + levels * 24);
    size_t n = (size_t)sprintf(name, "%s", head);

    for (size_t i = 0; i < levels; i++) {
        char sub[8] = "S_";
        size_t index = i + made - 1;

        if (index > 36)
            sprintf(sub, "S%c%c_", digits[(index - 1) / 36],
                    digits[(index - 1) % 36]);
        else
            sprintf(sub, "S%c_", digits[index - 1]);
        n += (size_t)sprintf(name + n, "S_I%s%sE", sub, sub);
    }
    return name;
}

/* Names of 4 KiB: how they begin, what is repeated, how they end. */
static const char *const crafted[][3] = {
    {"_Z1f", "P", "i"},
    {"_Z1f", "PFvPK", "i"},
    {"_Z1f", "1AI", ""},
    {"_Z1fIJiiiiiiiiEEv", "DpPT_", ""},
    {"_Z", "Z1fvE", "1x"},
    {"_Z1f", "i", ""},
    {"_Z1f", "3abc", ""},
    {"_Z1f", "cvT_I", ""},
    {"_ZN1A", "cvT_I", ""},
    {"_Z1fDT", "plLi1E", ""},
    {"_Z1f", "K", "i"},
    {"_Z1fIA5_A6_iEv", "RKT_", ""},
    {"_RIC1a", "B_", "E"},
    {"_RNvC1a1b", "B", ""},
    {"_RIC1a", "TB2_B2_E", "E"},
    {"_RIC1aFGzzzz_", "E", "uE"},
    {"_RINvC1a1b", "FG9_", "EuE"},
    {"_RNvC1a", "u9bcher_kva", ""},
    {"_RNvC1au4084", "a", ""},
    {"_RIC1aKRe", "cc81", "_E"},
    {"_ZN", "1a", "17h0123456789abcdefE"},
    {"camlA", "$41__", ""},
    {"_Z4090", "a", ""},
    {"_Z1fI", "Li1E", "Evv"},
    {"_Z1fU3foo", "U3foo", "PFvvE"},
    {"_Z1fZ1gvEUl", "PFvZ1gvEUl", "vE_"},
};

#define CRAFTED (sizeof crafted / sizeof crafted[0])

/* The beginnings of names that double, and the substitutions in them. */
static const struct {
    const char *head;
    size_t made;
} doubles[] = {
    {"_Z1fSt4pairIiiE", 2},
    {"_Z1fSt4pairIPFvvES1_E", 4},
    {"_Z1f1AIM1BFvvEE", 5},
    {"_Z1fIA4_iEv1AIRKT_E", 5},
};

#define DOUBLES (sizeof doubles / sizeof doubles[0])

/* The best of twenty times, in us. */
static double crafted_us(const char *name)
{
    double best = 1e18;

    for (int k = 0; k < 20; k++) {
        double start = now_ns();

        engine_steps(name);
        start = now_ns() - start;
        best = start < best ? start : best;
    }
    return best / 1000;
}

void run_crafted(void)
{
    double worst = 0;
    size_t which = 0;
    uint32_t steps = 0;

    for (size_t i = 0; i < CRAFTED + DOUBLES; i++) {
        char *name = i < CRAFTED ? repeated(crafted[i][0], crafted[i][1],
                                            crafted[i][2], 4096)
                                 : doubling(doubles[i - CRAFTED].head,
                                            doubles[i - CRAFTED].made, 200);
        uint32_t taken = engine_steps(name);
        double us = crafted_us(name);

        if (us > worst) {
            worst = us;
            which = i;
        }
        steps = taken > steps ? taken : steps;
        free(name);
    }
    printf("{\"width\":\"host\",\"name\":\"crafted_worst_us\","
           "\"value\":%.1f,\"unit\":\"us\",\"which\":\"%s%s\"}\n",
           worst,
           which < CRAFTED ? crafted[which][0] : doubles[which - CRAFTED].head,
           which < CRAFTED ? crafted[which][1] : "...");
    printf("{\"width\":\"host\",\"name\":\"crafted_most_steps\","
           "\"value\":%u,\"unit\":\"steps\"}\n",
           steps);
}
