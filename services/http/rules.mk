# SPDX-License-Identifier: Apache-2.0
#
# The web server as `make run` boots it, and those of its parts that are built
# for the host's unit tests. Included by the Makefile.

#= run
#: port of 127.0.0.1 at which SERVICE=http is served
HTTP_PORT ?= 8080
#: what it wants to be shown for its profile; empty = something random
TOKEN ?=
#: wrk: CLIENTS connections of it ask SERVICE=http for its index; or no
LOAD ?= no
$(call one_of,LOAD,no wrk)

# a network of the user's takes the place of this one
ifeq ($(SERVICE),http)
http_token := $(or $(TOKEN),$(shell od -An -N8 -tx1 /dev/urandom | tr -d ' \n'))
load_words = prof.every=10000 http.token=$(http_token)
ifeq ($(filter -netdev -nic,$(QEMU_ARGS)),)
load_args = -netdev user,id=http,hostfwd=tcp:127.0.0.1:$(HTTP_PORT)-:80 \
    -device virtio-net-pci,netdev=http
load = $(if $(filter wrk,$(LOAD)),CLIENTS=$(CLIENTS) tools/loadgen/web.sh \
    http://127.0.0.1:$(HTTP_PORT)/)
load_says = http://127.0.0.1:$(HTTP_PORT)/ \
    http://127.0.0.1:$(HTTP_PORT)/profile?token=$(http_token)
endif
endif

define http_host_rules
$(BUILD)/host$1/libhttp.a: $(addprefix $(BUILD)/host$1/obj/services/http/,\
    deadline.o files.o loop_metrics.o loop_native.o loop_proto.o loop_sites.o\
    metric_proto.o metric_text.o parse.o protobuf.o ranking.o text.o)
	$$(archive)
$(patsubst tests/unit/services/%.c,$(BUILD)/host$1/%,\
    $(wildcard tests/unit/services/http_*_test.c)): $(BUILD)/host$1/libhttp.a
endef
$(foreach b,32 64,$(eval $(call http_host_rules,$b)))
