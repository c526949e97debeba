/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The source `nmi`: the PIT, which the I/O APIC delivers as an NMI.
 *
 * Nothing is acknowledged, and interrupts that are off hold nothing back. The
 * line that the PIT has at the PIC is masked meanwhile. What the interrupt and
 * the thread both write, the thread writes while the entry is masked and the
 * last NMI has come: turning interrupts off would not do.
 *
 * The entry is delivered to the local APIC that it names, or, where several
 * CPUs may be sampled, to those whose logical destination it names. This is set
 * by each CPU that can take an NMI, so that none comes to one that is still
 * without an IDT. The entry names only CPUs whose gate is the profiler's: a
 * kernel may take any NMI for a fault.
 *
 * Whatever goes wrong shows as no NMI, or too many:
 *
 *   - a kernel that sets up its I/O APIC later has overwritten the entry: it is
 *     written again;
 *   - KVM's PIT waits for an acknowledge of its line, which never comes, and is
 *     silent after one tick. Programming it ends that: so there each NMI does;
 *   - the PIT's output is cut off, by an HPET in legacy mode. Then another
 *     timer is to be taken;
 *   - the interrupt takes longer than a period: the rate is halved.
 */

#include "tick/source.h"

#include "base/cpu.h"
#include "base/cpu_features.h"
#include "base/options.h"
#include "sample/cpu_state.h"
#include "tick/clock.h"
#include "tick/floor.h"
#include "tick/idt_gate.h"
#include "tick/ioapic.h"
#include "tick/jitter.h"
#include "tick/lapic.h"
#include "tick/meter.h"
#include "tick/pit.h"
#include "tick/rate.h"

#include <prof/port.h>
#include <prof/text.h>
#include <stddef.h>

#define NMI_VECTOR 2u
#define INPUT 2u      /* of the PIT, on every PC */
#define PIC_MASK 0x21 /* port: which lines of the PIC are masked */
#define PIC_LINE 1u   /* the PIT's */

#define NEAR_PART 16u       /* of a period: no tick comes so soon */
#define SETTLE_PART 500000u /* of a second: an NMI has come by then */
#define LOOK_PART 100u      /* of a second without one: it is looked at */
#define LOOK_PERIODS 4u     /* and so many periods */
#define SLOW_TICKS 64u      /* after which it is known whether it is too slow */
#define SLOW_PART 8u        /* of these, at least, with an NMI close behind */

#define BITS 8u /* of a logical destination */

#define QUIET_SECONDS 2u /* without an NMI: a CPU is asked, then a line */
#define QUIET_TICKS 64u  /* and so many on the first CPU */

#define IN_CLUSTERS "logical destinations of local APICs are in clusters"

#define ONE_SHOTS_MAX 3u      /* that were not the kernel's mode */
#define ONE_SHOTS_SECONDS 10u /* after which they count no more */

static struct {
    struct prof_pit_rate rate; /* (kernel) is the longest that there is */
    enum prof_nmi_trouble trouble;
    const char *given_up; /* why it is not tried again; NULL: it is */
    uintptr_t ioapic_at;
    uintptr_t lapic_at;
    struct prof_ioapic_entry before; /* the entry is to be put back */
#if PROF_CPUS_MAX > 1
    void (*kick)(uint32_t cpu); /* the kernel's; NULL: it has none */
#endif
    uint8_t input;
    uint8_t to; /* the entry's destination */
    bool running;
    bool open; /* the entry lets them through */
    bool pic_line_held;
    bool again;
    uint8_t one_shots; /* seen, each soon after the one before */
    uint64_t one_shot_tsc;
    struct {
        uint32_t ticks;
        uint64_t tsc; /* when there were so many */
    } seen;
    struct {
        uint32_t ticks, duplicates;
        uint64_t cycles;
    } judged[PROF_CPUS_MAX]; /* when it was last seen how long they take */
#if PROF_CPUS_MAX > 1
    struct {
        uint64_t tsc;
        uint32_t came;  /* at that time, on this CPU */
        uint32_t ticks; /* on the first one */
        uint8_t moved;
        enum { COMES, ASKED, SAID } step;
        bool said_moved;
    } watched[PROF_CPUS_MAX]; /* when NMIs were last seen to come */
    uint32_t slow_cpu;        /* the slowest, where the trouble is that */
    uint64_t slow_cycles;
#endif
} nmi;

