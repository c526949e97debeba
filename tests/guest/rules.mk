# SPDX-License-Identifier: Apache-2.0
#
# What images of tests/guest have in common. Included by the Makefile.

define guest_library_rules
$(call objects,$1,tests/guest/lib): | $(call libc,$1)
$(BUILD)/$1/libguest.a: $(call objects,$1,tests/guest/lib)
	$$(archive)
endef
$(foreach b,$(BUILDS),$(eval $(call guest_library_rules,$b)))
