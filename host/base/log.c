/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on stderr, without the control characters of guests and files. */

#define _GNU_SOURCE /* vasprintf() */

#include "base/log.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *log_name = "parasite";
bool log_quiet;
bool log_is_verbose;
static bool line_open;  /* a progress line is on the terminal */
static FILE *aside;     /* messages go there, NULL = to stderr */
static char last[1024]; /* the last redirected message */

void log_redirect(FILE *file)
{
    aside = file;
    last[0] = '\0';
}

const char *log_last(void)
{
    return last;
}

/* Prints (format) so that no word of it controls the terminal. */
static void put_message(FILE *out, const char *format, va_list words)
{
    char *text;

    if (vasprintf(&text, format, words) < 0)
        return;
    printable_put(out, text);
    free(text);
}

static void print_aside(const char *format, va_list words)
{
    vsnprintf(last, sizeof last, format, words);
    fprintf(aside, "%s: ", log_name);
    printable_put(aside, last);
    putc('\n', aside);
    fflush(aside);
}

static void clear_line(void)
{
    fputs(line_open ? "\r\033[K" : "", stderr);
    line_open = false;
}

static void print_message(const char *format, va_list words)
{
    if (aside != NULL) {
        print_aside(format, words);
        return;
    }
    fflush(stdout);
    clear_line();
    fprintf(stderr, "%s: ", log_name);
    put_message(stderr, format, words);
    fputc('\n', stderr);
}

void log_info(const char *format, ...)
{
    va_list words;

    if (log_quiet)
        return;
    va_start(words, format);
    print_message(format, words);
    va_end(words);
}

void log_verbose(const char *format, ...)
{
    va_list words;

    if (!log_is_verbose)
        return;
    va_start(words, format);
    print_message(format, words);
    va_end(words);
}

void log_error(const char *format, ...)
{
    va_list words;

    va_start(words, format);
    print_message(format, words);
    va_end(words);
}

void die(const char *format, ...)
{
    va_list words;

    va_start(words, format);
    print_message(format, words);
    va_end(words);
    exit(STATUS_DATA);
}

void die_usage(const char *format, ...)
{
    va_list words;

    va_start(words, format);
    print_message(format, words);
    va_end(words);
    exit(STATUS_USAGE);
}

bool log_shows_progress(void)
{
    return !log_quiet && isatty(STDERR_FILENO);
}

void log_progress(const char *format, ...)
{
    va_list words;

    if (!log_shows_progress())
        return;
    va_start(words, format);
    fputc('\r', stderr);
    put_message(stderr, format, words);
    fputs("\033[K", stderr);
    fflush(stderr);
    va_end(words);
    line_open = true;
}

void log_summary(const char *format, ...)
{
    va_list words;

    va_start(words, format);
    fflush(stdout);
    clear_line();
    put_message(stderr, format, words);
    fputc('\n', stderr);
    va_end(words);
}
