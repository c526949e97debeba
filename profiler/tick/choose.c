/* SPDX-License-Identifier: Apache-2.0 */

/* Which timer `auto` and prof.tick= come to on this machine, and the line that
 * says so. */

#include "tick/source.h"

#include "base/cpu.h"
#include "base/options.h"
#include "sample/cpu_state.h"
#include "tick/lapic.h"
#include "tick/pit.h"

#include <prof/config.h>
#include <prof/port.h>
#include <prof/text.h>
#include <stddef.h>

#define PIT_NAME "the PIT"
#define LAPIC_NAME "the local APIC's timer"
#define NMI_NAME "NMIs of the PIT"

/* Why the PIT cannot be taken; NULL: it can. */
static const char *no_pit(const struct prof_tick *tick)
{
    bool on, there, one_shot;

    if (tick->vector == 0)
        return "the kernel leaves no PIT to the profiler";
    on = prof_interrupts_save();
    there = prof_pit_counts();
    one_shot = there && tick->kernel_divisor != 0 &&
               prof_pit_is_one_shot(prof_pit_read());
    prof_interrupts_restore(on);
    if (!there)
        return "there is no PIT";
    return one_shot ? "the kernel uses the PIT in one-shot mode" : NULL;
}

static const char *no_lapic(const struct prof_tick *tick)
{
    struct prof_lapic found = {0};
    bool on, there;

    if (tick->lapic_vector == 0)
        return "the kernel leaves no local APIC's timer to the profiler";
    on = prof_interrupts_save();
    there = prof_lapic_find(&found, tick->lapic_at, !tick->lapic_shared);
    prof_interrupts_restore(on);
    return there ? NULL : "the CPU has no local APIC, or it is off";
}

static void say(const char *format, const char *first, const char *second)
{
    struct prof_text out;

    prof_text_open(&out, prof_port_write);
    prof_text_format(&out, format, first, second);
    prof_text_flush(&out);
}

static enum prof_tick_kind pit_kind(const struct prof_tick *tick)
{
    return tick->kernel_divisor != 0 ? PROF_TICK_PIT : PROF_TICK_OWN_PIT;
}

#if PROF_WITH_NMI
static const char *no_nmi(const struct prof_tick *tick)
{
    return prof_source_nmi_missing(tick);
}
#else
static const char *no_nmi(const struct prof_tick *tick)
{
    (void)tick;
    return "NMIs are not part of this image";
}
#endif

/* What option and configuration ask for; KERNEL: nothing is to be chosen. */
static enum prof_tick_choice wanted(enum prof_tick_kind kind)
{
    if (PROF_OPTION(tick) != PROF_TICK_CHOICE_KERNEL)
        return PROF_OPTION(tick);
    if (kind == PROF_TICK_AUTO)
        return PROF_TICK_CHOICE_AUTO;
    if (PROF_WITH_NMI && kind == PROF_TICK_NMI)
        return PROF_TICK_CHOICE_NMI;
    return kind == PROF_TICK_LAPIC ? PROF_TICK_CHOICE_LAPIC
                                   : PROF_TICK_CHOICE_KERNEL;
}

static void say_sampling(enum prof_tick_choice by, const char *why)
{
    say("prof: sampling by %s: %s\n",
        by == PROF_TICK_CHOICE_NMI   ? NMI_NAME
        : by == PROF_TICK_CHOICE_PIT ? PIT_NAME
                                     : LAPIC_NAME,
        why);
}

/* The best that there is, and (*why) not the one before it; NULL: because that
 * was asked for. KERNEL: there is none. */
static enum prof_tick_choice best(const struct prof_tick *tick,
                                  enum prof_tick_choice choice,
                                  const char **why)
{
    bool nmi = choice == PROF_TICK_CHOICE_NMI ||
               (choice == PROF_TICK_CHOICE_AUTO && PROF_CPUS_MAX > 1);
    const char *missing = nmi ? no_nmi(tick) : NULL, *pit, *lapic;
    bool by_pit;

    *why = NULL;
    if (nmi && missing == NULL)
        return PROF_TICK_CHOICE_NMI;
    pit = no_pit(tick);
    lapic = no_lapic(tick);
    if (pit != NULL && lapic != NULL) {
        say("prof: no timer to sample by: %s; %s\n", pit, lapic);
        return PROF_TICK_CHOICE_KERNEL;
    }
    /* the APIC's is better for several CPUs, or where the PIT's line is dead */
    by_pit = lapic != NULL ||
             (pit == NULL && !nmi && choice != PROF_TICK_CHOICE_LAPIC);
    *why = by_pit ? lapic : pit; /* the other one cannot be taken */
    if (nmi)
        *why = missing;
    return by_pit ? PROF_TICK_CHOICE_PIT : PROF_TICK_CHOICE_LAPIC;
}

int prof_source_choose(struct prof_config *config)
{
    struct prof_tick *tick = &config->tick;
    enum prof_tick_choice choice = wanted(tick->kind), by;
    bool asked = PROF_OPTION(tick) != PROF_TICK_CHOICE_KERNEL;
    bool automatic = choice == PROF_TICK_CHOICE_AUTO;
    const char *why;

    if (choice == PROF_TICK_CHOICE_KERNEL)
        return PROF_OK;
    if (tick->kind == PROF_TICK_HOOK || tick->kind == PROF_TICK_GATE) {
        prof_message("prof: prof.tick has no effect: the kernel names another "
                     "timer (<prof/tick.h>)\n");
        return PROF_OK;
    }
    by = best(tick, choice, &why);
    if (by == PROF_TICK_CHOICE_KERNEL)
        return PROF_ETIMER;
    if (why == NULL)
        why = automatic ? "it is there, and periodic" : "as prof.tick says";
    if (asked || (automatic ? by != PROF_TICK_CHOICE_PIT : by != choice))
        say_sampling(by, why);
    tick->kind = by == PROF_TICK_CHOICE_NMI   ? PROF_TICK_NMI
                 : by == PROF_TICK_CHOICE_PIT ? pit_kind(tick)
                                              : PROF_TICK_LAPIC;
    return PROF_OK;
}