/* ---- the entry */

static struct prof_ioapic_entry entry(void)
{
    uint32_t low = PROF_IOAPIC_NMI;

    if (PROF_CPUS_MAX > 1)
        low |= PROF_IOAPIC_LOGICAL;
    if (!nmi.open)
        low |= PROF_IOAPIC_MASKED;
    return (struct prof_ioapic_entry){
        .low = low, .high = (uint32_t)nmi.to << PROF_IOAPIC_TO_SHIFT};
}

static void let_through(void)
{
    nmi.open = true;
    prof_ioapic_set_low(nmi.ioapic_at, nmi.input, entry().low);
}

/* No more NMIs come, and the last one has. */
static void hold_back(void)
{
    uint64_t begin;

    nmi.open = false;
    prof_ioapic_set_low(nmi.ioapic_at, nmi.input, entry().low);
    begin = prof_tsc();
    while (prof_tsc() - begin < prof_divide(prof_clock.tsc_hz, SETTLE_PART) + 1)
        ;
}

static bool is_overwritten(void)
{
    struct prof_ioapic_entry is = prof_ioapic_get(nmi.ioapic_at, nmi.input);
    struct prof_ioapic_entry should = entry();

    is.low &= ~PROF_IOAPIC_STATUS;
    if (is.low == should.low && is.high == should.high)
        return false;
    nmi.before = is; /* as the kernel wants it now */
    return true;
}

/* ---- who gets them */

#if PROF_CPUS_MAX > 1
static bool is_taken(const struct prof_cpu *cpu)
{
    return cpu == PROF_CPU_FIRST || cpu->nmi.taken;
}

static uint8_t own_bit(const struct prof_cpu *cpu)
{
    return (uint8_t)(1u << prof_cpu_number(cpu) % BITS);
}

static void set_logical(const struct prof_cpu *cpu,
                        const struct prof_lapic *lapic)
{
    prof_lapic_write(lapic, PROF_LAPIC_FORMAT, UINT32_MAX); /* flat */
    prof_lapic_write(lapic, PROF_LAPIC_LOGICAL,
                     (uint32_t)own_bit(cpu) << PROF_IOAPIC_TO_SHIFT);
}

static bool is_flat(const struct prof_lapic *lapic)
{
    return PROF_LAPIC_IS_FLAT(prof_lapic_read(lapic, PROF_LAPIC_FORMAT));
}

/* Whether the kernel has destinations that the profiler can neither use, since
 * those of several clusters cannot be named at once, nor change. */
static bool has_clusters(const struct prof_lapic *lapic)
{
    return lapic->at != 0 &&
           prof_lapic_read(lapic, PROF_LAPIC_LOGICAL) >> PROF_IOAPIC_TO_SHIFT !=
               0 &&
           !is_flat(lapic);
}

/*
 * Whether NMIs for another CPU would come to (cpu), whose gate is its own and
 * not the profiler's yet. Sampling that begins meanwhile has taken it, since
 * (to) was set before: take_gates().
 */
static bool must_wait(const struct prof_cpu *cpu)
{
    uint32_t number = prof_cpu_number(cpu);

    return (number >= BITS || number + BITS < prof_cpu_count()) &&
           cpu != PROF_CPU_FIRST && !cpu->nmi.taken &&
           prof_cpu_link(cpu)->idt != prof_cpu_link(PROF_CPU_FIRST)->idt &&
           __atomic_load_n(&nmi.running, __ATOMIC_SEQ_CST);
}

