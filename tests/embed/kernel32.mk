# SPDX-License-Identifier: Apache-2.0
#
# What the Makefiles of 32-bit kernels have in common, which include this after
# their OBJECTS, and after DEFINES, for C and assembly, if they have any.
#
# Run in an empty folder: make -f .../Makefile INCLUDE= LIBRARY= PARASITE=

source := $(dir $(firstword $(MAKEFILE_LIST)))
VPATH := $(source):$(source)..
CFLAGS := -m32 -O2 -g -ffreestanding -mgeneral-regs-only -fno-pic \
    -fno-stack-protector -Wall -Werror $(DEFINES)

# for the profiler
CFLAGS += -I$(INCLUDE) -fno-omit-frame-pointer -fno-optimize-sibling-calls
OBJECTS += parasite.o

kernel.elf: $(OBJECTS)
	$(LD) -m elf_i386 -T $(source)../kernel32.ld -nostdlib -static \
	    -z noexecstack -o $@ $^ $(LIBRARY)/libprof.a
	$(PARASITE) embed -q $@

%.o: %.asm
	nasm -f elf32 $(DEFINES) -o $@ $<
