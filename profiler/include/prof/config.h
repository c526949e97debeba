/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CONFIG_H
#define PROF_CONFIG_H

/*
 * Compile-time configuration: which parts of the profiler are built. All are
 * included by default. To leave parts out, write a header of your own,
 *
 *     #define PROF_WITH_STREAM 0
 *
 * and compile all files, the profiler's and those that include its headers,
 * with -DPROF_CONFIG_HEADER='"my_prof_config.h"'. Compile only the sources that
 * tools/build/sources.py --config my_prof_config.h lists; others fail to
 * compile or to link.
 *
 * The public functions of a part that is left out remain: they do nothing, or
 * return PROF_EABSENT. Options that would have no effect are rejected.
 */

#ifdef PROF_CONFIG_HEADER
#include PROF_CONFIG_HEADER
#endif

/* The tick sources `pit`, `own pit` and `gate` (<prof/tick.h>), which program
 * the PIT or take an interrupt gate. Without: only `hook` is left, prof_init()
 * returns PROF_EABSENT for other sources, and prof.jitter is 0. */
#ifndef PROF_WITH_PIT
#define PROF_WITH_PIT 1
#endif

/* The tick source `lapic`, and the choice of a source by `auto`, which without
 * is `pit` or `own pit`. Needs PROF_WITH_PIT. */
#ifndef PROF_WITH_LAPIC
#define PROF_WITH_LAPIC PROF_WITH_PIT
#endif

/* The tick source `nmi`, and the account of samples taken with interrupts off.
 * Needs PROF_WITH_LAPIC. */
#ifndef PROF_WITH_NMI
#define PROF_WITH_NMI PROF_WITH_LAPIC
#endif

/* Callers of each sample: the frame walk in the interrupt, and the prologue
 * analysis for functions without a frame. Without: prof.depth is 0. */
#ifndef PROF_WITH_CALLERS
#define PROF_WITH_CALLERS 1
#endif

/* The account of user mode (<prof/user.h>). Without: its samples are
 * unresolved. Needs PROF_WITH_CALLERS. */
#ifndef PROF_WITH_USER
#define PROF_WITH_USER PROF_WITH_CALLERS
#endif

/* The stream to the host, all transports, and commands from the host. Without:
 * prof.out is "off". */
#ifndef PROF_WITH_STREAM
#define PROF_WITH_STREAM 1
#endif

/* The recorder of tasks, promises and interrupts (<prof/trace.h>). Without: its
 * calls compile to nothing, and prof.trace is "off". Needs PROF_WITH_STREAM. */
#ifndef PROF_WITH_TRACE
#define PROF_WITH_TRACE PROF_WITH_STREAM
#endif

/* Statistics of the event loop (<prof/loop.h>). Without: its calls compile to
 * nothing, and prof.loop is 0. */
#ifndef PROF_WITH_LOOP
#define PROF_WITH_LOOP 1
#endif

/* Causal profiling (<prof/causal.h>). Without: all time is real. */
#ifndef PROF_WITH_CAUSAL
#define PROF_WITH_CAUSAL 1
#endif

/* Parts that a kernel can replace by its own: prof_poll(), the allocator on
 * config.pool, the transport "serial" on prof_port_write(), the measurement of
 * the TSC frequency, and prof_symbols_moved(). Without: the image defines
 * prof_port_alloc() and prof_port_free(), and MUST set config.tsc_hz. */
#ifndef PROF_WITH_BUILTIN
#define PROF_WITH_BUILTIN 1
#endif

/* KVM's account of stolen time, and its clock (<prof/kvm.h>). Without: stolen
 * time is inferred from missed ticks. Needs PROF_WITH_BUILTIN. */
#ifndef PROF_WITH_KVM
#define PROF_WITH_KVM PROF_WITH_BUILTIN
#endif

/* Profiles by call stack: the call tree, folded stacks, the callers of a
 * function, and prof_visit_stacks(). Without: prof.report is "top". */
#ifndef PROF_WITH_TREES
#define PROF_WITH_TREES 1
#endif

/* Classification of samples by the instructions at the sampled address: masked
 * samples, and samples at an exit to the VMM. Without: all samples count for
 * their function, and a tick that is late by whole periods counts as stolen
 * time wherever it arrives. */
#ifndef PROF_WITH_CLASSES
#define PROF_WITH_CLASSES 1
#endif

/* Validation of every entry of the symbol table. Without: only its header,
 * layout and checksum are validated, which is enough for a table written by
 * `parasite embed`. */
#ifndef PROF_WITH_CHECKS
#define PROF_WITH_CHECKS 1
#endif

/* Names from the ELF symbol table that a loader passes, prof_symbols_elf().
 * Without: only the table that `parasite embed` has written into the image. */
#ifndef PROF_WITH_ELF
#define PROF_WITH_ELF 1
#endif

/* prof_option(). Without: it returns PROF_EABSENT, and the defaults hold. */
#ifndef PROF_WITH_OPTIONS
#define PROF_WITH_OPTIONS 1
#endif

