# SPDX-License-Identifier: Apache-2.0
#
# `make hosted`: a service, the kernel and the profiler as a Linux process. What
# the machine gives an image is in this folder in another form; all else is
# compiled from the same sources. Included by the Makefile.

#= run
#: sanitizers of `make hosted`, as for gcc's -fsanitize=: address,undefined
SANITIZE ?=
# a build is WIDTH or WIDTH-SANITIZER-SANITIZER
hosted_build = $1$(addprefix -,$(subst $(comma),-,$2))
hosted_program = $(BUILD)/hosted/$1/$(notdir $2)
hosted_services := services/irc services/http services/lua services/async

HOSTED_FLAGS := -g -fno-pie -fno-omit-frame-pointer \
    -fno-optimize-sibling-calls -fno-stack-protector -D_GNU_SOURCE \
    -D_FILE_OFFSET_BITS=64 -DPROF_HOSTED -U__linux__
hosted_sanitize = $(addprefix -fsanitize=,$2)
# sanitizers are to find faults: -Og compiles with them twice as fast
hosted_flags = $(width.$1) $(if $2,-Og,-O2) $(HOSTED_FLAGS) \
    $(hosted_sanitize) $(if $2,-fno-sanitize-recover=all -DSTACK_SCALE=8u)
hosted_room.kernel = -Ikernel/hosted -Ikernel/include -Iarch/include -Idrivers \
    -Iprofiler/include
hosted_room.arch = -Ikernel/hosted -Iarch/include -Iarch/x86
hosted_room.services = -Ikernel/include -Iprofiler/include -Iservices/lua \
    -isystem $(SOURCES)/lua5.4/src
hosted_room.profiler = -I$(profiler_room) -Iprofiler/include
hosted_room = $(hosted_room.$(firstword $(subst /, ,$<)))
# what walks stacks reads words of frames that are not its own
hosted_walkers := profiler/sample/bounds.c profiler/trace/stacks.c \
    profiler/control/causal.c profiler/loop/guard.c kernel/panic.c
# fibers.c comes between these two and those who call them
hosted_renamed = $(if $(filter arch/x86/context.c %/context.asm,$<),objcopy \
    --redefine-sym arch_context_new=hosted_context_new \
    --redefine-sym arch_context_switch=hosted_switch_registers $@)

# of the kernel and arch what does not touch the machine
hosted_kernel := $(addprefix kernel/,alarm clock console console_model loop \
    main module options panic prof_port prof_transports statistics timers \
    trace) kernel/net/calls kernel/net/peers arch/x86/exception_names \
    arch/x86/context \
    $(filter-out %/names,$(basename $(wildcard kernel/hosted/*.c))) \
    $(basename $(wildcard kernel/task/*.c kernel/http/*.c \
    kernel/profile_server/*.c))
hosted_profiler = $(basename $(filter-out %/offsets.c %/reserve.c,$(wildcard \
    profiler/*/*.c profiler/*/*.asm profiler/*/$1/*.asm)))
# boot_stack_bottom is in start.c
hosted_symbols := boot_stack_top=boot_stack_bottom+1048576 \
    fault_stack_bottom=boot_stack_bottom fault_stack_top=boot_stack_bottom \
    text_begin=__executable_start text_end=etext rodata_begin=etext \
    rodata_end=etext init_array_begin=etext init_array_end=etext

# $1 width, $2 sanitizers, $3 the build
define hosted_rules
$(BUILD)/hosted/$3/%: W := $1
$(BUILD)/hosted/$3/obj/%.o: %.c Makefile kernel/hosted/rules.mk \
    | packages $(rooms)/.linked
	$$(call begin,CC)
	$(Q)gcc -std=gnu11 $(hosted_flags) $(WARNINGS) \
	    $$(if $$(filter $$(hosted_walkers),$$<),-fno-sanitize=all) \
	    $$(hosted_room) -MMD -MP -c -o $$@ $$<
	$(Q)$(if $2,$$(hosted_renamed))
$(BUILD)/hosted/$3/obj/%.o: %.cpp Makefile kernel/hosted/rules.mk | packages
	$$(call begin,CXX)
	$(Q)gcc -std=gnu++17 $(hosted_flags) -fno-exceptions -fno-rtti \
	    -fno-threadsafe-statics -Wall -Wextra -Wshadow=local $(WERROR) \
	    $$(hosted_room) -MMD -MP -c -o $$@ $$<
$(BUILD)/hosted/$3/obj/%.o: %.asm $(BUILD)/$1/prof_offsets.inc
	$$(call begin,NASM)
	$(Q)nasm -f elf$$(bits) -g -F dwarf -Werror -DPROF_HOSTED \
	    -I$(BUILD)/$1/ -I$$(<D)/ -Iprofiler/ -o $$@ $$<
	$(Q)$(if $2,$$(hosted_renamed))
$(BUILD)/hosted/$3/libnames.a: $(BUILD)/hosted/$3/obj/kernel/hosted/names.o
	$$(archive)
$(BUILD)/hosted/$3/liblua.a: tools/build/lua.sh $(SOURCES)/lua5.4/.unpacked
	$$(call begin,LUA)
	$(Q)$$< $$@ $(SOURCES)/lua5.4/src gcc -std=gnu11 \
	    $(filter-out -DPROF_HOSTED -U__linux__,$(hosted_flags)) \
	    -Iservices/lua
$(BUILD)/hosted/$3/obj/services/lua/main.o: | $(SOURCES)/lua5.4/.unpacked
$(BUILD)/hosted/$3/lua: $(BUILD)/hosted/$3/liblua.a
$(foreach s,$(sort $(hosted_services) $(service)),$(eval \
    $(call hosted_service,$1,$2,$3,$s)))
endef
# the same, $4 the service
define hosted_service
$(call hosted_program,$3,$4): $(addprefix $(BUILD)/hosted/$3/obj/, \
    $(addsuffix .o,$(hosted_kernel) arch/x86/$1/context \
    $(call hosted_profiler,$1) \
    $(basename $(wildcard $4/*.c $4/*.cpp $4/$1/*.asm)))) \
    $(BUILD)/hosted/$3/libnames.a $(wildcard $4/ldflags) $(BUILD)/host/embed
	$$(call begin,LINK)
	$(Q)gcc $(width.$1) -no-pie $(if $2,,-static) $(hosted_sanitize) \
	    -Wl,--build-id=sha1 -Wl,-z,noexecstack \
	    $(addprefix -Wl$(comma)--defsym=,$(hosted_symbols)) \
	    $(addprefix -Wl$(comma),$(if $(wildcard $4/ldflags),$(file \
	    <$4/ldflags))) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) -lm \
	    && $(BUILD)/host/embed $$@
endef
hosted_tested := i386: x86_64: x86_64:address,undefined
hosted_width = $(word 1,$(subst :, ,$1))
hosted_sanitizers = $(word 2,$(subst :, ,$1))
$(foreach b,$(sort $(hosted_tested) $(ARCH):$(SANITIZE)),$(eval $(call \
    hosted_rules,$(call hosted_width,$b),$(call hosted_sanitizers,$b),$(call \
    hosted_build,$(call hosted_width,$b),$(call hosted_sanitizers,$b)))))
test-images: $(foreach b,i386 x86_64 x86_64-address-undefined,$(foreach \
    s,$(hosted_services),$(call hosted_program,$b,$s)))

.PHONY: hosted
#: SERVICE as a Linux process, for perf, strace and sanitizers
hosted: $(call hosted_program,$(call \
    hosted_build,$(ARCH),$(SANITIZE)),$(service))
	@echo '$<'
