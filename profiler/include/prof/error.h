/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_ERROR_H
#define PROF_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Error codes of all calls. A call's own comment may give a narrower reason. */
enum prof_error {
    PROF_OK = 0,
    PROF_EMEMORY = -1,       /* memory is missing, misaligned or too small */
    PROF_ECONFIG = -2,       /* invalid configuration */
    PROF_ESTATE = -3,        /* called too early, or again */
    PROF_ERATE = -4,         /* the sampling rate is 0 */
    PROF_EOPTION = -5,       /* unknown option */
    PROF_EVALUE = -6,        /* the option is known, its value is invalid */
    PROF_EGATE = -7,         /* the timer's IDT gate is not present */
    PROF_EFIXED = -8,        /* the rate is the kernel's and cannot change */
    PROF_EPORT = -9,         /* current_eoi_mechanism is NULL */
    PROF_EABSENT = -10,      /* not in this image (<prof/config.h>) */
    PROF_EFLIGHT = -11,      /* the recorder is not in flight mode */
    PROF_ELOOP = -12,        /* no statistics of the event loop: prof.loop */
    PROF_ECAUSAL = -13,      /* experiments without target or progress point */
    PROF_ECAUSAL_RUNS = -14, /* experiments are running */
    PROF_ECAUSAL_MEMORY = -15, /* no memory for experiments */
    PROF_ESYM_NONE = -16,      /* the image has no symbol table */
    PROF_ESYM_SHORT = -17,     /* shorter than its header says */
    PROF_ESYM_MAGIC = -18,     /* not a symbol table, or of another version */
    PROF_ESYM_CRC = -19,       /* the checksum is wrong */
    PROF_ESYM_LAYOUT = -20,    /* an array lies outside the table */
    PROF_ESYM_ORDER = -21,     /* not sorted by address, or overlapping */
    PROF_ESYM_NAME = -22,      /* a name that cannot be read */
    PROF_ESYM_BUILD = -23,     /* made for another build of the image */
    PROF_ESYM_WIDTH = -24,     /* made for another pointer width */
    PROF_ESYM_INDEX = -25,     /* its index misses functions */
    PROF_EONE_SHOT = -26,      /* the kernel uses the PIT in one-shot mode */
    PROF_ELAPIC = -27,         /* the local APIC's timer is not as config.tick
                                  says */
    PROF_ETIMER = -28,         /* the machine has no timer to sample by */
    PROF_ECPU = -29,           /* another CPU has the same identification */
    PROF_ECAUSAL_CPUS = -30,   /* experiments work on one CPU only */
    PROF_EPATCH_NAME = -32,    /* no function has this name */
    PROF_EPATCH_NAMES = -33,   /* several functions have this name */
    PROF_EPATCH_SHORT = -34,   /* the function is shorter than a jump */
    PROF_EPATCH_CODE = -35,    /* its first instructions cannot be moved */
    PROF_EPATCH_BRANCH = -36,  /* it jumps to its first instructions */
    PROF_EPATCH_OWN = -37,     /* the profiler's own, or not in the code */
    PROF_EPATCH_ROOM = -38,    /* too many functions */
    PROF_EPATCH_LINE = -39,    /* a line without the addresses of its code */
    PROF_EPATCH_RANGES = -40,  /* ranges malformed, not in the code, or too
                                  many */
    PROF_EPATCH_KIND = -41,    /* ranges can only be a target, measured by
                                  samples */
};

/* Returns the text of (error), one line in English, never NULL. Contexts:
 * any. */
const char *prof_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif
