# SPDX-License-Identifier: Apache-2.0
#
# Builds images (a kernel, the profiler and one service each), the profiler
# alone, and what tests them; both widths in one graph. `make help` lists what
# there is to say to it.
#
# A source file's flags follow from the room it stands in, the first folder of
# its path: a room sees only the headers that it may know, so that an include
# which crosses a border does not build.

#= run
#: width of the image: i386 or x86_64
ARCH ?= x86_64
#: what runs in it: a folder of services/, or of your own, as in ./mine
SERVICE ?= irc
#: the Lua script that SERVICE=lua runs
SCRIPT ?= services/lua/scripts/parser.lua
#: boot module of any other SERVICE, such as a tar archive for http
MODULE ?=
#: samples a second
HZ ?= 1000
#: tables until the image ends, 0 = it ends by itself; 3, with irc and http 0
REPORTS ?= $(if $(filter irc http,$(SERVICE)),0,3)
#: QEMU's machine: pc, q35 or microvm, with its options, as in microvm,pit=off
MACHINE ?= pc
#: memory of the machine, MiB
MEM ?= 128
#: CPUs, 1 to 64; with more than 1 the image is another, in BUILD/smp
CPUS ?= 1
#: more words for the image's command line, as in APPEND='prof.top=20'
APPEND ?=
#: tcg, kvm, or auto: kvm where an image boots with it
ACCEL ?= auto
#: who loads the image: kernel (QEMU itself) or grub (from an ISO)
LOADER ?= kernel
#: more arguments for QEMU
QEMU_ARGS ?=
#: port that `make gdb` waits at
GDB_PORT ?= 1234
#= profile
#: the trace that `make record` and `make async` write
OUT ?= x.trace
#= embed
#: header that leaves out parts of the profiler (prof/config.h), with a BUILD of
#: its own
PROF_CONFIG ?=
#: the same for `make lib` alone
LIB_CONFIG ?= $(PROF_CONFIG)
#: more flags for `make lib`, as in LIB_CFLAGS='-mcmodel=kernel'
LIB_CFLAGS ?=
#= test
#: tests to run, shell patterns of their names
TESTS ?= *
#= checkout
#: where everything is built
BUILD ?= build
#: 1 = show the commands
V ?=
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
WIDTHS := i386 x86_64
NEWLIB := build/newlib
SOURCES := build/source
# SERVICE as a folder: relative to this one, unless it is elsewhere
service := $(if $(findstring /,$(SERVICE)),$(patsubst \
    $(CURDIR)/%,%,$(abspath $(SERVICE))),services/$(SERVICE))
# Images for one CPU are built in BUILD/ARCH, those for several, which have more
# in them, in BUILD/smp/ARCH. Where rules have a width as $1, it may be such a
# folder.
BUILDS := $(WIDTHS) $(addprefix smp/,$(WIDTHS))
cpus := $(filter-out 1,$(CPUS))
IMAGE = $(call $(if $(filter guest,$(LOAD)),loaded_image,image),$\
    $(if $(cpus),smp/)$(ARCH),$(service))

comma := ,
.DEFAULT_GOAL := image
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
Q := $(if $(V),,@)
begin = @$(if $(V),,printf '  %-8s%s\n' $1 $@;) \
    test -d $(@D) || mkdir -p $(@D)

# ---- flags: per width ($W) and CPUs, from the target's path, and per room

$(foreach b,$(BUILDS),$(eval $(BUILD)/$b/%: W := $(notdir $b)))
$(foreach b,$(BUILDS),$(eval $(BUILD)/$b/%: B := $b))
# of C and of nasm
several = $(if $(filter smp/%,$B),-DARCH_CPUS_MAX=64 -DPROF_CPUS_MAX=64)

width.i386 := -m32 -march=i686
width.x86_64 := -m64
bits = $(patsubst -m%,%,$(firstword $(width.$W)))
# asked of the compiler once, at the first use: it may not be installed before
CC_INCLUDE = $(eval CC_INCLUDE := $$(shell \
    $(CC) -print-file-name=include))$(CC_INCLUDE)
libgcc = $(shell gcc $(width.$W) -print-libgcc-file-name)

WERROR := -Werror
WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
    $(WERROR) $(if $(findstring clang,$(CC)),-Wno-unknown-attributes)
GUEST := -std=gnu11 -O2 -g -ffreestanding -fno-pic -fno-pie \
    -fno-stack-protector -mno-red-zone -fno-omit-frame-pointer \
    -fno-optimize-sibling-calls -fno-asynchronous-unwind-tables \
    $(if $(LIB_CONFIG),-DPROF_CONFIG_HEADER='"$(abspath $(LIB_CONFIG))"')
PLAIN = -mgeneral-regs-only -nostdinc -isystem $(CC_INCLUDE)
LIBC = -nostdinc -isystem $(CC_INCLUDE) -isystem $(NEWLIB)/$W/include \
    -U__linux__
rooms := $(BUILD)/rooms/profiler
room.arch = $(PLAIN) -Iarch/include -Iarch/x86 -Iarch/x86/$W \
    -isystem /usr/include/multiboot
room.drivers = $(PLAIN) -Iarch/include -Idrivers
room.kernel = -mgeneral-regs-only $(LIBC) -Ikernel/include -Iarch/include \
    -Idrivers -Iprofiler/include
room.services = $(LIBC) -Ikernel/include -Iprofiler/include -Iservices/lua \
    -isystem $(SOURCES)/lua5.4/src
room.tests = $(LIBC) -Ikernel/include -Iprofiler/include -Iarch/include \
    -Idrivers -Itests
room.bench = $(room.tests)
room = $(room.$(firstword $(subst /, ,$<)))

# ---- from sources to objects

# rooms that are only built to see whether they do: make check, clang
UNUSED =
unused = $(if $(filter $(firstword $(subst /, ,$<)),$(UNUSED)),-O0 -g0)
define compile
$(call begin,CC)
$(Q)$(CC) $(width.$W) $(GUEST) $(unused) $(several) $(WARNINGS) $(room) -MMD \
    -MP -c -o $@ $<
endef
# C++ without exceptions, run-time types and library: gcc and clang take both
CXX_GUEST = $(filter-out -std=%,$(GUEST)) -std=gnu++17 -fno-exceptions \
    -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit -nostdinc++ \
    -Wall -Wextra -Wshadow$(if $(findstring clang,$(CC)),,=local) $(WERROR)
define compile_cxx
$(call begin,CXX)
$(Q)$(CC) $(width.$W) $(CXX_GUEST) $(unused) $(several) $(room) -MMD -MP -c \
    -o $@ $<
endef
define assemble
$(call begin,NASM)
$(Q)nasm -f elf$(bits) -g -F dwarf -Werror -I$(BUILD)/$B/ -I$(<D)/ \
    -Iprofiler/ $(several) -MD $(@:.o=.d) -MP -o $@ $<
