/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOOT_INFO_H
#define BOOT_INFO_H

/*
 * Collects what a loader says into arch_boot. A width's boot_protocol.c knows
 * how the loader says it and calls the functions below; what is overlapping,
 * unsorted, crooked or beyond 4 GiB is put right here.
 */

#include <stdint.h>
#include <stddef.h>

/*
 * Reads what the loader has left: (magic) is what it put into eax,
 * (information) what it put into ebx. Fills arch_boot. Ends the machine with a
 * line on COM1 where neither makes sense. Given by each width.
 */
void boot_protocol_read(uint32_t magic, uintptr_t information);

/*
 * RAM that may be used, or that may not although another entry says so. Call
 * for all usable ranges first, then for the reserved ones.
 */
void boot_info_usable(uint64_t begin, uint64_t bytes);
void boot_info_reserved(uint64_t begin, uint64_t bytes);

/* A module, half-open; (name) may be NULL. */
void boot_info_module(uint64_t begin, uint64_t end, const char *name);

/* The command line; NULL is an empty one. */
void boot_info_command_line(const char *text);

/*
 * What stands in for a missing memory map: (upper_kib) KiB from 1 MiB on as
 * the loader says or, where that is 0, what the firmware left in the CMOS.
 */
void boot_info_no_map(uint32_t upper_kib);

/* The CMOS's answer: bytes of RAM from 1 MiB on, without a hole (SeaBIOS). */
uint64_t boot_cmos_bytes(void);

/*
 * Lowest address from (from) on of (bytes) free bytes, page-aligned: RAM, and
 * neither image nor module nor page table. 0 where there is none.
 */
uintptr_t boot_info_find(uintptr_t from, size_t bytes);

#endif
