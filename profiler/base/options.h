/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_BASE_OPTIONS_H
#define PROF_BASE_OPTIONS_H

/*
 * The options in force, for all modules. In builds without options
 * (<prof/config.h>) they are constants, so that the compiler removes code for
 * other values.
 */

#include <prof/config.h>
#include <prof/prof.h>

#if PROF_CPUS_MAX > 1
#define PROF_OPTION_CPU_DEFAULT , .cpu = PROF_CPU_ALL
#else
#define PROF_OPTION_CPU_DEFAULT
#endif

/* The members that are not zero by default, except for the two names. */
#define PROF_OPTION_DEFAULTS                                                   \
    .hz = PROF_HZ_DEFAULT, .top = 12, .width = 0, .every_ms = 1000,            \
    .reports = 0, .weight = PROF_WEIGHT_TIME, .form = PROF_FORM_SHARES,        \
    .start = true, .tick_drains = true, .out = "off",                          \
    .share_kib = PROF_SHARE_KIB_DEFAULT, .loop_kib = PROF_LOOP_KIB_DEFAULT,    \
    .loop_held_ms = PROF_LOOP_HELD_MS_DEFAULT,                                 \
    .loop_freeze_ms = PROF_LOOP_FREEZE_MS_DEFAULT,                             \
    .jitter_percent = PROF_WITH_PIT ? PROF_JITTER_DEFAULT : 0, .seed = 1,      \
    .depth =                                                                   \
        PROF_WITH_CALLERS ? PROF_DEPTH_DEFAULT : 0 PROF_OPTION_CPU_DEFAULT

/* Written by prof_option() only. */
extern struct prof_options prof_options_in_force;

#if PROF_WITH_OPTIONS
#define PROF_OPTION(name) (prof_options()->name)
#else
static const __attribute__((unused)) struct prof_options prof_defaults = {
    PROF_OPTION_DEFAULTS, .callers = "", .vmm = ""};
#define PROF_OPTION(name) (prof_defaults.name)
#endif

#endif
