/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware that lists a CPU as both types of entries of the MADT, and one that
 * only x2APIC mode could reach: by its number's low byte it is CPU 1.
 */

#include "guest/tap.h"

#include <acpi.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/service.h>

#define X2APIC 9u
#define ENTRY(apic) X2APIC, 16, 0, 0, (apic)&255, (apic) >> 8, 0, 0, 1
#define ENTRY_BYTES 16u
#define FAR 0x101
#define CALLS 50u

const uint8_t *__wrap_acpi_madt_entry(uint8_t type, const uint8_t *after);
const uint8_t *__real_acpi_madt_entry(uint8_t type, const uint8_t *after);

static const uint8_t more[][ENTRY_BYTES] = {
    {ENTRY(1)}, {ENTRY(FAR)}, {ENTRY(2)}, {ENTRY(FAR)}};

const uint8_t *__wrap_acpi_madt_entry(uint8_t type, const uint8_t *after)
{
    const uint8_t *next = after == NULL ? more[0] : after + ENTRY_BYTES;

    if (type != X2APIC)
        return __real_acpi_madt_entry(type, after);
    return next < (const uint8_t *)more + sizeof more ? next : NULL;
}

static volatile unsigned answers;
static struct cpu_message answer;

static void on_answer(void *context)
{
    (void)context;
    answers++;
}

static void ask(void *context)
{
    (void)context;
    answer.function = on_answer;
    cpu_send(0, &answer);
}

int service_main(void)
{
    tap_plan(2);
    tap_is_equal(cpu_count(), 3, "three CPUs run, each once");
    for (unsigned i = 1; i < cpu_count(); i++)
        for (unsigned k = 0; k < CALLS; k++) {
            const unsigned before = answers;

            (void)cpu_call(i, ask, NULL);
            while (answers == before)
                loop_wait();
        }
    tap_is_equal(answers, (cpu_count() - 1) * CALLS, "and answer");
    return tap_end();
}
