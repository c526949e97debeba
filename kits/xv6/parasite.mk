# SPDX-License-Identifier: Apache-2.0
include Makefile
CFLAGS += -I$(PROF)/include
kernel: private LDFLAGS += --wrap=wakeup parasite.o $(PROF)/libprof.a
kernel: parasite.o
xv6.img: embedded
embedded: kernel; parasite embed kernel
