# SPDX-License-Identifier: Apache-2.0
#
# Tasks, promises and what is awaited by them, as one archive: an image has
# what it uses of it. Included by the Makefile.

define task_rules
$(call objects,$1,kernel/task): | $(call libc,$1)
$(BUILD)/$1/libtask.a: $(call objects,$1,kernel/task)
	$$(archive)
$(foreach f,$(programs) $(smp_programs),$(call image,$1,$f)): \
    $(BUILD)/$1/libtask.a
objects: $(call objects,$1,kernel/task)
endef
$(foreach b,$(BUILDS),$(eval $(call task_rules,$b)))
