/* SPDX-License-Identifier: Apache-2.0 */
/* Which folders may be replaced by a trace, and how. */

#include "trace/trace.h"

#include "base/log.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum place {
    PLACE_FREE,  /* nothing */
    PLACE_EMPTY, /* an empty folder */
    PLACE_TRACE, /* the files of a trace, and no others */
    PLACE_MIXED, /* a trace, and other files */
    PLACE_LINK,
    PLACE_OTHER,
};

/* The CPU whose stream is called (name), 0 if it is no such file; the stream of
 * CPU 0 has another form of name. */
static uint16_t cpu_of_stream(const char *name)
{
    static const char begin[] = "stream-";
    const char *digits = name + strlen(begin);
    size_t count;
    unsigned long cpu;

    if (strncmp(name, begin, strlen(begin)) != 0 || *digits == '0')
        return 0;
    count = strspn(digits, "0123456789");
    if (digits[count] != '\0' || count == 0 || count > 5)
        return 0;
    cpu = strtoul(digits, NULL, 10);
    return cpu <= UINT16_MAX ? (uint16_t)cpu : 0;
}

/* Whether recording makes (name); the last three only for a moment. */
static bool is_ours(const char *name)
{
    static const char *const names[] = {"metadata",  "stream",  TRACE_SYMBOLS,
                                        ".metadata", ".sorted", ".symbols.new"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return cpu_of_stream(name) != 0;
}

static enum place look_into(DIR *all)
{
    bool metadata = false, stream = false, others = false;
    const struct dirent *one;
    size_t count = 0;

    while ((one = readdir(all)) != NULL) {
        if (strcmp(one->d_name, ".") == 0 || strcmp(one->d_name, "..") == 0)
            continue;
        ++count;
        metadata = metadata || strcmp(one->d_name, "metadata") == 0;
        stream = stream || strcmp(one->d_name, "stream") == 0;
        others = others || !is_ours(one->d_name);
    }
    if (count == 0)
        return PLACE_EMPTY;
    if (!metadata || !stream)
        return PLACE_OTHER;
    return others ? PLACE_MIXED : PLACE_TRACE;
}

static DIR *open_folder(const char *path)
{
    int file = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *all = file >= 0 ? fdopendir(file) : NULL;

    if (all == NULL && file >= 0)
        close(file);
    return all;
}

static enum place look_at(const char *path)
{
    struct stat about;
    enum place found = PLACE_OTHER;
    DIR *all;

    if (lstat(path, &about) != 0)
        return errno == ENOENT ? PLACE_FREE : PLACE_OTHER;
    if (S_ISLNK(about.st_mode))
        return PLACE_LINK;
    all = open_folder(path);
    if (all != NULL) {
        found = look_into(all);
        closedir(all);
    }
    return found;
}

static char *old_of(const char *path)
{
    char *old = xreallocarray(NULL, strlen(path) + sizeof ".old", 1);

    sprintf(old, "%s.old", path);
    return old;
}

/* Whether files may be made beside (path). */
static bool has_room_beside(const char *path)
{
    char *copy = xstrdup(path), *slash = strrchr(copy, '/');
    const char *folder = slash == NULL ? "." : slash == copy ? "/" : copy;
    bool fine;

    if (slash != NULL)
        *slash = '\0';
    fine = access(folder, W_OK | X_OK) == 0;
    free(copy);
    return fine;
}

static bool check_old(const char *path, char *why)
{
    char *old = old_of(path);
    enum place there = look_at(old);
    bool fine =
        there == PLACE_FREE || there == PLACE_EMPTY || there == PLACE_TRACE;

    if (!fine)
        snprintf(why, PLACE_WHY_MAX,
                 "%s: the trace in it would be renamed to %s, which holds "
                 "something else; move that away",
                 path, old);
    free(old);
    return fine;
}

bool place_check(const char *path, char *why)
{
    enum place there = look_at(path);

    if (there == PLACE_LINK) {
        snprintf(why, PLACE_WHY_MAX,
                 "%s: is a symbolic link; name the folder itself", path);
        return false;
    }
    if (there == PLACE_OTHER) {
        snprintf(why, PLACE_WHY_MAX,
                 "%s: exists and is not a trace; choose another name", path);
        return false;
    }
    if (!has_room_beside(path)) {
        snprintf(why, PLACE_WHY_MAX, "%s: cannot be created: %s", path,
                 strerror(errno));
        return false;
    }
    return there == PLACE_FREE || there == PLACE_EMPTY || check_old(path, why);
}

static void remove_trace(const char *path)
{
    DIR *all = open_folder(path);
    const struct dirent *one;

    if (all != NULL && look_into(all) == PLACE_TRACE) {
        rewinddir(all);
        while ((one = readdir(all)) != NULL) {
            if (is_ours(one->d_name))
                unlinkat(dirfd(all), one->d_name, 0);
        }
    }
    if (all != NULL)
        closedir(all);
    rmdir(path);
}

/* rename() replaces an empty folder, and refuses one that is not. */
static void keep_as_old(const char *path)
{
    char *old = old_of(path);

    remove_trace(old);
    if (rename(path, old) != 0)
        die("%s: cannot be renamed to %s: %s", path, old, strerror(errno));
    log_verbose("%s: the trace that was there is %s now", path, old);
    free(old);
}

int place_make(const char *path)
{
    enum place there = look_at(path);
    int folder = -1;

    if (there == PLACE_TRACE || there == PLACE_MIXED)
        keep_as_old(path);
    else if (there == PLACE_EMPTY)
        rmdir(path);
    if (mkdir(path, 0777) == 0)
        folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        die("%s: cannot be created: %s", path, strerror(errno));
    return folder;
}

/* ---- the files with packets, one for each CPU: time never goes back in a
 * stream of the Common Trace Format, and a gap in the sequence of its packets
 * means lost ones */

char *trace_path(const char *folder, const char *name)
{
    size_t bytes = strlen(folder);
    char *path = xreallocarray(NULL, bytes + strlen(name) + 2, 1);

    while (bytes > 0 && folder[bytes - 1] == '/')
        --bytes;
    sprintf(path, "%.*s/%s", (int)bytes, folder, name);
    return path;
}

void trace_stream_name(uint16_t cpu, char *name)
{
    strcpy(name, "stream");
    if (cpu != 0)
        sprintf(name, "stream-%u", (unsigned)cpu);
}

char *trace_stream_path(const char *folder, uint16_t cpu)
{
    char name[TRACE_NAME_MAX];

    trace_stream_name(cpu, name);
    return trace_path(folder, name);
}

size_t trace_cpus(const char *folder, uint16_t **cpus)
{
    DIR *all = opendir(folder);
    const struct dirent *one;
    size_t count = 1;

    *cpus = NULL;
    vector_reserve_one(cpus, 0, sizeof **cpus);
    (*cpus)[0] = 0;
    while (all != NULL && (one = readdir(all)) != NULL) {
        uint16_t cpu = cpu_of_stream(one->d_name);

        if (cpu == 0)
            continue;
        if (count == TRACE_CPUS_MAX)
            die("%s: has the streams of more than %d CPUs", folder,
                TRACE_CPUS_MAX);
        vector_reserve_one(cpus, count, sizeof **cpus);
        (*cpus)[count++] = cpu;
    }
    if (all != NULL)
        closedir(all);
    return count;
}
