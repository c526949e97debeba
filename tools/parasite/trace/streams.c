/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a trace that hold packets, one for each CPU: time never goes
 * back in a stream of the Common Trace Format, and a gap in the sequence of its
 * packets means lost ones.
 */

#include "trace/trace.h"

#include "base/memory.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

char *trace_path(const char *folder, const char *name)
{
    size_t bytes = strlen(folder);
    char *path = xreallocarray(NULL, bytes + strlen(name) + 2, 1);

    while (bytes > 0 && folder[bytes - 1] == '/')
        --bytes;
    sprintf(path, "%.*s/%s", (int)bytes, folder, name);
    return path;
}

char *trace_stream_path(const char *folder, uint16_t cpu)
{
    char name[sizeof "stream-65535"] = "stream";

    if (cpu != 0)
        sprintf(name, "stream-%u", (unsigned)cpu);
    return trace_path(folder, name);
}

/* The CPU whose file is called (name), 0 if it is no such file. */
static uint16_t cpu_in(const char *name)
{
    unsigned cpu;
    int end = 0;

    if (sscanf(name, "stream-%u%n", &cpu, &end) != 1 || name[end] != '\0' ||
        cpu > UINT16_MAX)
        return 0;
    return (uint16_t)cpu;
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
        uint16_t cpu = cpu_in(one->d_name);

        if (cpu == 0)
            continue;
        vector_reserve_one(cpus, count, sizeof **cpus);
        (*cpus)[count++] = cpu;
    }
    if (all != NULL)
        closedir(all);
    return count;
}