/* Demangling of C++, Rust and OCaml names. Without: mangled names. */
#ifndef PROF_WITH_CXX
#define PROF_WITH_CXX 1
#endif
#ifndef PROF_WITH_RUST
#define PROF_WITH_RUST 1
#endif
#ifndef PROF_WITH_OCAML
#define PROF_WITH_OCAML 1
#endif

/* Number of CPUs that may be sampled, 1 to 64 (<prof/cpus.h>). With 1 the state
 * of the CPU has a constant address, and SMP costs nothing. */
#ifndef PROF_CPUS_MAX
#define PROF_CPUS_MAX 1
#endif

/* How code finds out which CPU it runs on, if PROF_CPUS_MAX is more than 1:
 *
 *   PROF_CPU_BY_TASK     by the task register (`str`): each CPU has a TSS
 *                        selector of its own. Works on any CPU model.
 *   PROF_CPU_BY_TSC_AUX  by the MSR TSC_AUX (`rdtscp`): the kernel has written
 *                        a different number there on each CPU, and the CPUs
 *                        have the MSR and the instruction.
 *
 * Both work in an NMI.
 */
#define PROF_CPU_BY_TASK 1
#define PROF_CPU_BY_TSC_AUX 2
#ifndef PROF_CPU_BY
#define PROF_CPU_BY PROF_CPU_BY_TASK
#endif

/* Size of the table that maps keys to CPUs, a power of two; an entry takes
 * eight bytes. A CPU's key is the index of its TSS descriptor or its value of
 * TSC_AUX, modulo this size. */
#ifndef PROF_CPU_KEYS
#define PROF_CPU_KEYS 256
#endif

#if PROF_CPUS_MAX < 1 || PROF_CPUS_MAX > 64
#error "PROF_CPUS_MAX is from 1 to 64"
#endif
#if PROF_CPU_KEYS & (PROF_CPU_KEYS - 1) || PROF_CPU_KEYS < PROF_CPUS_MAX
#error "PROF_CPU_KEYS is no power of two, or less than PROF_CPUS_MAX"
#endif
#if PROF_CPU_BY != PROF_CPU_BY_TASK && PROF_CPU_BY != PROF_CPU_BY_TSC_AUX
#error "PROF_CPU_BY is neither PROF_CPU_BY_TASK nor PROF_CPU_BY_TSC_AUX"
#endif

/* Bytes that libprof.a reserves for the symbol table, if the image does not
 * reserve them itself (PROF_SYMBOLS_RESERVE in <prof/symbols.h>). */
#ifndef PROF_SYMBOLS_BYTES
#define PROF_SYMBOLS_BYTES 65536
#endif

#if PROF_WITH_USER && !PROF_WITH_CALLERS
#error "PROF_WITH_USER needs PROF_WITH_CALLERS"
#endif
#if PROF_WITH_KVM && !PROF_WITH_BUILTIN
#error "PROF_WITH_KVM needs PROF_WITH_BUILTIN"
#endif
#if PROF_WITH_TRACE && !PROF_WITH_STREAM
#error "PROF_WITH_TRACE needs PROF_WITH_STREAM"
#endif

#if PROF_WITH_LAPIC && !PROF_WITH_PIT
#error "PROF_WITH_LAPIC needs PROF_WITH_PIT"
#endif
#if PROF_WITH_NMI && !PROF_WITH_LAPIC
#error "PROF_WITH_NMI needs PROF_WITH_LAPIC"
#endif

#ifndef __cplusplus
#define PROF_IS_CHOICE(part)                                                   \
    _Static_assert((part) == 0 || (part) == 1, #part " is neither 0 nor 1")
PROF_IS_CHOICE(PROF_WITH_PIT);
PROF_IS_CHOICE(PROF_WITH_LAPIC);
PROF_IS_CHOICE(PROF_WITH_NMI);
PROF_IS_CHOICE(PROF_WITH_CALLERS);
PROF_IS_CHOICE(PROF_WITH_USER);
PROF_IS_CHOICE(PROF_WITH_STREAM);
PROF_IS_CHOICE(PROF_WITH_TRACE);
PROF_IS_CHOICE(PROF_WITH_LOOP);
PROF_IS_CHOICE(PROF_WITH_CAUSAL);
PROF_IS_CHOICE(PROF_WITH_BUILTIN);
PROF_IS_CHOICE(PROF_WITH_KVM);
PROF_IS_CHOICE(PROF_WITH_TREES);
PROF_IS_CHOICE(PROF_WITH_CLASSES);
PROF_IS_CHOICE(PROF_WITH_CHECKS);
PROF_IS_CHOICE(PROF_WITH_ELF);
PROF_IS_CHOICE(PROF_WITH_OPTIONS);
PROF_IS_CHOICE(PROF_WITH_CXX);
PROF_IS_CHOICE(PROF_WITH_RUST);
PROF_IS_CHOICE(PROF_WITH_OCAML);
#endif

/* Stands for a call into a part that is left out: type-checks its arguments and
 * generates no code. For calls within the profiler. */
#define PROF_LEFT_OUT(call) ((void)(0 ? ((call), 0) : 0))

#endif
