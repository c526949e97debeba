/* SPDX-License-Identifier: Apache-2.0 */
/* Program headers of an ELF file, by libelf. */

#include "image/segment.h"

#include "base/memory.h"
#include "symbols/space.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

static struct segment *read_headers(Elf *elf, size_t *count)
{
    struct segment *segments = NULL;
    size_t headers = space_headers(elf);
    GElf_Phdr header;

    for (size_t i = 0; i < headers; ++i) {
        if (gelf_getphdr(elf, (int)i, &header) == NULL)
            break;
        if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0)
            continue;
        vector_reserve_one(&segments, *count, sizeof *segments);
        segments[(*count)++] = (struct segment){
            header.p_vaddr, header.p_memsz, header.p_offset, header.p_align};
    }
    return segments;
}

struct segment *segments_read(const char *path, size_t *count)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct segment *segments = NULL;
    Elf *elf = NULL;

    *count = 0;
    if (file < 0)
        return NULL;
    if (elf_version(EV_CURRENT) != EV_NONE)
        elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    if (elf != NULL)
        segments = read_headers(elf, count);
    elf_end(elf);
    close(file);
    return segments;
}
