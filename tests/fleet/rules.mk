# SPDX-License-Identifier: Apache-2.0
#
# build/host/fill_store sends rows of files to a store. Included by the
# Makefile.

$(BUILD)/host/fill_store: tests/fleet/fill_store.c tests/fleet/rules.mk \
    $(BUILD)/host/libparasite.a
	$(call begin,HOSTLD)
	$(Q)gcc -std=gnu11 -g -O2 $(WARNINGS) -Ihost -Iprofiler/include -o $@ $< \
	    $(BUILD)/host/libparasite.a $(parasite_libraries) $(xen_libraries)
test-images: $(BUILD)/host/fill_store
