/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_perf SAMPLES SEED ADDRESSES IMAGE: writes to stdout what make_stream
 * writes with the same words, as a perf.data file: one process that runs IMAGE.
 * Idle samples, which perf does not know, are left out. The layout is that of
 * perf.data-file-format.txt and perf_event_open(2).
 */

#include "made_tree.h"

#include <linux/perf_event.h>
#include <string.h>

#define PROCESS 1000u
#define DEPTH_MAX 127u
#define IMAGE_ADDRESS 0x100000u
#define IMAGE_OFFSET 0u

struct section {
    uint64_t offset;
    uint64_t bytes;
};

struct file_attr {
    struct perf_event_attr attr;
    struct section ids;
};

struct file_header {
    char magic[8];
    uint64_t bytes;
    uint64_t attr_bytes;
    struct section attrs;
    struct section data;
    struct section event_types;
    uint64_t features[4];
};

struct who {
    uint32_t process;
    uint32_t thread;
    uint64_t time_ns;
};

static uint64_t written;

static void put(const void *bytes, size_t count)
{
    fwrite(bytes, count, 1, stdout);
    written += count;
}

static void put_event(uint32_t type, const void *body, size_t bytes)
{
    struct perf_event_header header = {
        .type = type,
        .misc = PERF_RECORD_MISC_USER,
        .size = (uint16_t)(sizeof header + bytes),
    };

    put(&header, sizeof header);
    put(body, bytes);
}

static void put_process(const char *image)
{
    struct {
        uint32_t process, thread;
        char name[16];
        struct who who;
    } command = {PROCESS, PROCESS, "image", {PROCESS, PROCESS, 0}};
    struct {
        uint32_t process, thread;
        uint64_t address, bytes, offset;
        char path[512];
        struct who who;
    } map = {PROCESS,      PROCESS, IMAGE_ADDRESS,        1 << 28,
             IMAGE_OFFSET, "",      {PROCESS, PROCESS, 0}};

    strncpy(map.path, image, sizeof map.path - 1);
    put_event(PERF_RECORD_COMM, &command, sizeof command);
    put_event(PERF_RECORD_MMAP, &map, sizeof map);
}

static void put_sample(uint32_t node, uint64_t time_ns)
{
    struct {
        uint64_t address;
        struct who who;
        uint64_t period, depth;
        uint64_t stack[DEPTH_MAX + 1];
    } sample = {node_addresses[node],
                {PROCESS, PROCESS, time_ns},
                1,
                1,
                {PERF_CONTEXT_USER}};

    for (; node != 0 && sample.depth <= DEPTH_MAX; node = parents[node])
        sample.stack[sample.depth++] = node_addresses[node];
    put_event(PERF_RECORD_SAMPLE, &sample,
              sizeof sample - sizeof sample.stack + 8 * sample.depth);
}

static void put_all(unsigned long samples, const char *image)
{
    put_process(image);
    for (unsigned long i = 0; i < samples; ++i) {
        uint32_t node = sampled_node(i);

        if (node != 0)
            put_sample(node, 1 + i * 100000);
    }
}

int main(int argc, char **argv)
{
    struct file_header header = {.magic = "PERFILE2", .bytes = sizeof header};
    struct file_attr attr = {
        .attr = {.type = PERF_TYPE_SOFTWARE,
                 .size = sizeof attr.attr,
                 .config = PERF_COUNT_SW_CPU_CLOCK,
                 .sample_period = 1,
                 .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
                                PERF_SAMPLE_CALLCHAIN,
                 .exclude_kernel = 1,
                 .mmap = 1,
                 .comm = 1,
                 .sample_id_all = 1},
    };

    if (argc < 5)
        return 2;
    make_tree((unsigned)atoi(argv[2]), argv[3]);
    header.attr_bytes = sizeof attr;
    header.attrs = (struct section){sizeof header, sizeof attr};
    header.data.offset = sizeof header + sizeof attr;
    put(&header, sizeof header);
    put(&attr, sizeof attr);
    written = 0;
    put_all(strtoul(argv[1], NULL, 10), argv[4]);
    header.data.bytes = written;
    rewind(stdout);
    fwrite(&header, sizeof header, 1, stdout);
    return fclose(stdout) != 0;
}
