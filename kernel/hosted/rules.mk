# SPDX-License-Identifier: Apache-2.0
#
# `make hosted`: a service, the kernel and the profiler as a Linux process. What
# the machine gives an image is in this folder in another form; all else is
# compiled from the same sources. Included by the Makefile.

#= run
#: of `make hosted`: address,undefined or thread, as for gcc's -fsanitize=
SANITIZE ?=
hosted_folder = $(BUILD)/hosted/$1$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))
hosted_program = $(call hosted_folder,$1)/$(notdir $2)
HOSTED_FLAGS := -O2 -g -fno-pie -fno-omit-frame-pointer \
    -fno-optimize-sibling-calls -fno-stack-protector -D_GNU_SOURCE \
    -DPROF_HOSTED -U__linux__ $(addprefix -fsanitize=,$(SANITIZE)) \
    $(if $(SANITIZE),-fno-sanitize-recover=all -DSTACK_SCALE=8u)
# what walks stacks reads words of frames that are not its own
hosted_walkers := profiler/sample/bounds.c $(shell grep -rl \
    --include='*.c' '<prof/frame.h>' profiler kernel)
hosted_room.kernel = -Ikernel/hosted -Ikernel/include -Iarch/include -Idrivers \
    -Iprofiler/include
hosted_room.arch = -Ikernel/hosted -Iarch/include -Iarch/x86
hosted_room.services = -Ikernel/include -Iprofiler/include -Iservices/lua \
    -isystem $(SOURCES)/lua5.4/src
hosted_room.profiler = -I$(profiler_room) -Iprofiler/include -DPROF_WITH_PIT=0
hosted_room = $(hosted_room.$(firstword $(subst /, ,$<)))

# fibers.c comes between these two and those who call them
hosted_renamed = $(if $(filter arch/x86/context.c %/context.asm,$<),objcopy \
    --redefine-sym arch_context_new=hosted_context_new \
    --redefine-sym arch_context_switch=hosted_switch_registers $@)

# of the kernel and arch what does not touch the machine
hosted_kernel := $(addprefix kernel/,clock console console_model loop main \
    module options panic prof_port prof_transports statistics timers trace) \
    kernel/net/calls kernel/net/peers arch/x86/exception_names \
    $(filter-out %/names,$(basename $(wildcard kernel/hosted/*.c))) \
    $(filter-out kernel/task/memory,$(basename $(wildcard kernel/task/*.c))) \
    kernel/task/memory
hosted_profiler = $(shell tools/build/sources.py --width $1 --without pit c asm)
hosted_stack_bytes := 1048576
hosted_symbols := boot_stack_top=boot_stack_bottom+$(hosted_stack_bytes) \
    fault_stack_bottom=boot_stack_bottom fault_stack_top=boot_stack_bottom \
    text_begin=__executable_start text_end=etext rodata_begin=etext \
    rodata_end=etext init_array_begin=etext init_array_end=etext

# $1 width
define hosted_rules
hosted_objects.$1 = $$(addprefix $$(call hosted_folder,$1)/obj/,$$(addsuffix .o,$$1))
$(call hosted_folder,$1)/%: W := $1
$(call hosted_folder,$1)/obj/%.o: %.c Makefile kernel/hosted/rules.mk \
    | packages $(rooms)/.linked
	$$(call begin,CC)
	$(Q)gcc $(width.$1) -std=gnu11 $(HOSTED_FLAGS) $(WARNINGS) \
	    $$(if $$(filter $$(hosted_walkers),$$<),-fno-sanitize=all) \
	    $$(hosted_room) -MMD -MP -c -o $$@ $$<
	$(Q)$$(if $$(SANITIZE),$$(hosted_renamed))
$(call hosted_folder,$1)/obj/%.o: %.cpp Makefile kernel/hosted/rules.mk \
    | packages
	$$(call begin,CXX)
	$(Q)gcc $(width.$1) -std=gnu++17 $(HOSTED_FLAGS) -fno-exceptions \
	    -fno-rtti -fno-threadsafe-statics -Wall -Wextra -Wshadow=local \
	    $(WERROR) $$(hosted_room) -MMD -MP -c -o $$@ $$<
$(call hosted_folder,$1)/obj/%.o: %.asm $(BUILD)/$1/prof_offsets.inc
	$$(call begin,NASM)
	$(Q)mkdir -p $$(@D) && nasm -f elf$$(bits) -g -F dwarf -Werror \
	    -DPROF_HOSTED -I$(BUILD)/$1/ -I$$(<D)/ \
	    -o $$@ $$<
	$(Q)$$(if $$(SANITIZE),$$(hosted_renamed))
$(call hosted_folder,$1)/libnames.a: \
    $(call hosted_folder,$1)/obj/kernel/hosted/names.o
	$$(archive)
$(call hosted_folder,$1)/liblua.a: tools/build/lua.sh \
    $(SOURCES)/lua5.4/.unpacked
	$$(call begin,LUA)
	$(Q)$$< $$@ $(SOURCES)/lua5.4/src gcc $(width.$1) -std=gnu11 \
	    $(filter-out -DPROF_HOSTED -U__linux__,$(HOSTED_FLAGS)) -Iservices/lua
$(call hosted_folder,$1)/obj/services/lua/main.o: \
    | $(SOURCES)/lua5.4/.unpacked
endef
$(foreach w,$(WIDTHS),$(eval $(call hosted_rules,$w)))

# $1 width, $2 service
define hosted_service
$(call hosted_program,$1,$2): $(addprefix $(call hosted_folder,$1)/obj/, \
    $(addsuffix .o,$(hosted_kernel) arch/x86/context arch/x86/$1/context \
    $(basename $(call hosted_profiler,$1)) \
    $(basename $(wildcard $2/*.c $2/*.cpp $2/$1/*.asm)))) \
    $(if $(filter %/lua,$2),$(call hosted_folder,$1)/liblua.a) \
    $(call hosted_folder,$1)/libnames.a $(wildcard $2/ldflags) \
    $(BUILD)/host/embed
	$$(call begin,LINK)
	$(Q)gcc $(width.$1) -no-pie $(if $(SANITIZE),,-static) \
	    $(addprefix -fsanitize=,$(SANITIZE)) -Wl,--build-id=sha1 \
	    -Wl,-z,noexecstack $(addprefix -Wl$(comma)--defsym=,$(hosted_symbols)) \
	    $(addprefix -Wl$(comma),$(shell cat $(wildcard $2/ldflags) \
	    /dev/null)) -o $$@ $$(filter %.o %.a,$$^) -lm && $(BUILD)/host/embed $$@
endef
$(foreach w,$(WIDTHS),$(eval $(call hosted_service,$w,$(service))))

.PHONY: hosted
#: SERVICE as a Linux process, for perf, strace and sanitizers
hosted: $(call hosted_program,$(ARCH),$(service))
	@echo '$<'