endef
object = $(addprefix $(BUILD)/$1/obj/,$(addsuffix .o,$(basename $2)))
objects = $(call object,$1,$(wildcard $(foreach f,$2,\
    $f/*.c $f/*.cpp $f/*.asm $f/$(notdir $1)/*.c $f/$(notdir $1)/*.asm)))
libc = $(NEWLIB)/$(notdir $1)/lib/libc.a
core = $(call objects,$1,arch/x86 drivers kernel) $(BUILD)/$1/profiler.o \
    $(BUILD)/$1/libnames.a

define width_rules
$(BUILD)/$1/obj/%.o: %.c Makefile | packages $(rooms)/.linked
	$$(compile)
$(BUILD)/$1/obj/%.o: %.cpp Makefile | packages
	$$(compile_cxx)
$(BUILD)/$1/obj/%.o: %.asm $(wildcard arch/x86/*.inc \
    profiler/*/$(notdir $1)/*.inc) \
    $(BUILD)/$1/prof_offsets.inc Makefile | packages
	$$(assemble)
$(call objects,$1,kernel): | $(call libc,$1)
endef
$(foreach b,$(BUILDS),$(eval $(call width_rules,$b)))
define newlib_rules
$(call libc,$1): tools/build/newlib.sh | packages
	$(Q)$$< $1 $(NEWLIB)/$1
endef
$(foreach w,$(WIDTHS),$(eval $(call newlib_rules,$w)))
$(SOURCES)/%/.unpacked: | packages
	$(Q)tools/build/debian-source.sh $* $(@D)

define archive
$(call begin,AR)
$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)
endef

include tools/build/images.mk

# the image that says whether guests run with KVM, and what ACCEL means to those
# who start QEMU themselves
PROBE = $(call image,$(ARCH),services/hello)
accel_needs = $(if $(filter auto,$(ACCEL)),$(PROBE))
accel = ARCH=$(ARCH) ACCEL=$(ACCEL) PROBE=$(PROBE) QEMU_ARGS="$(QEMU_ARGS)" \
    tools/build/run.py --accel

include $(wildcard */rules.mk */*/rules.mk)

# ---- what people ask for

words = prof.hz=$(HZ) prof.reports=$(REPORTS) $(load_words) $(port_words) \
    $(APPEND)
cpu_args = $(if $(cpus),-smp $(CPUS))
# with -n, files need not exist
dry = $(findstring n,$(filter-out --% %=%,$(firstword -$(MAKEFLAGS))))
existing = $(strip $(foreach f,$(subst $(comma), ,$($1)),\
    $(if $(dry)$(wildcard $f),,$(error $1=$($1): there is no file $f)))$($1))
script = $(call existing,$(if $(filter lua,$(SERVICE)),SCRIPT,MODULE))
boot = ARCH=$(ARCH) LOADER=$(LOADER) MACHINE="$(MACHINE)" MEM=$(MEM) \
    APPEND="$(words)" INITRD="$(script)" \
    QEMU_ARGS="$(strip $(cpu_args) $(load_args) $(QEMU_ARGS))" $(load) \
    tools/build/run.py $(IMAGE)

.PHONY: packages image objects run gdb iso clean help
packages:
	$(Q)tools/build/packages.sh packages.txt
image: $(IMAGE)
objects: $(foreach w,$(WIDTHS),$(call core,$w) $(call objects,$w,$(programs)) \
    $(call core,smp/$w) $(call objects,smp/$w,$(smp_programs)))

#= run
#: boot SERVICE and print its profile until it ends
run: $(IMAGE) $(accel_needs) $(load_needs)
	$(if $(load_says)$(port_says),@echo '$(strip $(load_says) $(port_says))')
	$(Q)ACCEL=$(ACCEL) PROBE=$(PROBE) $(boot)
#: the same, waiting for a debugger before the first instruction
gdb: $(IMAGE)
	$(Q)GDB=$(GDB_PORT) $(boot)
#: a bootable ISO of SERVICE
iso: $(IMAGE)
	$(Q)tools/build/iso.sh $(ARCH) $(<:.elf=.iso) $< "$(words)" $(script)
	@echo $(<:.elf=.iso)
#= checkout
#: remove what was built, except newlib and fetched sources
clean:
	$(Q)rm -rf $(filter-out $(NEWLIB) $(SOURCES),$(wildcard $(BUILD)/*))
#: this list
help:
	@awk -f tools/build/help.awk Makefile $(wildcard */rules.mk */*/rules.mk)

# What objects were compiled from. To read all of these files, thousands, takes
# longer than the rest of what make does first: only those of what is asked for.
one_image := run gdb iso image record causal async help packages
trees := $(wildcard $(addprefix $(BUILD)/,host $(if $(filter-out \
    $(one_image),$(or $(MAKECMDGOALS),image)),host32 host64 hosted \
    $(BUILDS),$(ARCH) $(if $(cpus),smp/$(ARCH)))))
-include $(if $(trees),$(shell find $(trees) -type f -name '*.d'))
