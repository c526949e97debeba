# SPDX-License-Identifier: Apache-2.0
include Makefile
# xv6 starts with 4 MiB
CFLAGS += -I$(PROF)/include -DPROF_BEGIN_POOL=262144
kernel: private LDFLAGS += --wrap=wakeup parasite.o $(PROF)/libprof.a
kernel: parasite.o
xv6.img: embedded
embedded: kernel; parasite embed kernel
