/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CONFIG_H
#define PROF_CONFIG_H

/*
 * What an embedder may leave out of the profiler, at compile time. Everything
 * is in by default. To leave something out, write a header of your own,
 *
 *     #define PROF_WITH_STREAM 0
 *
 * and compile all files, the profiler's and those that include its headers,
 * with -DPROF_CONFIG_HEADER='"my_prof_config.h"'. Compile only the sources that
 * tools/build/sources.py --config my_prof_config.h lists. A source that does
 * not belong to the configuration fails to compile or to link.
 *
 * The public functions of a part that was left out remain, and do nothing or
 * return PROF_EABSENT. Options that would have no effect are rejected.
 */

#ifdef PROF_CONFIG_HEADER
#include PROF_CONFIG_HEADER
#endif

/* Callers of each sample: the frame walk in the interrupt, and the prologue
 * analysis for functions without a frame. Without: prof.depth is 0. */
#ifndef PROF_WITH_CALLERS
#define PROF_WITH_CALLERS 1
#endif

/* Packets for the host, all transports, and commands from outside. Without:
 * prof.out is "off". */
#ifndef PROF_WITH_STREAM
#define PROF_WITH_STREAM 1
#endif

/* The recorder of tasks, promises and interrupts (<prof/trace.h>). Without: its
 * calls compile to nothing, and prof.trace is "off". */
#ifndef PROF_WITH_TRACE
#define PROF_WITH_TRACE PROF_WITH_STREAM
#endif

/* Reports by call stack: the call tree, folded stacks and the callers of a
 * function. Without: prof.report is "top". */
#ifndef PROF_WITH_TREES
#define PROF_WITH_TREES 1
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

#if (PROF_WITH_CALLERS) != 0 && (PROF_WITH_CALLERS) != 1
#error "PROF_WITH_CALLERS is neither 0 nor 1"
#endif
#if (PROF_WITH_STREAM) != 0 && (PROF_WITH_STREAM) != 1
#error "PROF_WITH_STREAM is neither 0 nor 1"
#endif
#if (PROF_WITH_TRACE) != 0 && (PROF_WITH_TRACE) != 1
#error "PROF_WITH_TRACE is neither 0 nor 1"
#endif
#if PROF_WITH_TRACE && !PROF_WITH_STREAM
#error "PROF_WITH_TRACE needs PROF_WITH_STREAM"
#endif
#if (PROF_WITH_TREES) != 0 && (PROF_WITH_TREES) != 1
#error "PROF_WITH_TREES is neither 0 nor 1"
#endif
#if (PROF_WITH_CXX) != 0 && (PROF_WITH_CXX) != 1
#error "PROF_WITH_CXX is neither 0 nor 1"
#endif
#if (PROF_WITH_RUST) != 0 && (PROF_WITH_RUST) != 1
#error "PROF_WITH_RUST is neither 0 nor 1"
#endif
#if (PROF_WITH_OCAML) != 0 && (PROF_WITH_OCAML) != 1
#error "PROF_WITH_OCAML is neither 0 nor 1"
#endif

#endif
