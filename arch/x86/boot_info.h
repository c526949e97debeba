/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOOT_INFO_H
#define BOOT_INFO_H

/*
 * Fills arch_boot. The boot_protocol.c of each width parses the loader's
 * structures and calls the functions below. They sort and merge ranges, align
 * them to pages and drop what is above ARCH_RAM_END. Contexts: boot.
 */

#include <stddef.h>
#include <stdint.h>

/*
 * Parses what the loader passed: (magic) is the value of eax, (information)
 * that of ebx. Fills arch_boot. Ends the image with a line on COM1 if the
 * protocol is unknown. Defined by each width.
 */
void boot_protocol_read(uint32_t magic, uintptr_t information);

/*
 * Adds a usable range of RAM, or removes a reserved one. Add all usable ranges
 * first: reserved ones take precedence.
 */
void boot_info_usable(uint64_t begin, uint64_t bytes);
void boot_info_reserved(uint64_t begin, uint64_t bytes);

/* Adds a module, half-open; (name) may be NULL. */
void boot_info_module(uint64_t begin, uint64_t end, const char *name);

/*
 * Looks for the image's symbol table among the (count) ELF section headers at
 * (headers), (entry_bytes) apart, which are those of the image's width, with
 * the addresses to which the loader has copied the sections. It is not used
 * unless all of it lies below 4 GiB, and above the first page.
 */
void boot_info_sections(const void *headers, size_t count, size_t entry_bytes);

/* Sets the command line; NULL means an empty one. */
void boot_info_command_line(const char *text);

/*
 * Adds RAM without a memory map: (upper_kib) KiB from 1 MiB up or, if that is
 * 0, what the firmware stored in the CMOS.
 */
void boot_info_no_map(uint32_t upper_kib);

/* Bytes of RAM from 1 MiB up according to the CMOS, without holes (SeaBIOS). */
uint64_t boot_cmos_bytes(void);

#endif
