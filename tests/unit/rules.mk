# SPDX-License-Identifier: Apache-2.0
#
# Unit tests: on the host, at both widths, under sanitizers, with cmocka built
# from Debian's source package. Included by the Makefile.

UNIT := -fno-pie -no-pie -fsanitize=address,undefined -fno-sanitize-recover=all
unit_tests := $(basename $(notdir $(wildcard tests/unit/*_test.c)))
define unit_rules
$(BUILD)/host$1/obj/%.o: %.c Makefile | packages $(SOURCES)/cmocka/.unpacked
	$$(call host_compile,-m$1 -O1 -DPROF_HOSTED $$(UNIT) \
	    -isystem $(SOURCES)/cmocka/include)
$(BUILD)/host$1/libcmocka.a: $(SOURCES)/cmocka/.unpacked | packages
	$$(call begin,CMOCKA)
	$(Q)tools/build/cmocka.sh $$@ $$(<D) gcc -m$1 -g -O1 -fno-pie
$(BUILD)/host$1/obj/walk.o: profiler/src/$2/walk.asm \
    $(BUILD)/$2/prof_offsets.inc
	$$(call begin,NASM)
	$(Q)nasm -f elf$1 -g -F dwarf -Werror -I$(BUILD)/$2/ -o $$@ $$<
$(BUILD)/host$1/libprof.a: $(patsubst %.c,$(BUILD)/host$1/obj/%.o,\
    $(filter-out %/offsets.c,$(wildcard profiler/src/*.c))) \
    $(BUILD)/host$1/obj/walk.o
	$$(archive)
$(BUILD)/host$1/lookup_test: $(patsubst %,\
    $(BUILD)/host$1/obj/tools/embed/%.o,lookup fail)
$(BUILD)/host$1/divide_test: $(BUILD)/host$1/obj/arch/x86/i386/divide.o
$(BUILD)/host$1/%_test: $(BUILD)/host$1/obj/tests/unit/%_test.o \
    $(addprefix $(BUILD)/host$1/,libprof.a libdecode.a libcmocka.a)
	$$(call begin,HOSTLD)
	$(Q)gcc -m$1 $(UNIT) -o $$@ $$^ -lm
endef
$(eval $(call unit_rules,32,i386))
$(eval $(call unit_rules,64,x86_64))