/* The first CPU may read it meanwhile. */
static void set_to(struct prof_cpu *cpu, uint32_t to)
{
    __atomic_store_n(&cpu->nmi.to, (uint8_t)to, __ATOMIC_SEQ_CST);
}

/*
 * Lets the local APIC take what goes to its logical destination, at once or
 * when its gate is taken, and notes that: a bit, which is the kernel's choice
 * where it has made one. More CPUs than bits share them. 0: this CPU cannot be
 * reached so.
 */
static void choose_destination(struct prof_cpu *cpu,
                               const struct prof_lapic *lapic)
{
    uint32_t is = prof_lapic_read(lapic, PROF_LAPIC_LOGICAL);

    if (lapic->at == 0) {                   /* x2APIC: fixed; cluster and bit */
        set_to(cpu, is >> 8 == 0 ? is : 0); /* of the first cluster */
        return;
    }
    if (is >> PROF_IOAPIC_TO_SHIFT != 0) {
        set_to(cpu, is_flat(lapic) ? is >> PROF_IOAPIC_TO_SHIFT : 0);
        return;
    }
    set_to(cpu, own_bit(cpu));
    cpu->nmi.to_is_own = true;
    cpu->nmi.waits = must_wait(cpu);
    if (!cpu->nmi.waits)
        set_logical(cpu, lapic);
}

/* Whether other code has changed it, on the current CPU, which is (cpu). */
static bool has_moved(const struct prof_cpu *cpu,
                      const struct prof_lapic *lapic)
{
    return lapic->at != 0 && (prof_lapic_read(lapic, PROF_LAPIC_LOGICAL) >>
                                      PROF_IOAPIC_TO_SHIFT !=
                                  cpu->nmi.to ||
                              !is_flat(lapic));
}

/* Lets the current CPU, which is (cpu), get them. False: it cannot. */
static bool join_destination(struct prof_cpu *cpu)
{
    struct prof_lapic lapic = {0};

    if (!prof_lapic_find(&lapic, nmi.lapic_at, true))
        return false;
    choose_destination(cpu, &lapic);
    return cpu->nmi.to != 0;
}

/* All that have joined and are taken. */
static bool find_destination(void)
{
    if (!join_destination(PROF_CPU_FIRST))
        return false;
    nmi.to = 0;
    PROF_FOR_EACH_CPU (cpu)
        if (is_taken(cpu) && prof_cpu_has_joined(cpu))
            nmi.to |= cpu->nmi.to;
    return true;
}

/* Of CPUs that have joined while nothing was sampled, or are about to. */
static void take_gates(void)
{
    PROF_FOR_EACH_CPU (cpu)
        if (cpu != PROF_CPU_FIRST &&
            __atomic_load_n(&cpu->nmi.to, __ATOMIC_SEQ_CST) != 0 &&
            !prof_gate_join(cpu))
            cpu->nmi.taken = false;
}
#else
static inline bool is_taken(const struct prof_cpu *cpu)
{
    (void)cpu;
    return true;
}

static bool find_destination(void)
{
    struct prof_lapic lapic = {0};
    uint32_t to;

    if (!prof_lapic_find(&lapic, nmi.lapic_at, true))
        return false;
    to = prof_lapic_read(&lapic, PROF_LAPIC_ID);
    if (lapic.at != 0)
        to >>= PROF_IOAPIC_TO_SHIFT;
    nmi.to = (uint8_t)to;
    return to < UINT8_MAX; /* which is all CPUs */
}
#endif

/* Writes the entry, and who gets it, where NMIs come. */
static void write_entry(void)
{
    bool on = prof_interrupts_save();

    if (nmi.running) {
        (void)find_destination();
        prof_ioapic_set(nmi.ioapic_at, nmi.input, entry());
    }
    prof_interrupts_restore(on);
}

/* ---- the PIT */

static void restart_clock(void)
{
    uint32_t counts = nmi.rate.ours, kept = counts;

    if (PROF_WITH_BUILTIN && kept < nmi.rate.least)
        kept = nmi.rate.least;
    prof_clock_set_counts(counts, kept);
}

