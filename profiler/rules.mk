# SPDX-License-Identifier: Apache-2.0
#
# The module alone: one object per width that exports prof_* and nothing else,
# and the demangler, a library that the host command links as well. Included by
# the Makefile.

# a room of the module sees itself and what profiler/rooms grants it; debuggers
# are given the headers' own paths, not those of the links
profiler_room = $(rooms)/$(word 2,$(subst /, ,$<))
# Without SSE no object needs a stack that is aligned to more than a word; on
# i386, where arguments are on the stack, keeping it so takes 3 % of the code.
stack.i386 = $(if $(findstring clang,$(CC)),-mstack-alignment=4 \
    ,-mpreferred-stack-boundary=2)
room.profiler = $(PLAIN) $(stack.$W) -I$(profiler_room) -Iprofiler/include \
    -fdebug-prefix-map=$(profiler_room)/=profiler/ $(LIB_CFLAGS)
$(rooms)/.linked: profiler/rooms tools/build/rooms.py | packages
	$(call begin,ROOMS)
	$(Q)tools/build/rooms.py link profiler $(@D) && touch $@

# the module's sources; tools/build/sources.py lists the same and, where
# something is left out, knows what that is
ifeq ($(LIB_CONFIG),)
profiler_sources = $(filter-out %/offsets.c %/reserve.c,$(wildcard \
    profiler/*/*.c profiler/*/*.asm profiler/*/$(notdir $1)/*.asm))
else
profiler_sources = $(shell tools/build/sources.py --width $(notdir $1) \
    --config $(LIB_CONFIG) c asm)
endif

# What was chosen for the objects that are there; other choices remake them.
lib_choice := $(strip $(LIB_CFLAGS) $(LIB_CONFIG))
lib_stamp := $(BUILD)/lib.choice
ifneq ($(lib_choice),$(strip $(file <$(lib_stamp))))
.PHONY: $(lib_stamp)
endif
$(lib_stamp):
	$(Q)mkdir -p $(@D) && echo '$(lib_choice)' >$@

define merge
$(call begin,LD-R)
$(Q)ld -m elf_$W -r -T profiler/module.ld -o $@.all \
    $(filter-out profiler/module.ld,$^)
$(Q)objcopy -w --keep-global-symbol='prof_*' $@.all $@ && rm $@.all
endef
# lines "->NAME $VALUE" in the compiler's output become %define NAME VALUE
define offsets
$(call begin,OFFSETS)
$(Q)$(CC) $(width.$W) $(GUEST) $(several) $(room) -MMD -MP -MF $@.d -MT $@ \
    -S -o $@.s $< $(if $(findstring clang,$(CC)),-no-integrated-as)
$(Q)sed -n 's/^->\([A-Za-z0-9_]*\) [$$]*\(.*\)/%define \1 \2/p' $@.s >$@
endef

define profiler_rules
$(BUILD)/$1/prof_offsets.inc: profiler/sample/offsets.c Makefile \
    $(if $(lib_choice)$(wildcard $(lib_stamp)),$(lib_stamp)) \
    | packages $(rooms)/.linked
	$$(offsets)
profiler_sources.$1 := $(call profiler_sources,$1)
$$(call object,$1,$$(profiler_sources.$1)): \
    $(if $(lib_choice)$(wildcard $(lib_stamp)),$(lib_stamp))
# an event's budget is in instructions; calls from there are rare
$$(call object,$1,profiler/trace/recorder.c \
    profiler/loop/switch.c): room.profiler += \
    -fomit-frame-pointer -foptimize-sibling-calls
# The same of a request's calls in experiments. The frame pointer stays the
# caller's, so that samples know all callers but the first. gcc's peepholes for
# i686 make two instructions of one, and its 64-bit variables want a stack that
# is aligned to 8, which it makes so by itself in each call.
$$(call object,$1,profiler/causal/fast_path.c): room.profiler += \
    -fomit-frame-pointer -foptimize-sibling-calls \
    $(if $(findstring clang,$(CC)),,-ffixed-bp -fno-peephole2 \
        $(if $(findstring i386,$1),-mpreferred-stack-boundary=3))
$(BUILD)/$1/profiler.o: $$(call object,$1,$$(filter-out profiler/demangle/%,\
    $$(profiler_sources.$1))) $(BUILD)/$1/libdemangle.a profiler/module.ld
	$$(merge)
$(BUILD)/$1/libdemangle.a: $$(call object,$1,$$(filter profiler/demangle/%,\
    $$(profiler_sources.$1)))
	$$(archive)
$(BUILD)/$1/libprof.a: $(BUILD)/$1/profiler.o \
    $(call object,$1,profiler/symbols/reserve.c)
	$$(archive)
endef
$(foreach b,$(BUILDS),$(eval $(call profiler_rules,$b)))

.PHONY: lib
#= embed
#: the profiler alone, both widths: build/ARCH/profiler.o and libprof.a
lib: $(foreach w,$(WIDTHS),$(BUILD)/$w/libprof.a) $(BUILD)/sources.txt
$(BUILD)/sources.txt: $(foreach w,$(WIDTHS),$(BUILD)/$w/profiler.o) \
    tools/build/sources.py
	$(call begin,LIST)
	$(Q)tools/build/sources.py list >$@
