/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a conversation with a stub: what it is, and its CPUs. */

#include "gdb/stub.h"
#include "gdb/stub_wire.h"
#include "base/memory.h"
#include "base/signals.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define XML_MAX (1u << 18) /* of one file */
#define XML_FILES_MAX 16u
#define XML_PART 0xff0u /* a packet's worth */
#define NAME_MAX_BYTES 64u
#define DIGITS_64 328u /* of the registers that every x86_64 has */

/* Whether (feature) is among those that the stub reports as (reply). */
static bool has(const char *reply, const char *feature)
{
    size_t bytes = strlen(feature);

    for (const char *at = reply; (at = strstr(at, feature)) != NULL; ++at) {
        if ((at == reply || at[-1] == ';') &&
            (at[bytes] == ';' || at[bytes] == '\0'))
            return true;
    }
    return false;
}

/* Reads the file (name) of the description; NULL if there is none. */
static char *read_xml(struct stub *stub, const char *name)
{
    char *xml = NULL;
    size_t used = 0;

    for (;;) {
        const char *answer = wire_ask_on(stub, "qXfer:features:read:%s:%zx,%x",
                                         name, used, XML_PART);
        size_t bytes = stub->reader.used;

        if ((answer[0] != 'l' && answer[0] != 'm') || bytes == 0 ||
            used + bytes > XML_MAX || (answer[0] == 'm' && bytes == 1)) {
            free(xml);
            return NULL;
        }
        xml = xreallocarray(xml, used + bytes, 1);
        memcpy(xml + used, answer + 1, bytes - 1);
        used += bytes - 1;
        xml[used] = '\0';
        if (answer[0] == 'l')
            return xml;
    }
}

/* The description is one question, in however many pieces it comes. */
static void read_layout(struct stub *stub)
{
    char *target, name[NAME_MAX_BYTES];

    wire_question(stub);
    target = read_xml(stub, "target.xml");
    if (target == NULL)
        return;
    registers_add_xml(&stub->layout, target);
    for (unsigned i = 0;
         i < XML_FILES_MAX && registers_included(target, i, name, sizeof name);
         ++i) {
        char *part = read_xml(stub, name);

        if (part != NULL)
            registers_add_xml(&stub->layout, part);
        free(part);
    }
    free(target);
}

static void add_cpu(struct stub *stub, const char *thread, size_t bytes)
{
    struct machine_cpu *cpu;

    if (stub->machine.cpu_count == MACHINE_CPUS_MAX || bytes == 0 ||
        bytes >= sizeof cpu->thread)
        return;
    vector_reserve_one(&stub->machine.cpus, stub->machine.cpu_count,
                       sizeof *stub->machine.cpus);
    cpu = &stub->machine.cpus[stub->machine.cpu_count++];
    memset(cpu, 0, sizeof *cpu);
    memcpy(cpu->thread, thread, bytes);
}

static void read_cpus(struct stub *stub)
{
    const char *answer = wire_ask(stub, "qfThreadInfo");

    for (unsigned i = 0; answer[0] == 'm' && i < MACHINE_CPUS_MAX; ++i) {
        for (const char *at = answer + 1; *at != '\0';) {
            size_t bytes = strcspn(at, ",");

            add_cpu(stub, at, bytes);
            at += bytes + (at[bytes] == ',');
        }
        answer = wire_ask_on(stub, "qsThreadInfo");
    }
    if (stub->machine.cpu_count == 0)
        add_cpu(stub, "0", 1);
}

/* A packet is small and its answer is waited for. */
static void do_not_delay(int file)
{
    setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
}

static struct stub *begun;

static void let_go(void)
{
    wire_let_go(begun);
}

bool stub_begin(struct stub *stub, int file, double timeout)
{
    const char *answer;
    bool quiet, described;

    *stub = (struct stub){.machine.calls = &stub_calls,
                          .file = file,
                          .timeout = timeout,
                          .acks = true,
                          .current = SIZE_MAX};
    begun = stub;
    signals_at_end(let_go);
    do_not_delay(file);
    answer = wire_ask(stub, "qSupported:qXfer:features:read+;vContSupported+");
    stub->binary = has(answer, "binary-upload+");
    quiet = has(answer, "QStartNoAckMode+");
    described = has(answer, "qXfer:features:read+");
    if (quiet && strcmp(wire_ask(stub, "QStartNoAckMode"), "OK") == 0) {
        wire_put_ack(stub);
        stub->acks = false;
    }
    if (described)
        read_layout(stub);
    if (stub->machine.reason == MACHINE_LIVES)
        read_cpus(stub);
    /* It says so if a connection stops the guest; otherwise it was paused. */
    if (stub->machine.reason == MACHINE_LIVES)
        stub->is_qemu =
            strncmp(wire_ask(stub, "qqemu.sstepbits"), "ENABLE=", 7) == 0;
    stub->machine.held = stub->is_qemu && stub->stops == 0;
    if (stub->machine.reason == MACHINE_LIVES && !stub->layout.described)
        stub->layout.is_64 = strlen(wire_ask(stub, "g")) >= DIGITS_64;
    if (stub->machine.reason == MACHINE_LIVES && !stub->is_qemu) {
        stub->steps_apart =
            strncmp(wire_ask(stub, "vCont?"), "vCont;c", 7) == 0;
        if (stub->machine.reason == MACHINE_LIVES)
            (void)wire_ask(stub, "Hc-1");
    }
    stub->machine.is_64 = stub->layout.is_64;
    return stub->machine.reason == MACHINE_LIVES && stub->packets > 0;
}
