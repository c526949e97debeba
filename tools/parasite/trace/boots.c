/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only the trace of the boot that sends at present is open, so that a guest
 * that reboots again and again does not use up the process's file descriptors.
 */

#include "trace/boots.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct boot *add_boot(struct boots *boots, const char *path)
{
    struct boot *boot = xreallocarray(NULL, 1, sizeof *boot);

    *boot = (struct boot){.path = xstrdup(path)};
    boot->writer.image = boots->image;
    trace_create(&boot->writer, boot->path);
    vector_reserve_one(&boots->list, boots->count, sizeof *boots->list);
    boots->list[boots->count++] = boot;
    return boot;
}

void boots_begin(struct boots *boots, const char *path)
{
    boots->now = add_boot(boots, path);
}

static struct boot *add_numbered(struct boots *boots)
{
    const char *first = boots->list[0]->path;
    size_t bytes = strlen(first);
    char *path = xreallocarray(NULL, bytes + 24, 1);
    struct boot *boot;

    while (bytes > 1 && first[bytes - 1] == '/')
        --bytes;
    sprintf(path, "%.*s-%zu", (int)bytes, first, boots->count + 1);
    boot = add_boot(boots, path);
    free(path);
    return boot;
}

static bool is_from(const struct boot *boot, const struct packet *packet)
{
    return boot->writer.index.count == 0 ||
           memcmp(boot->writer.index.uuid, packet->uuid,
                  sizeof boot->writer.index.uuid) == 0;
}

/* The boot that (packet) is from, usually that of the packet before. */
static struct boot *find(struct boots *boots, const struct packet *packet)
{
    struct boot *found = NULL;

    if (is_from(boots->now, packet))
        return boots->now;
    for (size_t i = 0; i < boots->count && found == NULL; ++i) {
        if (is_from(boots->list[i], packet))
            found = boots->list[i];
    }
    trace_suspend(&boots->now->writer);
    return found != NULL ? found : add_numbered(boots);
}

struct boot *boots_take(struct boots *boots, const struct packet *packet)
{
    boots->now = find(boots, packet);
    if (!trace_put(&boots->now->writer, packet))
        return NULL;
    model_take(&boots->now->model, packet);
    return boots->now;
}

void boots_end(struct boots *boots)
{
    for (size_t i = 0; i < boots->count; ++i)
        trace_finish(&boots->list[i]->writer, &boots->list[i]->model);
}
