/* SPDX-License-Identifier: Apache-2.0 */
/* loadgen's histogram against a plain sorted list. Prints TAP. */
#include "../../tools/loadgen/latency.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES 20000

static struct latency latency;
static struct latency corrected;
static uint64_t values[VALUES];

static void say(int number, bool fine, const char *what)
{
    printf("%s %d - loadgen: %s\n", fine ? "ok" : "not ok", number, what);
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* From microseconds to days, as many of each size. */
static uint64_t any_value(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 24) >> (state >> 59);
}

static bool near(uint64_t got, uint64_t exact)
{
    return got >= exact && got - exact <= exact / 128 + 1;
}

static bool percentiles_fit(void)
{
    bool fine = true;

    for (size_t i = 0; i < VALUES; i++) {
        values[i] = any_value();
        latency_add(&latency, values[i]);
    }
    qsort(values, VALUES, sizeof values[0], compare);
    for (int percent = 1; percent <= 100; percent++)
        fine &= near(latency_at(&latency, percent / 100.0),
                     values[VALUES * percent / 100 - 1]);
    return fine && latency_at(&latency, 1) == values[VALUES - 1];
}

/* One second of silence while one every 10 ms was wanted. */
static bool correction_adds(void)
{
    memset(&latency, 0, sizeof latency);
    for (int i = 0; i < 100; i++)
        latency_add(&latency, 10000);
    latency_add(&latency, 1000000);
    latency_correct(&corrected, &latency, 10000);
    return corrected.count == 200 && latency_at(&corrected, 0.5) >= 10000 &&
           near(latency_at(&corrected, 0.75), 500000);
}

int main(void)
{
    say(1, latency_at(&latency, 0.5) == 0, "nothing has no percentile");
    say(2, percentiles_fit(), "percentiles are within 1/128");
    say(3, correction_adds(), "what a stall kept away is added");
    puts("1..3");
    return 0;
}
