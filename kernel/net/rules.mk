# SPDX-License-Identifier: Apache-2.0
#
# The network: lwIP from Debian's source package, and what is around it in
# kernel/net, as one archive for those images that have one of its headers in
# a source. Included by the Makefile.

LWIP := $(SOURCES)/lwip
LWIP_INCLUDE := -Ikernel/net/lwip -isystem $(LWIP)/src/include
net_programs := $(patsubst %/,%,$(sort $(dir $(shell grep -lE \
    '<kernel/(net|net_link|stream)\.h>' \
    $(wildcard $(addsuffix /*.[ch]*,$(programs) $(smp_programs)))))))
define net_rules
$(call objects,$1,kernel/net): room = $$(room.kernel) $$(LWIP_INCLUDE)
$(call objects,$1,kernel/net): | $(LWIP)/.unpacked $(call libc,$1)
$(BUILD)/$1/liblwip.a: tools/build/lwip.sh $(LWIP)/.unpacked \
    $(wildcard kernel/net/lwip/*.h kernel/net/lwip/arch/*.h) \
    $(call libc,$1)
	$$(call begin,LWIP)
	$(Q)$$< $$@ $(LWIP)/src gcc $(width.$(notdir $1)) $(GUEST) $$(LIBC) \
	    -Ikernel/include -Iprofiler/include $(LWIP_INCLUDE)
$(BUILD)/$1/libnet.a: $(call objects,$1,kernel/net)
	$$(archive)
$(foreach f,$(net_programs),$(call image,$1,$f)): $(BUILD)/$1/libnet.a \
    $(BUILD)/$1/liblwip.a
objects: $(call objects,$1,kernel/net)
endef
$(foreach b,$(BUILDS),$(eval $(call net_rules,$b)))
