/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_hostile KIND [NUMBER]: writes to stdout a stream that no guest sends,
 * with right checksums:
 *
 *     cpus N      packets of N CPUs
 *     boots N     packets of N boots
 *     nodes N     samples of N stacks that are never defined
 *     tasks N     a sample of each of N tasks
 *     chain N     a stack of N nodes, each of them sampled
 *     sums N      N samples as sums of 2^32 - 1 each
 *     high N      N samples, at addresses that differ in the highest bit alone
 */

#include "../unit/host/stream_maker.h"

static struct made made = {.packet_room = PROF_PACKET_MAX};
static unsigned long number;

static void begin(void)
{
    made_hello(&made, 64);
    made_start(&made, 1000000, 64);
    made.step = 1000;
}

/* Writes what is finished. */
static void write_out(void)
{
    made_flush(&made);
    fwrite(made.bytes, 1, made.count, stdout);
    made.count = 0;
}

/* A packet with a sample, of (cpu) and of boot (boot). */
static void write_packet(uint16_t cpu, uint32_t boot)
{
    struct prof_packet head;

    begin();
    made_node(&made, 1, 0, MADE_TEXT + 16);
    made_sample(&made, 1);
    made_flush(&made);
    memcpy(&head, made.bytes, sizeof head);
    head.cpu = cpu;
    head.sequence = 0;
    memcpy(head.uuid, &boot, sizeof boot);
    memcpy(made.bytes, &head, sizeof head);
    made_seal(made.bytes, made.count);
    write_out();
}

static void put_cpus(void)
{
    for (unsigned long i = 0; i < number; ++i)
        write_packet((uint16_t)i, 1);
}

static void put_boots(void)
{
    for (unsigned long i = 0; i < number; ++i)
        write_packet(0, (uint32_t)i + 1);
}

static void put_nodes(void)
{
    begin();
    for (unsigned long i = 0; i < number; ++i) {
        MADE_EVENT(&made, PROF_EVENT_SAMPLE_WIDE, (uint32_t){(uint32_t)i + 1});
        if (made.count > 1 << 20)
            write_out();
    }
    write_out();
}

static void put_tasks(void)
{
    begin();
    made_node(&made, 1, 0, MADE_TEXT + 16);
    for (unsigned long i = 0; i < number; ++i) {
        struct prof_event_task task = {(uint32_t)i + 1, MADE_TEXT + i};

        MADE_EVENT(&made, PROF_EVENT_TASK, task);
        made_word(&made, PROF_EVENT_SWITCH_WIDE, (uint32_t)i + 1);
        made_sample(&made, 1);
    }
    write_out();
}

static void put_chain(void)
{
    begin();
    for (uint32_t i = 1; i <= number; ++i) {
        made_node(&made, i, i - 1, MADE_TEXT + 16 * i);
        made_sample(&made, i);
    }
    write_out();
}

static void put_sums(void)
{
    begin();
    for (unsigned long i = 0; i < number; ++i) {
        struct prof_event_overflow sum = {MADE_TEXT + 16, UINT32_MAX, 1000000};

        MADE_EVENT(&made, PROF_EVENT_OVERFLOW, sum);
    }
    write_out();
}

static void put_high(void)
{
    begin();
    made_node(&made, 1, 0, 0x4000000000000010u);
    made_node(&made, 2, 0, 0xc000000000000010u);
    for (unsigned long i = 0; i < number; ++i)
        made_sample(&made, 1 + i % 2);
    write_out();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*put)(void);
    } kinds[] = {
        {"cpus", put_cpus},   {"boots", put_boots}, {"nodes", put_nodes},
        {"tasks", put_tasks}, {"chain", put_chain}, {"sums", put_sums},
        {"high", put_high},
    };

    number = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
        if (argc != 3 || strcmp(argv[1], kinds[i].name) != 0)
            continue;
        kinds[i].put();
        return fflush(stdout) != 0;
    }
    return 2;
}
