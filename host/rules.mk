# SPDX-License-Identifier: Apache-2.0
#
# The command parasite, and what the unit tests take of it: the decoder, built
# at both widths. Included by the Makefile.

#= embed
#: where `make install` and `make install-lib` put things
PREFIX ?= /usr/local

# Xen's libraries, if they are installed: then there is attach xen:DOMID
xen_libraries := $(shell pkg-config --silence-errors --libs \
    xencall xenforeignmemory 2>/dev/null)
xen_object := $(BUILD)/host/obj/host/xen/xen_calls.o
$(if $(xen_libraries),$(eval $(xen_object): \
    host_room.host += -DPARASITE_XEN))
host_sources := $(wildcard host/*/*.c)
$(foreach b,host host32 host64,$(host_sources:%.c=$(BUILD)/$b/obj/%.o)): \
    | $(BUILD)/rooms/host/.linked
$(BUILD)/rooms/host/.linked: host/rooms tools/build/rooms.py
	$(call begin,ROOMS)
	$(Q)tools/build/rooms.py link host $(@D) && touch $@
parasite_libraries := -lcurl -ldw -lelf -lcapstone -ljansson -lmicrohttpd \
    -lncursesw -lnettle -lprotobuf-c -ltinfo -lz -lm
# the messages of export/*.proto
messages := $(BUILD)/host/messages
message_sources := $(patsubst host/export/%.proto,$(messages)/%.pb-c.c,\
    $(wildcard host/export/*.proto))
$(messages)/%.pb-c.c $(messages)/%.pb-c.h: host/export/%.proto | packages
	$(call begin,PROTOC)
	$(Q)mkdir -p $(messages) && \
	    protoc-c --c_out=$(messages) -Ihost/export $<
$(messages)/%.o: $(messages)/%.c
	$(call begin,HOSTCC)
	$(Q)gcc -std=gnu11 -g -O2 $(WARNINGS) -c -o $@ $<
message_users := \
    $(patsubst %.c,$(BUILD)/host/obj/%.o,$(wildcard host/export/*.c \
    host/push/*.c))
$(message_users): | $(message_sources)
$(message_users): host_room.host += -I$(messages)
parasite_main := host/cli/main.c
# all but main(), for programs of the tests
$(BUILD)/host/libparasite.a: $(patsubst %.c,$(BUILD)/host/obj/%.o,\
    $(filter-out %/main.c,$(host_sources)) profiler/causal/gain.c \
    profiler/causal/rates.c \
    $(addprefix profiler/symbols/,elf.c lookup.c table.c) \
    profiler/base/crc.c) \
    $(message_sources:.c=.o) $(BUILD)/host/obj/host/pages/templates.o
	$(archive)
$(BUILD)/host/parasite: $(parasite_main:%.c=$(BUILD)/host/obj/%.o) \
    $(BUILD)/host/libparasite.a $(BUILD)/host/libdemangle.a
	$(call begin,HOSTLD)
	$(Q)gcc -o $@ $^ $(parasite_libraries) $(xen_libraries)
decoder := attach/encoder attach/inside attach/pauses \
    base/bytes base/index base/log base/memory base/text \
    base/temporary \
    base/wait \
    flame/align fleet/mixes fleet/spans fleet/statistics \
    fleet/times \
    machine/machine machine/paging machine/registers gdb/remote \
    xen/xen xen/xen_calls \
    trace/console trace/event \
    trace/guest_names trace/merge trace/model trace/packet \
    image/line_code image/lookup image/own_code image/stored image/symbol_list \
    symbols/function_symbols \
    causal/take causal/curve causal/notes \
    causal/series causal/verdict collect/build collect/rollup collect/waits \
    $(patsubst host/%.c,%,$(wildcard host/tasks/*.c \
    host/occupancy/*.c)) \
    input/http input/qemu input/send input/shared_ring input/vsock \
    profile/interval profile/ticks profile/under_sampled push/queue \
    store/address store/answer store/insert store/losses store/rows \
    timeline/clocks timeline/parts timeline/rows timeline/svg \
    timeline/svg_counters top/keys
$(foreach b,32 64,$(eval $(BUILD)/host$b/libdecode.a: \
    $(decoder:%=$(BUILD)/host$b/obj/host/%.o) \
    $(addprefix $(BUILD)/host$b/obj/profiler/causal/,gain.o rates.o) \
    host/rules.mk))
$(BUILD)/host32/libdecode.a $(BUILD)/host64/libdecode.a:
	$(archive)
# the engine of embedded stores, which the command loads at run time
chdb := $(BUILD)/chdb
CHDB_VERSION := 26.5.3
CHDB_INTEGRITY := sha512-fPrLmRt5Moor9yGz4mazbrNje4t7X9KB2mTGkXFWRxRBs2iKy8$\
    yh6jx11xsa0Qr3iDFMU/yHqd+bVdYJXu3QaQ==
test-images bench: $(BUILD)/host/parasite $(BUILD)/host/libparasite.a

.PHONY: tool install store
#= profile
#: fetch what `parasite store` keeps samples with into build/chdb (166 MB)
store:
	$(Q)tools/build/chdb.sh $(CHDB_VERSION) $(CHDB_INTEGRITY) $(chdb)
#= profile
#: the command parasite: build/host/parasite
tool: $(BUILD)/host/parasite
$(BUILD)/host/parasite.1: docs/man/parasite.1.scd | packages
	$(call begin,MAN)
	$(Q)scdoc <$< >$@
#: the command, its manual page and its completion, installed below PREFIX
install: $(BUILD)/host/parasite $(BUILD)/host/parasite.1
	install -D -t $(DESTDIR)$(PREFIX)/bin $<
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 $(word 2,$^)
	install -D -m 644 host/cli/completion.bash \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions/parasite

#= profile
#: per cent, 1 to 19: `make causal` ends when no interval is wider; empty = with
#: the program or its load
UNTIL ?=
#: seconds of the guest after which `make causal` ends; empty = 600 with UNTIL
FOR ?=
#: seconds that `make record` and `make causal` take; empty = until it ends
SECONDS ?=
#: function called for each unit of work, for `make causal`, unless the program
#: has PROF_PROGRESS
PROGRESS ?=
#: function, or line as main.c:42, that might be faster, for `make causal`;
#: empty = all of at least 0.5 %
TARGET ?=
# words in APPEND take precedence, and record puts its own after them
record_rate = $(if $(filter prof.hz=%,$(APPEND)),,-F $(HZ))
# virtio devices that the machine has
machine_devices = $(if $(filter microvm%,$(MACHINE)),\
    sed "s/-pci\>/-device/g",cat)
.PHONY: record benchtool
#: record SERVICE to OUT until it ends
record: $(IMAGE) $(BUILD)/host/parasite $(accel_needs) $(load_needs)
	$(if $(load_says)$(port_says),@echo '$(strip $(load_says) $(port_says))')
	$(Q)ACCEL=$$($(accel)) || exit; export ACCEL; \
	    APPEND="prof.reports=$(REPORTS) $(load_words) $(port_words) \
	    $(APPEND)" \
	    QEMU_ARGS="$(strip $(cpu_args) $(load_args) $(QEMU_ARGS))" $(load) \
	    sh -c '$(BUILD)/host/parasite record $(record_rate) -o $(OUT) \
	    $(addprefix -d ,$(SECONDS)) -- \
	    qemu-system-$(ARCH) -M $(MACHINE) -accel $$ACCEL -display none \
	    -no-reboot -monitor none -nic none -m $(MEM) \
	    -device isa-debug-exit,iobase=0xf4,iosize=0x04 -kernel $(IMAGE) \
	    -append "$$APPEND" $(addprefix -initrd ,$(script)) \
	    $$(echo $$QEMU_ARGS | $(machine_devices))'
# which function is called for each unit of work, and which might be faster
causal.irc := prof.causal=auto prof.progress=irc::Server::privmsg
causal.http := prof.causal=auto prof.progress=http_answer
causal.lottery := prof.causal=auto prof.progress=sell_ticket tickets=30000
causal_asked = $(if $(TARGET),prof.causal=on prof.target=$(TARGET),\
    prof.causal=auto) $(addprefix prof.progress=,$(PROGRESS))
causal_words = $(if $(TARGET)$(PROGRESS),$(causal_asked),$(or \
    $(causal.$(notdir $1)),$(causal_asked)))
# clients of the servers are in the image, unless LOAD says otherwise
causal_served = $(filter irc http,$1)
causal_guest = $(and $(causal_served),$(filter guest,$(if $(filter \
    file undefined,$(origin LOAD)),guest,$(LOAD))))
# who asks the web server from outside, and for how long: it does not end
causal_host.http = LOAD=wrk SECONDS=$(or $(SECONDS),$(if $(causal_ends),,30))
causal_load = $(if $(causal_guest),LOAD=guest,$(or $(causal_host.$1),LOAD=no))
# words that end experiments, and the image; until then there is work
causal_for = 600
causal_ends = $(if $(UNTIL)$(FOR),prof.causal_for=$(or $(FOR),$(causal_for))s \
    $(if $(UNTIL),prof.causal_until=$(UNTIL)%))
causal_sessions.http := 3000
causal_sessions = $(if $(filter file undefined,$(origin SESSIONS)),$(if \
    $(causal_ends),1000000000 ENDS=y,$(or \
    $(causal_sessions.$1),30000)),$(SESSIONS))
causal_more.lottery = $(if $(causal_ends),tickets=1000000)
# instructions are counted: a busy host steals nothing then; clients on the host
# would live in another time
causal_icount = $(if $(causal_guest)$(if $(causal_served),,y),\
    -icount shift=0$(comma)align=off$(comma)sleep=off)
causal_all := $(if $(filter file,$(origin SERVICE)),lottery irc,$(SERVICE))
causal_out = $(BUILD)/$(ARCH)/causal-$(notdir $(1:/=))
causal_image = $(call $(if $(causal_guest),loaded_)image,$(ARCH),$(if \
    $(findstring /,$1),$(patsubst $(CURDIR)/%,%,$(abspath $1)),services/$1))
# $1 service: what the guest and its load print goes to a file, the answer here
define causal_rules
.PHONY: causal-$1
causal: causal-$1
causal-$1: $(BUILD)/host/parasite
	@mkdir -p $(BUILD)/$(ARCH)
	@echo '  CAUSAL  $1: its output goes to $(causal_out).log'
	$$(Q)rm -rf $(causal_out).trace
	$$(Q)$$(MAKE) --no-print-directory record SERVICE=$1 ACCEL=tcg \
	    REPORTS=0 SESSIONS=$$(call causal_sessions,$1) OUT=$(causal_out).trace \
	    QEMU_ARGS="$(strip $(causal_icount) $$(QEMU_ARGS))" PROGRESS= TARGET= \
	    $(causal_load) \
	    APPEND="$(call causal_words,$(1:/=)) $$(causal_more.$1) \
	    $$(causal_ends) $$(APPEND)" \
	    >$(causal_out).log 2>&1 || { status=$$$$?; \
	    tail -n 9 $(causal_out).log >&2; \
	    echo 'make causal: $1 failed, see $(causal_out).log' >&2; \
	    exit $$$$status; }
	$$(Q)$(BUILD)/host/parasite causal -q -o $(causal_out).html \
	    --coz $(causal_out).coz $(causal_out).trace || { \
	    grep '^causal: ' $(causal_out).log | \
	    tools/build/causal_lines.sh \
	    $(causal_image) >&2; \
	    $(if $(findstring prof.progress=,$(call causal_words,$(1:/=))),,\
	    echo 'make causal: say what is called for each unit of work:' \
	    'PROGRESS=function' >&2;) exit 1; }
	@printf 'wrote %s: %s\n' log $(causal_out).log \
	    trace $(causal_out).trace page $(causal_out).html \
	    'for Coz' $(causal_out).coz
	$$(Q)$(BUILD)/host/parasite report -q --rows 5 $(causal_out).trace
	$$(Q)$(BUILD)/host/parasite causal $(causal_out).trace
endef
.PHONY: causal
#: what would make SERVICE, or lottery and irc, faster: build/ARCH/causal-*
causal:
$(foreach s,$(causal_all),$(eval $(call causal_rules,$s)))
#= measure
#: what the command takes for ten million samples, beside perf
benchtool: $(BUILD)/x86_64/lua/lua.elf $(BUILD)/host/parasite
	$(Q)bench/host.sh $(BUILD) 10000000

.PHONY: names truth
#= test
#: compare every name that is installed here with other demanglers
names: $(BUILD)/host/parasite
	$(Q)FULL=1 $(MAKE) --no-print-directory test TESTS=suite/names
#= measure
#: profiles held against exact counts: a table, build/truth/judged/truth.svg
truth: $(call images,services/split services/lua services/irc services/http \
    tests/guest/profiler/ticks_are_accounted \
    tests/guest/profiler/timer_share_is_true) \
    $(foreach w,$(WIDTHS),$(call image,smp/$w,tests/guest/smp/cpus_truth)) \
    $(BUILD)/host/parasite $(BUILD)/host/loadgen
	$(Q)FULL=1 $(harness) --lanes=$(LANES) --without-plan $(BUILD) \
	    'suite/truth/*'
	$(Q)cat $(BUILD)/truth/judged/table
#= checkout
.PHONY: docs renew-docs
#: record the demos of docs/timeline.md, make its pictures and pages anew
docs: $(call image,x86_64,services/async) $(BUILD)/host/parasite
	$(Q)PYTHONPATH=tests tools/build/timeline_docs.py $(BUILD) docs
#: put into docs/ what `make bench`, `make growth`, `make truth` have measured
renew-docs:
	$(Q)tools/build/renew-docs.sh $(BUILD) docs
