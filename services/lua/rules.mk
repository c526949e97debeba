# SPDX-License-Identifier: Apache-2.0
#
# Lua 5.4 from Debian's source package, for the service. Included by the
# Makefile.

define lua_rules
$(BUILD)/$1/liblua.a: tools/build/lua.sh $(SOURCES)/lua5.4/.unpacked \
    $(call libc,$1)
	$$(call begin,LUA)
	$(Q)$$< $$@ $(SOURCES)/lua5.4/src gcc $(width.$(notdir $1)) $(GUEST) \
	    $$(LIBC) -Iservices/lua
$(call image,$1,services/lua): $(BUILD)/$1/liblua.a
$(call objects,$1,services/lua): | $(SOURCES)/lua5.4/.unpacked
endef
$(foreach b,$(BUILDS),$(eval $(call lua_rules,$b)))
