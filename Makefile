# SPDX-License-Identifier: Apache-2.0
#
# Builds images (a kernel, the profiler and one service each), the profiler
# alone, and what tests them; both widths in one graph. `make help` lists what
# there is to say to it.
#
# A source file's flags follow from the room it stands in, the first folder of
# its path: a room sees only the headers that it may know, so that an include
# which crosses a border does not build.

ARCH ?= x86_64
SERVICE ?= lua
SCRIPT ?= services/lua/scripts/parser.lua
HZ ?= 1000
REPORTS ?= 3
MEM ?= 128
APPEND ?=
ACCEL ?= auto
LOADER ?= kernel
TESTS ?= *
V ?=
BUILD ?= build
ifeq ($(origin CC),default)
CC := gcc
endif

WIDTHS := i386 x86_64
NEWLIB := build/newlib
SOURCES := build/source
IMAGE = $(BUILD)/$(ARCH)/$(SERVICE)/$(SERVICE).elf

.DEFAULT_GOAL := image
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-6s %s\n' $1 $2)

# ---- flags: per width ($W, from the target's path) and per room

$(foreach w,$(WIDTHS),$(eval $(BUILD)/$w/%: W := $w))

width.i386 := -m32 -march=i686
width.x86_64 := -m64
emulation.i386 := elf_i386
emulation.x86_64 := elf_x86_64
nasm.i386 := elf32
nasm.x86_64 := elf64

# asked of the compiler once, at the first use: it may not be installed before
CC_INCLUDE = $(eval CC_INCLUDE := $$(shell $(CC) -print-file-name=include))$(CC_INCLUDE)
libgcc = $(shell gcc $(width.$W) -print-libgcc-file-name)

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
    -Werror
GUEST := -std=gnu11 -O2 -g -ffreestanding -fno-pic -fno-pie \
    -fno-stack-protector -mno-red-zone -fno-omit-frame-pointer \
    -fno-optimize-sibling-calls -fno-asynchronous-unwind-tables
PLAIN = -mgeneral-regs-only -nostdinc -isystem $(CC_INCLUDE)
LIBC = -U__linux__ -nostdinc -isystem $(CC_INCLUDE) \
    -isystem $(NEWLIB)/$W/include

room.profiler = $(PLAIN) -Iprofiler/include
room.arch = $(PLAIN) -Iarch/include -Iarch/x86 -Iarch/x86/$W -isystem $(BUILD)/include
room.drivers = $(PLAIN) -Iarch/include -Idrivers
room.kernel = -mgeneral-regs-only $(LIBC) -Ikernel/include -Iarch/include \
    -Idrivers -Iprofiler/include
room.services = $(LIBC) -Ikernel/include -Iprofiler/include \
    -isystem $(SOURCES)/lua5.4/src
room.tests = $(LIBC) -Ikernel/include -Iprofiler/include -Iarch/include \
    -Idrivers
room = $(room.$(firstword $(subst /, ,$<)))

# ---- from sources to objects

define compile
$(call say,CC,$@)
$(Q)mkdir -p $(@D)
$(Q)$(CC) $(width.$W) $(GUEST) $(WARNINGS) $(room) -MMD -MP -c -o $@ $<
endef

define assemble
$(call say,NASM,$@)
$(Q)mkdir -p $(@D)
$(Q)nasm -f $(nasm.$W) -g -F dwarf -Werror -I$(BUILD)/$W/ -I$(<D)/ \
    -MD $(@:.o=.d) -MP -o $@ $<
endef

# lines "->NAME $VALUE" in the compiler's output become %define NAME VALUE
define offsets
$(call say,OFFS,$@)
$(Q)mkdir -p $(@D)
$(Q)$(CC) $(width.$W) $(GUEST) $(room) -MMD -MP -MF $@.d -MT $@ -S -o $@.s $<
$(Q)sed -n 's/^->\([A-Za-z0-9_]*\) [$$]*\(.*\)/%define \1 \2/p' $@.s >$@
endef

