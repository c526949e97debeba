/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a trace that hold packets, one for each CPU: time never goes
 * back in a stream of the Common Trace Format, and a gap in the sequence of its
 * packets means lost ones.
 */

#include "trace/trace.h"

#include "base/log.h"
#include "base/memory.h"
#include "trace/place.h"

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
        uint16_t cpu = place_cpu(one->d_name);

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
