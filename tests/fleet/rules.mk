# SPDX-License-Identifier: Apache-2.0
#
# build/host/fill_store sends rows of files to a store, build/host/fill rows
# that it makes; and eight services as a fleet, with a slower build of one.
# Included by the Makefile.

$(BUILD)/host/fill_store: tests/fleet/fill_store.c
$(BUILD)/host/fill: tests/store/fill.c
$(BUILD)/host/fill_store $(BUILD)/host/fill: tests/fleet/rules.mk \
    $(BUILD)/host/libparasite.a
	$(call begin,HOSTLD)
	$(Q)gcc -std=gnu11 -g -O2 $(WARNINGS) -Ihost -Iprofiler/include -o $@ \
	    $(filter %.c,$^) $(BUILD)/host/libparasite.a \
	    $(parasite_libraries) $(xen_libraries)

# Lua whose string library somebody has compiled without optimisation
slow_lua := $(BUILD)/x86_64/lua-slow/lua.elf
$(BUILD)/x86_64/lua-slow/liblua.a: tests/fleet/rules.mk \
    $(BUILD)/x86_64/liblua.a
	$(call begin,LUA)
	$(Q)$(CC) $(width.$W) $(GUEST) -O0 $(LIBC) -Iservices/lua \
	    '-Dluai_makeseed(L)=0x5eedu' -c -o $(@D)/lstrlib.o \
	    $(SOURCES)/lua5.4/src/lstrlib.c
	$(Q)cp $(BUILD)/x86_64/liblua.a $@ && ar r $@ $(@D)/lstrlib.o
$(slow_lua): $(call core,x86_64) $(call objects,x86_64,services/lua) \
    services/lua/ldflags $(BUILD)/x86_64/lua-slow/liblua.a \
    linker/x86_64.ld linker/image.ld $(call libc,x86_64) \
    tools/build/link.sh $(BUILD)/host/embed
	$(link)
fleet_needs := $(call images,$(addprefix services/,irc http lua lottery)) \
    $(slow_lua) $(addprefix $(BUILD)/host/,loadgen fill_store parasite)
test-images: $(BUILD)/host/fill_store $(slow_lua)

.PHONY: fleet fleet-cluster
#= profile
#: eight services and a slower build of one, kept in a store, and what
#: `parasite fleet` finds; STORE=cluster: in one of three servers, of which one
#: is killed meanwhile (63 MB of packages)
fleet: $(fleet_needs) \
    $(if $(filter cluster,$(STORE)),fleet-cluster $(BUILD)/host/fill)
	$(Q)python3 tests/fleet/field.py $(BUILD)
fleet-cluster:
	$(Q)tests/store/fetch.sh $(BUILD)/clickhouse \
	    tools/build/unpack.sh tests/store/packages.txt
	$(Q)tests/store/fetch.sh $(BUILD)/zookeeper \
	    tools/build/unpack.sh tests/fleet/packages.txt
