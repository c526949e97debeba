# SPDX-License-Identifier: Apache-2.0
#
# The web server as `make run` boots it, and those of its parts that are built
# for the host's unit tests. Included by the Makefile.

#= run
#: port of 127.0.0.1 at which SERVICE=http is served
HTTP_PORT ?= 8080

# a network of the user's takes the place of this one
ifeq ($(SERVICE),http)
load_words = prof.every=10000 http.token=$(served_token) \
    $(if $(filter guest,$(LOAD)),$(guest_load_words))
ifeq ($(filter guest,$(LOAD))$(filter -netdev -nic,$(QEMU_ARGS)),)
load_args = -netdev \
    user,id=http,hostfwd=tcp:127.0.0.1:$(HTTP_PORT)-:80$(port_forward) \
    -device virtio-net-pci,netdev=http
load = $(if $(filter wrk,$(LOAD)),CLIENTS=$(CLIENTS) tools/loadgen/web.sh \
    http://127.0.0.1:$(HTTP_PORT)/)
load_says = http://127.0.0.1:$(HTTP_PORT)/ \
    http://127.0.0.1:$(HTTP_PORT)/profile?token=$(served_token)
endif
endif

define http_host_rules
$(BUILD)/host$1/libhttp.a: $(addprefix $(BUILD)/host$1/obj/services/http/,\
    files.o loop_metrics.o loop_native.o loop_proto.o loop_sites.o \
    metric_proto.o metric_text.o protobuf.o ranking.o) \
    $(addprefix $(BUILD)/host$1/obj/kernel/http/,deadline.o parse.o text.o)
	$$(archive)
$(addprefix $(BUILD)/host$1/,$(basename $(notdir $(wildcard \
    tests/unit/*/http_*_test.c)))): $(BUILD)/host$1/libhttp.a
endef
$(foreach b,32 64,$(eval $(call http_host_rules,$b)))
