# SPDX-License-Identifier: Apache-2.0
#
# The tool that writes symbol tables into images. Included by the Makefile.

$(BUILD)/host/embed: $(patsubst %.c,$(BUILD)/host/obj/%.o,\
    $(wildcard host/embed/*.c host/symbols/*.c))
	$(call begin,HOSTLD)
	$(Q)gcc -o $@ $^ -lelf -lnettle
