/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that goes to stderr passes here. */

#include "talk.h"

#include "parasite.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *parasite_name = "parasite";
bool parasite_quiet;
bool parasite_verbose;
static bool line_open;  /* a progress line stands on the terminal */
static FILE *aside;     /* talk goes there, NULL = to stderr */
static char last[1024]; /* that was said aside */

void talk_aside(FILE *file)
{
    aside = file;
    last[0] = '\0';
}

const char *talk_last(void)
{
    return last;
}

static void print_aside(const char *format, va_list words)
{
    vsnprintf(last, sizeof last, format, words);
    fprintf(aside, "%s: %s\n", parasite_name, last);
    fflush(aside);
}

static void print(const char *format, va_list words)
{
    if (aside != NULL) {
        print_aside(format, words);
        return;
    }
    fflush(stdout);
    if (line_open)
        fputs("\r\033[K", stderr);
    line_open = false;
    fprintf(stderr, "%s: ", parasite_name);
    vfprintf(stderr, format, words);
    fputc('\n', stderr);
}

void say(const char *format, ...)
{
    va_list words;

    if (parasite_quiet)
        return;
    va_start(words, format);
    print(format, words);
    va_end(words);
}

void detail(const char *format, ...)
{
    va_list words;

    if (!parasite_verbose)
        return;
    va_start(words, format);
    print(format, words);
    va_end(words);
}

void complain(const char *format, ...)
{
    va_list words;

    va_start(words, format);
    print(format, words);
    va_end(words);
}

void fail(const char *format, ...)
{
    va_list words;

    va_start(words, format);
    print(format, words);
    va_end(words);
    exit(STATUS_DATA);
}

void misuse(const char *format, ...)
{
    va_list words;

    va_start(words, format);
    print(format, words);
    va_end(words);
    exit(STATUS_USAGE);
}

const char *talk_count(uint64_t number, char *text)
{
    char digits[TALK_NUMBER];
    int count = snprintf(digits, sizeof digits, "%" PRIu64, number);
    char *to = text;

    for (int i = 0; i < count; ++i) {
        if (i > 0 && (count - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

const char *talk_bytes(uint64_t bytes, char *text)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double amount = (double)bytes;
    size_t unit = 0;

    for (; amount >= 999.95 && unit < 4; ++unit)
        amount /= 1000;
    snprintf(text, TALK_NUMBER, "%.*f %s", unit > 0, amount, units[unit]);
    return text;
}

bool talk_progress(void)
{
    return !parasite_quiet && isatty(STDERR_FILENO);
}

void talk_line(const char *format, ...)
{
    va_list words;

    if (!talk_progress())
        return;
    va_start(words, format);
    fputc('\r', stderr);
    vfprintf(stderr, format, words);
    fputs("\033[K", stderr);
    fflush(stderr);
    va_end(words);
    line_open = true;
}

void talk_closing(const char *format, ...)
{
    va_list words;

    va_start(words, format);
    fflush(stdout);
    fputs(line_open ? "\r\033[K" : "", stderr);
    line_open = false;
    vfprintf(stderr, format, words);
    fputc('\n', stderr);
    va_end(words);
}

bool talk_color(const char *when)
{
    const char *no_color = getenv("NO_COLOR");

    if (strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    return isatty(STDOUT_FILENO) && (no_color == NULL || *no_color == '\0');
}