/* Those that are not taken ignore all NMIs. */
static void set_near(uint32_t cycles)
{
    PROF_FOR_EACH_CPU (cpu)
        cpu->nmi.near = is_taken(cpu) || cycles == PROF_NMI_STOPPED
                            ? cycles
                            : PROF_NMI_JOINING;
}

/* Before take_gates() and set_near(): see must_wait() and set_joining(). */
static void set_running(bool running)
{
    nmi.running = running;
    if (PROF_CPUS_MAX > 1)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* While NMIs are held back. */
static void program(void)
{
    struct prof_cpu *cpu = PROF_CPU_FIRST;

    prof_jitter_begin(&nmi.rate);
    set_near(prof_rate_cycles(nmi.rate.ours) / NEAR_PART);
    cpu->nmi.again = nmi.again;
    if (nmi.again)
        cpu->tick.jitter.ticks_left = 1;
    nmi.seen.tsc = prof_tsc();
    if (PROF_WITH_BUILTIN)
        prof_floor_look();
}

/* Some hypervisors' PITs wait for the acknowledge of an interrupt that was
 * delivered, and forget that when they are programmed. */
void prof_nmi_again(void)
{
    prof_pit_set_count(prof_cpu_here()->tick.jitter.divisor);
}

void prof_nmi_turn(uint32_t tsc_low)
{
    struct prof_cpu *cpu = prof_cpu_here();
    struct prof_jitter *jitter = &cpu->tick.jitter;

    if (cpu->nmi.again == 0) {
        prof_jitter_turn(tsc_low);
        return;
    }
    if (jitter->rest == 0) {
        prof_jitter_turn(tsc_low);
        jitter->rest = PROF_JITTER_TICKS;
    }
    jitter->rest--;
    jitter->ticks_left = 1;
    prof_nmi_again();
}

/* ---- the source */

static bool hold_pic_line(void)
{
    uint8_t mask = prof_in8(PIC_MASK);

    if ((mask & PIC_LINE) != 0)
        return false;
    prof_out8(PIC_MASK, mask | PIC_LINE);
    return true;
}

static void let_pic_line(void)
{
    if (nmi.pic_line_held)
        prof_out8(PIC_MASK, prof_in8(PIC_MASK) & (uint8_t)~PIC_LINE);
    nmi.pic_line_held = false;
}

/* (cpu) gets NMIs, or will. */
static void begin_watching(const struct prof_cpu *cpu)
{
#if PROF_CPUS_MAX > 1
    uint32_t number = prof_cpu_number(cpu);

    nmi.watched[number].tsc = prof_tsc();
    nmi.watched[number].came = cpu->ticks + cpu->nmi.duplicates;
    nmi.watched[number].ticks = PROF_CPU_FIRST->ticks;
    nmi.watched[number].step = COMES;
#else
    (void)cpu;
#endif
}

static void begin_judging(const struct prof_cpu *cpu)
{
    uint32_t number = prof_cpu_number(cpu);

    nmi.judged[number].ticks = cpu->ticks;
    nmi.judged[number].duplicates = cpu->nmi.duplicates;
    nmi.judged[number].cycles = prof_sampler_cycles(cpu);
}

static int start_nmi(bool on)
{
    struct prof_cpu *cpu = PROF_CPU_FIRST;

    (void)on;
    nmi.open = false;
    nmi.trouble = PROF_NMI_FINE;
    nmi.one_shots = 0;
    if (!find_destination())
        return PROF_ELAPIC;
    if (!prof_gate_enter(NMI_VECTOR, prof_nmi,
                         offsetof(struct prof_cpu, tick.next_handler)))
        return PROF_EGATE;
    set_running(true);
#if PROF_CPUS_MAX > 1
    take_gates();
    (void)find_destination();
#endif
    nmi.before = prof_ioapic_get(nmi.ioapic_at, nmi.input);
    nmi.before.low &= ~PROF_IOAPIC_STATUS;
    prof_ioapic_set(nmi.ioapic_at, nmi.input, entry());
    nmi.pic_line_held = hold_pic_line();
    nmi.seen.ticks = cpu->ticks;
    PROF_FOR_EACH_CPU (each) {
        begin_judging(each);
        begin_watching(each);
    }
    program();
    return PROF_OK;
}

static void stop(bool on)
{
    (void)on;
    hold_back();
    set_running(false);
    set_near(PROF_NMI_STOPPED);
    prof_jitter_end(&nmi.rate);
    prof_pit_stop();
    prof_ioapic_set(nmi.ioapic_at, nmi.input, nmi.before);
    let_pic_line();
    prof_gate_leave();
}

/* At the rate in force, which is a new one. */
static void program_again(void)
{
    bool running = nmi.running;

    if (running)
        hold_back();
    restart_clock();
    if (!running)
        return;
    program();
    let_through();
}

static int set_period(uint32_t hz, bool on)
{
    (void)on;
    if (prof_rate_change_alone(&nmi.rate.ours, hz))
        program_again();
    return PROF_OK;
}

#if PROF_CPUS_MAX > 1
/* NMIs of this CPU, which joins, are ignored, or the kernel's where none are
 * the profiler's. Sampling may begin or end meanwhile, on the first CPU:
 * whichever sets (near) last has seen what the other has written. */
static void set_joining(struct prof_cpu *cpu)
{
    bool running;

    do {
        running = __atomic_load_n(&nmi.running, __ATOMIC_SEQ_CST);
        __atomic_store_n(&cpu->nmi.near,
                         running ? PROF_NMI_JOINING : PROF_NMI_STOPPED,
                         __ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&nmi.running, __ATOMIC_SEQ_CST) != running);
}

static int join(struct prof_cpu *cpu)
{
    cpu->nmi = (struct prof_nmi){.near = PROF_NMI_JOINING,
                                 .duplicates = cpu->nmi.duplicates};
    set_joining(cpu);
    return join_destination(cpu) ? PROF_OK : PROF_ELAPIC;
}

/* Its gate is taken by now, if it had to wait for that; or no NMIs come. */
static void look(struct prof_cpu *cpu)
{
    uint8_t asked = __atomic_load_n(&cpu->nmi.asked, __ATOMIC_ACQUIRE);
    bool may =
        cpu->nmi.waits && __atomic_load_n(&cpu->nmi.taken, __ATOMIC_ACQUIRE);
    struct prof_lapic lapic = {0};

    if ((!may && asked == cpu->nmi.answered) ||
        !prof_lapic_find(&lapic, nmi.lapic_at, false))
        return;
    if (may) {
        cpu->nmi.waits = false;
        set_logical(cpu, &lapic);
    } else if (!cpu->nmi.waits && has_moved(cpu, &lapic)) {
        choose_destination(cpu, &lapic);
        __atomic_store_n(&cpu->nmi.moved, cpu->nmi.moved + 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&cpu->nmi.answered, asked, __ATOMIC_RELEASE);
}

/* No more of them come to this CPU. A destination that the kernel has set it
 * keeps: the entry no longer names it from let_go() on. */
static void leave_cpu(struct prof_cpu *cpu)
{
    struct prof_lapic lapic = {0};

    if (cpu->nmi.to_is_own && !cpu->nmi.waits &&
        prof_lapic_find(&lapic, nmi.lapic_at, false))
        prof_lapic_write(&lapic, PROF_LAPIC_LOGICAL, 0);
}

/* Its period is known by the first CPU's samples. */
static void taken(struct prof_cpu *cpu)
{
    struct prof_jitter *jitter = &cpu->tick.jitter;

    jitter->counts = jitter->rest = jitter->ticks_left = 0;
    __atomic_store_n(&cpu->nmi.taken, prof_gate_join(cpu), __ATOMIC_RELEASE);
    if (!cpu->nmi.taken)
        return;
    begin_judging(cpu);
    begin_watching(cpu);
    nmi.watched[prof_cpu_number(cpu)].moved = 0;
    nmi.watched[prof_cpu_number(cpu)].said_moved = false;
    if (nmi.running)
        cpu->nmi.near = prof_rate_cycles(nmi.rate.ours) / NEAR_PART;
    write_entry();
    if (cpu->nmi.waits && nmi.kick != NULL)
        nmi.kick(prof_cpu_number(cpu));
}

static void let_go(struct prof_cpu *cpu)
{
    cpu->nmi.taken = false;
    cpu->nmi.to = 0;
    write_entry();
    prof_gate_quit(cpu);
}
#endif

const struct prof_source prof_source_nmi = {
    .start = start_nmi,
    .let_through = let_through,
    .stop = stop,
    .set_period = set_period,
#if PROF_CPUS_MAX > 1
    .join = join,
    .leave = leave_cpu,
    .look = look,
    .taken = taken,
    .let_go = let_go,
#endif
};

const char *prof_source_nmi_missing(const struct prof_tick *tick)
{
    struct prof_lapic lapic = {0};
    uintptr_t at =
        tick->ioapic_at != 0 ? tick->ioapic_at : PROF_IOAPIC_PHYSICAL;
    uint32_t input = tick->nmi_input != 0 ? tick->nmi_input : INPUT;
    const char *missing = NULL;
    bool on;

    if (tick->kernel_divisor != 0 && tick->kind != PROF_TICK_NMI)
        return "the kernel uses the PIT";
    if (!tick->nmi && tick->kind != PROF_TICK_NMI)
        return "the kernel leaves no NMIs to the profiler";
    if (nmi.given_up != NULL)
        return nmi.given_up;
    on = prof_interrupts_save();
    if (!prof_pit_counts())
        missing = "there is no PIT";
    else if (!prof_lapic_find(&lapic, tick->lapic_at, true))
        missing = "the CPU has no local APIC";
#if PROF_CPUS_MAX > 1
    else if (has_clusters(&lapic))
        missing = IN_CLUSTERS;
#endif
    else if (!prof_ioapic_has(at, input))
        missing = "there is no I/O APIC";
    prof_interrupts_restore(on);
    return missing;
}

bool prof_source_nmi_open(const struct prof_config *config)
{
    const struct prof_tick *tick = &config->tick;

    if (prof_source_nmi_missing(tick) != NULL)
        return false;
    nmi.ioapic_at =
        tick->ioapic_at != 0 ? tick->ioapic_at : PROF_IOAPIC_PHYSICAL;
    nmi.input = tick->nmi_input != 0 ? tick->nmi_input : INPUT;
    nmi.lapic_at = tick->lapic_at;
    nmi.running = nmi.open = nmi.pic_line_held = false;
    nmi.again = prof_cpu_is_kvm();
#if PROF_CPUS_MAX > 1
    nmi.kick = config->kick;
    prof_gate_note(prof_cpu_link(PROF_CPU_FIRST));
#endif
    nmi.rate.kernel = PROF_DIVISOR_MAX;
    PROF_FOR_EACH_CPU (cpu)
        cpu->nmi = (struct prof_nmi){.near = PROF_NMI_STOPPED};
    if (PROF_WITH_BUILTIN)
        prof_floor_open(&nmi.rate, "the PIT");
    prof_rate_change_alone(&nmi.rate.ours, prof_options()->hz);
    prof_jitter_open(prof_pit_set);
    restart_clock();
#if PROF_WITH_BUILTIN
    prof_meter_end();
#endif
    return true;
}

/* ---- whether all is as it should be */

static void give_up(const char *why)
{
    nmi.trouble = PROF_NMI_SILENT;
    nmi.given_up = why;
}

const struct prof_pit_rate *prof_source_nmi_running(void)
{
    return nmi.running && nmi.trouble != PROF_NMI_SILENT ? &nmi.rate : NULL;
}

void prof_source_nmi_program(void)
{
    bool on = prof_interrupts_save();

    program_again();
    prof_interrupts_restore(on);
}

bool prof_source_nmi_one_shot(void)
{
    uint64_t now = prof_tsc();

    if (now - nmi.one_shot_tsc > ONE_SHOTS_SECONDS * prof_clock.tsc_hz)
        nmi.one_shots = 0;
    nmi.one_shot_tsc = now;
    if (++nmi.one_shots < ONE_SHOTS_MAX)
        return false;
    give_up("the kernel uses the PIT in one-shot mode");
    return true;
}

static void restore_entry(void)
{
    prof_clock_interrupt(); /* before the first of them may come */
    write_entry();
    prof_tick_counts.nmi_taken_back++;
    prof_message("prof: the I/O APIC's entry of the PIT was overwritten by "
                 "other code; it is an NMI again\n");
}

#if PROF_CPUS_MAX > 1
static void take_moved(uint32_t number)
{
    struct prof_text out;

    prof_tick_counts.nmi_taken_back++;
    write_entry();
    if (nmi.watched[number].said_moved)
        return;
    nmi.watched[number].said_moved = true;
    prof_text_open(&out, prof_port_write);
    prof_text_format(&out,
                     "prof: the local APIC's logical destination on CPU %u was "
                     "changed by other code; NMIs are to come there again\n",
                     number);
    prof_text_flush(&out);
}

/* Whether it was the first CPU's destination, of which something is known by
 * now. */
static bool take_moved_first(uint64_t now)
{
    struct prof_lapic lapic = {0};
    struct prof_cpu *cpu = PROF_CPU_FIRST;
    bool on = prof_interrupts_save(), moved;

    moved =
        prof_lapic_find(&lapic, nmi.lapic_at, true) && has_moved(cpu, &lapic);
    if (moved) {
        prof_clock_interrupt(); /* before the first of them may come */
        choose_destination(cpu, &lapic);
    }
    prof_interrupts_restore(on);
    if (!moved)
        return false;
    nmi.seen.tsc = now;
    if (cpu->nmi.to == 0)
        give_up(IN_CLUSTERS);
    else
        take_moved(0);
    return true;
}

static void say_quiet(const struct prof_cpu *cpu)
{
    struct prof_text out;
    const char *why = "its local APIC is as it should be";

    if (cpu->nmi.to == 0)
        why = IN_CLUSTERS;
    if (__atomic_load_n(&cpu->nmi.answered, __ATOMIC_ACQUIRE) != cpu->nmi.asked)
        why = "it does not call prof_cpu_poll()";
    prof_text_open(&out, prof_port_write);
    prof_text_format(&out, "prof: NMIs do not come to CPU %u: %s\n",
                     prof_cpu_number(cpu), why);
    prof_text_flush(&out);
}

/* Another CPU, which gets each NMI that the first one gets, or only so many
 * that wait: if it gets none at all, it looks itself at its local APIC. */
static void watch(struct prof_cpu *cpu, uint64_t now)
{
    uint32_t number = prof_cpu_number(cpu);
    uint8_t moved = __atomic_load_n(&cpu->nmi.moved, __ATOMIC_ACQUIRE);
    uint32_t ticks = PROF_CPU_FIRST->ticks;

    if (moved != nmi.watched[number].moved) {
        nmi.watched[number].moved = moved;
        take_moved(number);
    }
    if (cpu->ticks + cpu->nmi.duplicates != nmi.watched[number].came) {
        begin_watching(cpu);
        return;
    }
    if (now - nmi.watched[number].tsc < QUIET_SECONDS * prof_clock.tsc_hz ||
        ticks - nmi.watched[number].ticks < QUIET_TICKS ||
        nmi.watched[number].step == SAID)
        return;
    nmi.watched[number].tsc = now;
    nmi.watched[number].ticks = ticks;
    if (nmi.watched[number].step++ == ASKED) {
        say_quiet(cpu);
        return;
    }
    __atomic_store_n(&cpu->nmi.asked, cpu->nmi.asked + 1, __ATOMIC_RELEASE);
    if (nmi.kick != NULL)
        nmi.kick(number);
}
#else
#define take_moved_first(now) false
#define watch(cpu, now) ((void)0)
#endif

static void take_silence(uint64_t now)
{
    uint64_t silent = now - nmi.seen.tsc;
    uint32_t period = prof_rate_cycles(nmi.rate.ours);

    if (silent < prof_divide(prof_clock.tsc_hz, LOOK_PART) ||
        silent < (uint64_t)LOOK_PERIODS * period || take_moved_first(now))
        return;
    if (is_overwritten()) {
        nmi.seen.tsc = now;
        restore_entry();
        return;
    }
    if (silent < prof_clock.tsc_hz)
        return;
    if (nmi.again) {
        give_up("no NMIs come");
        return;
    }
    nmi.again = true;
    prof_source_nmi_program();
    prof_clock_interrupt();
    prof_tick_counts.nmi_again++;
    prof_message("prof: the last NMI came a second ago; the PIT is programmed "
                 "at each one from now on\n");
}

static void note_slow(const struct prof_cpu *cpu, uint64_t cycles)
{
#if PROF_CPUS_MAX > 1
    if (nmi.trouble == PROF_NMI_SLOW && cycles <= nmi.slow_cycles)
        return;
    nmi.slow_cycles = cycles;
    nmi.slow_cpu = prof_cpu_number(cpu);
#else
    (void)cpu, (void)cycles;
#endif
    nmi.trouble = PROF_NMI_SLOW;
}

/* Whether the interrupt takes so long that the next NMI waits for its end. */
static void judge(const struct prof_cpu *cpu)
{
    uint32_t number = prof_cpu_number(cpu);
    uint32_t ticks = cpu->ticks - nmi.judged[number].ticks;
    uint32_t duplicates = cpu->nmi.duplicates - nmi.judged[number].duplicates;
    uint64_t took;

    if (ticks < SLOW_TICKS)
        return;
    took = prof_divide(prof_sampler_cycles(cpu) - nmi.judged[number].cycles,
                       ticks);
    begin_judging(cpu);
    if (duplicates >= ticks / SLOW_PART &&
        took > prof_rate_cycles(nmi.rate.ours) / 2)
        note_slow(cpu, took);
}

void prof_source_nmi_check(void)
{
    const struct prof_cpu *cpu = PROF_CPU_FIRST;
    uint32_t ticks = __atomic_load_n(&cpu->ticks, __ATOMIC_RELAXED);
    uint64_t now = prof_tsc();

    if (!nmi.running)
        return;
    if (ticks == nmi.seen.ticks) {
        take_silence(now);
        return;
    }
    nmi.seen.ticks = ticks;
    nmi.seen.tsc = now;
    PROF_FOR_EACH_CPU (each) {
        if (!is_taken(each))
            continue;
        judge(each);
        if (each != PROF_CPU_FIRST)
            watch(each, now);
    }
}

enum prof_nmi_trouble prof_source_nmi_trouble(void)
{
    return nmi.running ? nmi.trouble : PROF_NMI_FINE;
}

void prof_source_nmi_slowed_down(void)
{
    struct prof_text out;

    nmi.trouble = PROF_NMI_FINE;
    prof_tick_counts.nmi_slowed++;
    prof_text_open(&out, prof_port_write);
#if PROF_CPUS_MAX > 1
    prof_text_format(&out,
                     "prof: a sample on CPU %u takes longer than the period, "
                     "and NMIs leave the program no time: sampling at %.3u "
                     "Hz\n",
                     nmi.slow_cpu, prof_clock.rate_mhz);
#else
    prof_text_format(&out,
                     "prof: a sample takes longer than the period, and NMIs "
                     "leave the program no time: sampling at %.3u Hz\n",
                     prof_clock.rate_mhz);
#endif
    prof_text_flush(&out);
}
