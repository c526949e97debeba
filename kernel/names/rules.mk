# SPDX-License-Identifier: Apache-2.0
#
# Space for an image's names, linked where the program reserves none. Included
# by the Makefile.

define names_rules
$(BUILD)/$1/libnames.a: $(call objects,$1,kernel/names)
	$$(archive)
endef
$(foreach b,$(BUILDS),$(eval $(call names_rules,$b)))
