/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much stack the demangler takes: reads names, one a line, and prints the
 * deepest use over all of them and over mutants of each, in every language.
 *
 *     stack [MUTANTS] < names
 *
 * The stack below is painted before each call and looked at after it. What is
 * counted begins with the return address that the call pushes. Built with the
 * image's compiler flags, for both widths.
 */

#include <prof/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define STACK 65536u
#define LOOK 16384u /* of it, below the caller */
#define PAINT 0x5a5a5a5a5a5a5a5aull

typedef volatile uint64_t stack_word;

static unsigned char stack[STACK] __attribute__((aligned(64)));
static struct prof_demangle_work work;
static char out[8192];
static ucontext_t here, there;
static const char *name;
static enum prof_language language;
static size_t deepest;
static uint32_t most_steps;
static double most_spent; /* largest share of a budget */
static unsigned long calls;
static char deepest_name[256];

/* Runs on the painted stack; calls once each time that it is entered. */
static void inside(void)
{
    for (;;) {
        struct prof_demangled got;
        unsigned char *sp = __builtin_frame_address(0), *end, *at;

        /* The frame's own locals lie below its address, too: leave room. */
        end = sp - (uintptr_t)sp % sizeof(stack_word) - 256;
        for (at = end - LOOK; at < end; at += sizeof(stack_word))
            *(stack_word *)at = PAINT;
        got = prof_demangle_as(language, name, out, sizeof out, &work);
        for (at = end - LOOK; at < end; at += sizeof(stack_word))
            if (*(stack_word *)at != PAINT)
                break;
        /* Counted from the frame address: more than the call, never less. */
        if ((size_t)(sp - at) > deepest) {
            deepest = (size_t)(sp - at);
            snprintf(deepest_name, sizeof deepest_name, "%s", name);
        }
        if (got.steps > most_steps)
            most_steps = got.steps;
        if ((double)got.steps / PROF_DEMANGLE_STEPS(strlen(name)) > most_spent)
            most_spent = (double)got.steps / PROF_DEMANGLE_STEPS(strlen(name));
        calls++;
        swapcontext(&there, &here);
    }
}

static uint32_t random_next(void)
{
    static uint32_t state = 2463534242u;

    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

/* Changes, drops, doubles or moves a piece of (text); returns its length. */
static size_t mutate(char *text, size_t bytes, size_t room)
{
    static const char likely[] = "_EISTPRKNZLXDFAMCJOJdpclsrtvi0123456789B";
    size_t at = random_next() % (bytes + 1);
    size_t piece = bytes - at;

    if (piece > 8)
        piece = 1 + random_next() % 8;
    switch (random_next() % 4) {
    case 0:
        if (at < bytes)
            text[at] = likely[random_next() % (sizeof likely - 1)];
        return bytes;
    case 1:
        memmove(text + at, text + at + piece, bytes - at - piece + 1);
        return bytes - piece;
    case 2:
        if (bytes + piece + 1 > room)
            return bytes;
        memmove(text + at + piece, text + at, bytes - at + 1);
        return bytes + piece;
    default:
        if (at < bytes && piece > 0)
            text[at] = text[random_next() % bytes];
        return bytes;
    }
}

static void try_all(const char *text)
{
    name = text;
    for (int l = PROF_LANGUAGE_AUTO; l <= PROF_LANGUAGE_OCAML; l++) {
        language = (enum prof_language)l;
        swapcontext(&here, &there);
    }
}

int main(int argc, char **argv)
{
    int mutants = argc > 1 ? atoi(argv[1]) : 4;
    static char line[70000], mutant[70100];
    unsigned long names = 0;

    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    makecontext(&there, inside, 0);
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = 0;
        names++;
        try_all(line);
        for (int m = 0; m < mutants; m++) {
            size_t bytes = strlen(strcpy(mutant, line));

            for (uint32_t n = 1 + random_next() % 4; n > 0; n--)
                bytes = mutate(mutant, bytes, sizeof mutant);
            try_all(mutant);
        }
    }
    printf("%d bits: %lu names, %lu calls, deepest stack %zu bytes, "
           "most steps %u, %.0f %% of a budget at most\n",
           (int)(8 * sizeof(void *)), names, calls, deepest, most_steps,
           100 * most_spent);
    if (getenv("STACK_NAME") != NULL)
        printf("  by %s\n", deepest_name);
    return deepest <= 1024 ? 0 : 1;
}
