# SPDX-License-Identifier: Apache-2.0
#
# Unit tests: on the host, at both widths, under sanitizers, with cmocka built
# from Debian's source package. Included by the Makefile.

UNIT := -fno-pie -no-pie -fsanitize=address,undefined -fno-sanitize-recover=all
unit_tests := $(basename $(notdir $(wildcard tests/unit/*_test.c)))
define unit_rules
$(BUILD)/host$1/obj/%.o: %.c Makefile | packages $(SOURCES)/cmocka/.unpacked
	$$(call host_compile,-m$1 -O1 -DPROF_HOSTED $(UNIT) \
	    -isystem $(SOURCES)/cmocka/include)
$(BUILD)/host$1/libcmocka.a: $(SOURCES)/cmocka/.unpacked | packages
	$$(call begin,CMOCKA)
	$(Q)tools/build/cmocka.sh $$@ $$(<D) gcc -m$1 -g -O1 -fno-pie
$(BUILD)/host$1/libprof.a: $(patsubst %.c,$(BUILD)/host$1/obj/%.o,\
    $(filter-out %/offsets.c,$(wildcard profiler/src/*.c)))
	$$(archive)
$(BUILD)/host$1/%_test: $(BUILD)/host$1/obj/tests/unit/%_test.o \
    $(BUILD)/host$1/libprof.a $(BUILD)/host$1/libcmocka.a
	$$(call begin,HOSTLD)
	$(Q)gcc -m$1 $(UNIT) -o $$@ $$^
endef
$(foreach b,32 64,$(eval $(call unit_rules,$b)))
