/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line. Each option has exactly one owner, so no key has two
 * meanings. An invalid option is reported on the console and ignored; the image
 * boots without it.
 */

#include "options.h"

#include "alarm.h"
#include "clock.h"
#include "cpus.h"
#include "prof_vsock.h"
#include "statistics.h"

#include <kernel/console.h>
#include <kernel/service.h>
#include <prof/error.h>
#include <prof/prof.h>
#include <stdbool.h>
#include <string.h>
#include <virtio_mmio.h>

#define WORD_MAX 128u
#define VSOCK_KEY "prof.vsock"

/* Default for services without options. */
__attribute__((weak)) bool service_option(const char *key, const char *value)
{
    (void)key;
    (void)value;
    return false;
}

/* The same for images without tasks; kernel/task overrides it. */
__attribute__((weak)) bool disk_option(const char *key, const char *value)
{
    (void)key;
    (void)value;
    return false;
}

/* Default for images without a network; kernel/net overrides it. */
__attribute__((weak)) bool net_option(const char *key, const char *value)
{
    (void)key;
    (void)value;
    return false;
}

/* The same for images without the profiler's port, which is in
 * kernel/profile_server. */
__attribute__((weak)) bool profile_server_option(const char *key,
                                                 const char *value)
{
    (void)key;
    (void)value;
    return false;
}

static void print_ignored(const char *word, const char *why)
{
    console_line("options: \"%s\" ignored: %s", word, why);
}

static bool is_of_port(const char *key)
{
    return strcmp(key, "prof.port") == 0 || strcmp(key, "prof.token") == 0;
}

/* Passes (key) to its owner. Returns an error message or NULL. */
static const char *set_option(const char *key, const char *value)
{
    if (strcmp(key, "clock") == 0)
        return clock_option(value) ? NULL : "must be cmos or tsc";
    if (strcmp(key, "alarm") == 0)
        return alarm_option(value) ? NULL : "must be auto, pit or tick";
#if ARCH_CPUS_MAX > 1
    if (strcmp(key, "cpus") == 0)
        return cpus_option(value) ? NULL : "must be 1 to 64";
#endif
    if (strcmp(key, "statistics") == 0)
        return statistics_option(value) ? NULL
                                        : "must be 1 to 3600000 milliseconds";
    if (strcmp(key, VSOCK_KEY) == 0)
        return prof_vsock_set_port(value) ? NULL
                                          : "must be a port, 1 to 4294967294";
    if (strcmp(key, "virtio_mmio.device") == 0)
        return virtio_mmio_word(value) ? NULL : "must be SIZE@ADDRESS:LINE";
    if (is_of_port(key))
        return profile_server_option(key, value)
                   ? NULL
                   : "invalid value, or image without the profiler's port";
    if (strncmp(key, "disk.", 5) == 0)
        return disk_option(key, value) ? NULL
                                       : "unknown disk option, or invalid";
    if (strncmp(key, "net.", 4) == 0)
        return net_option(key, value)
                   ? NULL
                   : "unknown network option, or image without a network";
    return service_option(key, value) ? NULL
                                      : "unknown option or invalid value";
}

static const char *set_profilers(const char *word)
{
    int error = prof_option(word);

    return error != 0 ? prof_strerror(error) : NULL;
}

/* Modifies (word) while it runs: '=' becomes the end of the key. */
static void apply(char *word)
{
    char *equals = strchr(word, '=');

    if (equals == NULL || equals == word) {
        print_ignored(word, "not of the form key=value");
    } else {
        const char *why = NULL;
        bool profilers;

        *equals = '\0';
        profilers = strncmp(word, "prof.", 5) == 0 && !is_of_port(word) &&
                    strcmp(word, VSOCK_KEY) != 0;
        if (!profilers)
            why = set_option(word, equals + 1);
        *equals = '=';
        if (profilers)
            why = set_profilers(word);
        if (why != NULL)
            print_ignored(word, why);
    }
}

void options_apply(const char *command_line)
{
    static const char blanks[] = " \t\r\n";
    const char *rest = command_line + strspn(command_line, blanks);

    for (bool first = true; *rest != '\0'; first = false) {
        char word[WORD_MAX];
        size_t bytes = strcspn(rest, blanks);
        size_t kept = bytes < WORD_MAX ? bytes : WORD_MAX - 1;

        memcpy(word, rest, kept);
        word[kept] = '\0';
        rest += bytes;
        rest += strspn(rest, blanks);
        if (first && strchr(word, '=') == NULL)
            continue;
        if (kept < bytes)
            print_ignored(word, "longer than 127 characters");
        else
            apply(word);
    }
}
