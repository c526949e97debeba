/* SPDX-License-Identifier: Apache-2.0 */

#include "disk_device.h"

#include "../options.h"

#include <arch/cpu.h>
#include <kernel/disk.h>
#include <malloc.h>
#include <string.h>
#include <virtio_blk.h>

static const char any_number[] = "disk: any number of requests at a time";
static char queue[] = "disk: a queue, servers: N";
static struct prof_assumption assumption = PROF_ASSUMPTION(any_number);
static const char name[] = "the disk";
static struct prof_agent agent;
static uint64_t polled_tsc, polled_before_tsc;

static void *pages(size_t bytes)
{
    return memalign(VIRTIO_PAGE_BYTES, bytes);
}

const char *disk_device_start(void)
{
    static const char *const why[] = {
        [0] = NULL,
        [VIRTIO_BLK_NONE] = "there is none",
        [VIRTIO_BLK_QUEUES] = "its queue is too large",
        [VIRTIO_BLK_MEMORY] = "no memory",
        [VIRTIO_BLK_LINE] = "it has no interrupt line",
    };

    int error = virtio_blk_start(pages);

    if (error == 0)
        prof_causal_assume(&assumption);
    prof_agent_assume(&agent, &assumption);
    prof_agent_name(&agent, name);
    return why[error];
}

uint64_t disk_sectors(void)
{
    return virtio_blk_sectors();
}

bool disk_read_only(void)
{
    return virtio_blk_read_only();
}

void disk_poll(void)
{
    polled_before_tsc = polled_tsc;
    polled_tsc = arch_tsc();
    virtio_blk_poll();
}

/* ---- causal experiments */

bool disk_servers(unsigned servers)
{
    if (servers > PROF_AGENT_SERVERS_MAX || prof_causal_running())
        return false;
    queue[sizeof queue - 2] = (char)('0' + servers);
    assumption.text = servers == 0 ? any_number : queue;
    prof_agent_init(&agent,
                    servers == 0 ? PROF_AGENT_PARALLEL : PROF_AGENT_SERVERS,
                    servers);
    prof_agent_assume(&agent, &assumption);
    prof_agent_name(&agent, name);
    return true;
}

bool disk_option(const char *key, const char *value)
{
    return strcmp(key, "disk.servers") == 0 && value[0] >= '0' &&
           value[0] <= '8' && value[1] == '\0' &&
           disk_servers((unsigned)(value[0] - '0'));
}

void disk_submitted(struct disk_answer *answer, struct prof_moment doorbell)
{
    answer->modelled = prof_causal_running();
    if (answer->modelled)
        prof_agent_submit(&agent, &answer->request, doorbell);
}

/* It arrived since it was submitted and since the poll before. The middle of
 * that is right on average; in an experiment the loop polls all the time. */
static uint64_t arrival(const struct disk_answer *answer)
{
    static uint64_t last;
    uint64_t from = answer->request.cause.real, middle;

    if (from < polled_before_tsc)
        from = polled_before_tsc;
    middle = from + (polled_tsc - from) / 2;
    if (last < middle)
        last = middle;
    return last;
}

void disk_answered(struct disk_answer *answer, loop_callback *callback,
                   void *context)
{
    uint64_t due;

    if (!answer->modelled) {
        callback(context);
        return;
    }
    answer->modelled = false;
    due = prof_agent_answer(&agent, &answer->request, arrival(answer));
    answer->of_loop = (struct loop_answer){callback, context, NULL, NULL};
    loop_deliver(&answer->of_loop, due);
}