sources.profiler = $(wildcard profiler/src/*.c profiler/src/$1/*.asm)
sources.arch = $(wildcard arch/x86/*.c arch/x86/$1/*.c arch/x86/$1/*.asm)
sources.drivers = $(wildcard drivers/*.c)
sources.kernel = $(wildcard kernel/*.c)
sources.folder = $(wildcard $2/*.c $2/*.asm $2/$1/*.c $2/$1/*.asm)
objects = $(addprefix $(BUILD)/$1/obj/,$(addsuffix .o,$(basename \
    $(filter-out %/offsets.c,$2))))
room_objects = $(call objects,$1,$(call sources.$2,$1))
includes = $(if $(wildcard arch/x86/offsets.c),$(BUILD)/$1/arch_offsets.inc) \
    $(if $(wildcard profiler/src/offsets.c),$(BUILD)/$1/prof_offsets.inc)
core = $(foreach r,arch drivers kernel,$(call room_objects,$1,$r)) \
    $(BUILD)/$1/profiler.o

define width_rules
$(BUILD)/$1/obj/%.o: %.c Makefile | packages $(BUILD)/include/multiboot.h
	$$(compile)
$(BUILD)/$1/obj/%.o: %.asm Makefile $(call includes,$1) | packages
	$$(assemble)
$(BUILD)/$1/arch_offsets.inc: arch/x86/offsets.c Makefile | packages
	$$(offsets)
$(BUILD)/$1/prof_offsets.inc: profiler/src/offsets.c Makefile | packages
	$$(offsets)
$(call room_objects,$1,kernel): | $(NEWLIB)/$1/lib/libc.a
$(BUILD)/$1/profiler.o: $(call room_objects,$1,profiler)
	$$(merge)
$(BUILD)/$1/libprof.a: $(BUILD)/$1/profiler.o
	$$(archive)
$(BUILD)/$1/%.elf: linker/$1.ld linker/image.ld $(BUILD)/host/embed \
    $(NEWLIB)/$1/lib/libc.a | packages
	$$(link)
$(BUILD)/$1/%.iso: $(BUILD)/$1/%.elf
	$$(call say,ISO,$$@)
	$(Q)tools/build/iso.sh $1 $$@ $$<
$(NEWLIB)/$1/lib/libc.a: tools/build/newlib.sh | packages
	$(Q)$$< $1 $(NEWLIB)/$1
$(BUILD)/$1/liblua.a: tools/build/lua.sh $(SOURCES)/lua5.4/.unpacked \
    $(NEWLIB)/$1/lib/libc.a
	$$(call say,LUA,$$@)
	$(Q)$$< $$@ $(SOURCES)/lua5.4/src gcc $(width.$1) $(GUEST) $$(LIBC)
endef
$(foreach w,$(WIDTHS),$(eval $(call width_rules,$w)))

# GRUB's header, alone in a folder, so that nothing else of the host is seen
$(BUILD)/include/multiboot.h: | packages
	$(Q)mkdir -p $(@D) && cp /usr/include/multiboot/multiboot.h $@

$(SOURCES)/%/.unpacked: | packages
	$(Q)tools/build/debian-source.sh $* $(@D)

# ---- the profiler alone: one object that exports prof_* and nothing else

define merge
$(call say,LD-R,$@)
$(Q)ld -m $(emulation.$W) -r -o $@.all $(filter %.o,$^)
$(Q)objcopy -w --keep-global-symbol='prof_*' $@.all $@
$(Q)rm $@.all
endef

define archive
$(call say,AR,$@)
$(Q)rm -f $@ && ar rcs $@ $^
endef

# ---- images: linked once to learn the addresses, again with the names

ldflags = $(shell cat $(filter %/ldflags,$^) /dev/null)
stem = $(basename $@)
embed = $(BUILD)/host/embed
ld = ld -m $(emulation.$W) -T linker/$W.ld -nostdlib -static \
    --fatal-warnings -z noexecstack -Map $(stem).map $(ldflags) \
    --start-group $(filter %.o %.a,$^) $(NEWLIB)/$W/lib/libm.a $(libgcc) \
    --end-group

define link
$(call say,LD,$@)
$(Q)mkdir -p $(@D)
$(Q)$(ld) --build-id=sha1 -o $(stem).pass1
$(Q)$(embed) $(stem).pass1 $(stem).names
$(Q)printf '.section .prof_symtab,"a"\n.balign 8\n.incbin "%s"\n' $(stem).names | \
    gcc $(width.$W) -c -x assembler -o $(stem).names.o -
$(Q)$(ld) $(stem).names.o -o $@ \
    --build-id=0x$$($(embed) --build-id $(stem).pass1)
$(Q)$(embed) --verify $(stem).pass1 $@
$(Q)nm -nS $@ >$(stem).sym
endef

image_name = $(if $(filter tests/%,$2),test/)$(notdir $2)/$(notdir $2)
image = $(BUILD)/$1/$(image_name)

# $1 width, $2 the folder of the sources
define image_rules
$(call objects,$1,$(call sources.folder,$1,$2)): | $(NEWLIB)/$1/lib/libc.a
$(image).elf: $(call core,$1) $(wildcard $2/ldflags) \
    $(call objects,$1,$(call sources.folder,$1,$2))
endef
services := $(sort $(patsubst %/,%,$(dir $(wildcard services/*/*.c))))
guest_tests := $(sort $(patsubst %/,%,$(dir $(wildcard tests/guest/*/*.c))))
$(foreach w,$(WIDTHS),$(foreach f,$(services) $(guest_tests),\
    $(eval $(call image_rules,$w,$f))))

$(foreach w,$(WIDTHS),$(eval \
    $(BUILD)/$w/lua/lua.elf: $(BUILD)/$w/liblua.a) $(eval \
    $(call objects,$w,$(wildcard services/lua/*.c)): | $(BUILD)/$w/liblua.a))

# ---- on the host: the tool that writes symbol tables

define host_compile
$(call say,HOSTCC,$@)
$(Q)mkdir -p $(@D)
$(Q)gcc -std=gnu11 -O2 -g $(WARNINGS) -Iprofiler/include -MMD -MP -c -o $@ $<
endef

$(BUILD)/host/obj/%.o: %.c Makefile | packages
	$(host_compile)
$(BUILD)/host/embed: $(patsubst %.c,$(BUILD)/host/obj/%.o,\
    $(wildcard tools/embed/*.c))
	$(call say,HOSTLD,$@)
	$(Q)mkdir -p $(@D) && gcc -o $@ $^ -lelf

# ---- what people ask for

.PHONY: packages image images lib clean
packages:
	$(Q)tools/build/packages.sh packages.txt
image: $(IMAGE)
images: $(foreach w,$(WIDTHS),$(foreach s,$(services),$(call image,$w,$s).elf))
lib: $(foreach w,$(WIDTHS),$(BUILD)/$w/libprof.a)
clean:
	$(Q)rm -rf $(filter-out $(NEWLIB) $(SOURCES),$(wildcard $(BUILD)/*))

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
