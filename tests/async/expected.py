# SPDX-License-Identifier: Apache-2.0
"""What the demos of services/async do, in the form of sequence.py; of the
longer ones the beginning."""

DEMOS = {
    "sleep": """
[event loop] create: sleep sleep 1 (services/async/waits.c)
[event loop] try_read: sleep 1
timer resolve: sleep 1
[event loop] read: sleep 1
""",
    "series": """
[event loop] create: sleep sleep 1 (services/async/waits.c)
[event loop] create: bind bind 2 (services/async/waits.c)
[event loop] await: bind 2 for sleep 1
[event loop] try_read: bind 2
timer resolve: sleep 1
timer wake: bind 2 by sleep 1
bind 2 switch: bind 2
bind 2 read: sleep 1
bind 2 create: sleep sleep 3 (services/async/waits.c)
bind 2 become: bind 2 is sleep 3
timer resolve: sleep 3
[event loop] read: sleep 3
""",
    "join": """
[event loop] create: sleep sleep 1 (services/async/waits.c)
[event loop] create: sleep sleep 2 (services/async/waits.c)
[event loop] create: sleep sleep 3 (services/async/waits.c)
[event loop] create: join join 4 (services/async/waits.c)
[event loop] await: join 4 for sleep 1
[event loop] await: join 4 for sleep 2
[event loop] await: join 4 for sleep 3
[event loop] try_read: join 4
timer resolve: sleep 2
timer wake: join 4 by sleep 2
join 4 switch: join 4
join 4 read: sleep 2
timer resolve: sleep 3
timer wake: join 4 by sleep 3
join 4 switch: join 4
join 4 read: sleep 3
timer resolve: sleep 1
timer wake: join 4 by sleep 1
join 4 switch: join 4
join 4 read: sleep 1
join 4 resolve: join 4
[event loop] read: join 4
""",
    "choose": """
[event loop] create: task choose and wait 1 (services/async/waits.c)
choose and wait 1 switch: choose and wait 1
choose and wait 1 create: sleep sleep 2 (services/async/waits.c)
choose and wait 1 create: sleep sleep 3 (services/async/waits.c)
choose and wait 1 create: sleep sleep 4 (services/async/waits.c)
choose and wait 1 create: choose choose 5 (services/async/waits.c)
choose and wait 1 await: choose 5 for sleep 2
choose and wait 1 await: choose 5 for sleep 3
choose and wait 1 await: choose 5 for sleep 4
choose and wait 1 try_read: choose 5
choose and wait 1 suspend: choose
[event loop] try_read: choose and wait 1
timer resolve: sleep 3
timer wake: choose 5 by sleep 3
choose 5 switch: choose 5
choose 5 read: sleep 3
choose 5 resolve: choose 5
choose 5 wake: choose and wait 1 by choose 5
choose and wait 1 switch: choose and wait 1
choose and wait 1 read: choose 5
choose and wait 1 create: sleep sleep 6 (services/async/waits.c)
choose and wait 1 try_read: sleep 6
choose and wait 1 suspend: sleep
timer resolve: sleep 4
timer resolve: sleep 2
timer resolve: sleep 6
timer wake: choose and wait 1 by sleep 6
choose and wait 1 switch: choose and wait 1
choose and wait 1 read: sleep 6
choose and wait 1 resolve: choose and wait 1
[event loop] read: choose and wait 1
""",
    "pick": """
[event loop] create: sleep sleep 1 (services/async/waits.c)
[event loop] create: sleep sleep 2 (services/async/waits.c)
[event loop] create: sleep sleep 3 (services/async/waits.c)
[event loop] create: pick pick 4 (services/async/waits.c)
[event loop] await: pick 4 for sleep 1
[event loop] await: pick 4 for sleep 2
[event loop] await: pick 4 for sleep 3
[event loop] try_read: pick 4
timer resolve: sleep 2
timer wake: pick 4 by sleep 2
pick 4 switch: pick 4
pick 4 read: sleep 2
pick 4 resolve: pick 4
pick 4 cancel: sleep 1
pick 4 cancel: sleep 3
[event loop] read: pick 4
""",
    "catch": """
[event loop] create: sleep sleep 1 (services/async/waits.c)
[event loop] create: bind bind 2 (services/async/waits.c)
[event loop] await: bind 2 for sleep 1
[event loop] create: catch catch 3 (services/async/waits.c)
[event loop] await: catch 3 for bind 2
[event loop] try_read: catch 3
timer resolve: sleep 1
timer wake: bind 2 by sleep 1
bind 2 switch: bind 2
bind 2 read: sleep 1
bind 2 create: promise value 4 (kernel/task/promise.c)
bind 2 fail: value 4: oops
bind 2 become: bind 2 is value 4
[event loop] wake: catch 3 by value 4
catch 3 switch: catch 3
catch 3 read: value 4
catch 3 create: promise value 5 (kernel/task/promise.c)
catch 3 resolve: value 5
catch 3 become: catch 3 is value 5
[event loop] read: value 5
""",
    "console": """
[event loop] create: task write lines 1 (services/async/waits.c)
write lines 1 switch: write lines 1
write lines 1 create: task print lines 2 (services/async/waits.c)
print lines 2 switch: print lines 2
print lines 2 create: mailbox receive 3 (services/async/waits.c)
print lines 2 create: mailbox mailbox 4 (kernel/task/mailbox.c)
print lines 2 await: receive 3 for mailbox 4
print lines 2 try_read: receive 3
print lines 2 suspend: receive
write lines 1 switch: write lines 1
write lines 1 create: mailbox send 5 (services/async/waits.c)
write lines 1 resolve: send 5
write lines 1 resolve: receive 3
write lines 1 wake: print lines 2 by receive 3
write lines 1 read: send 5
write lines 1 counter: bytes sent = 6
write lines 1 create: mailbox send 6 (services/async/waits.c)
write lines 1 resolve: send 6
write lines 1 read: send 6
write lines 1 counter: bytes sent = 12
write lines 1 create: mailbox send 7 (services/async/waits.c)
write lines 1 resolve: send 7
write lines 1 read: send 7
write lines 1 counter: bytes sent = 18
write lines 1 create: mailbox send 8 (services/async/waits.c)
write lines 1 resolve: send 8
write lines 1 read: send 8
write lines 1 counter: bytes sent = 24
""",
    "disk": """
[event loop] create: task read pages 1 (services/async/devices.c)
read pages 1 switch: read pages 1
read pages 1 create: io disk read 2 (services/async/devices.c)
read pages 1 create: io disk request 3 (kernel/task/disk.c)
read pages 1 await: disk read 2 for disk request 3
read pages 1 counter: pages in flight = 11
read pages 1 try_read: disk read 2
read pages 1 suspend: disk read
[event loop] try_read: read pages 1
[event loop] resolve: disk request 3
[event loop] counter: pages in flight = 0
[event loop] create: io disk request 4 (kernel/task/disk.c)
[event loop] await: disk read 2 for disk request 4
[event loop] counter: pages in flight = 11
[event loop] resolve: disk request 4
[event loop] counter: pages in flight = 0
[event loop] create: io disk request 5 (kernel/task/disk.c)
[event loop] await: disk read 2 for disk request 5
[event loop] counter: pages in flight = 10
[event loop] resolve: disk request 5
[event loop] counter: pages in flight = 0
[event loop] resolve: disk read 2
[event loop] wake: read pages 1 by disk read 2
read pages 1 switch: read pages 1
read pages 1 read: disk read 2
read pages 1 counter: pages read = 32
read pages 1 create: io disk read 6 (services/async/devices.c)
read pages 1 create: io disk request 7 (kernel/task/disk.c)
""",
    "disk-fixed": """
[event loop] create: task read pages 1 (services/async/devices.c)
read pages 1 switch: read pages 1
read pages 1 create: io disk read 2 (services/async/devices.c)
read pages 1 create: io disk request 3 (kernel/task/disk.c)
read pages 1 await: disk read 2 for disk request 3
read pages 1 counter: pages in flight = 32
read pages 1 try_read: disk read 2
read pages 1 suspend: disk read
[event loop] try_read: read pages 1
[event loop] resolve: disk request 3
[event loop] counter: pages in flight = 0
[event loop] resolve: disk read 2
[event loop] wake: read pages 1 by disk read 2
read pages 1 switch: read pages 1
read pages 1 read: disk read 2
read pages 1 counter: pages read = 32
""",
}

COROUTINES = """
[event loop] create: task program 1 (services/coroutines/main.cpp)
program 1 switch: program 1
program 1 create: task sum 2 (services/coroutines/main.cpp)
sum 2 switch: sum 2
sum 2 create: task left step 3 (services/coroutines/main.cpp)
left step 3 switch: left step 3
left step 3 create: sleep pause 4 (services/coroutines/main.cpp)
left step 3 try_read: pause 4
left step 3 suspend: pause
sum 2 switch: sum 2
sum 2 create: task right step 5 (services/coroutines/main.cpp)
right step 5 switch: right step 5
right step 5 create: sleep pause 6 (services/coroutines/main.cpp)
right step 5 try_read: pause 6
right step 5 suspend: pause
sum 2 switch: sum 2
sum 2 try_read: left step 3
sum 2 suspend: left step
program 1 switch: program 1
program 1 try_read: sum 2
program 1 suspend: sum
timer resolve: pause 6
timer wake: right step 5 by pause 6
right step 5 switch: right step 5
right step 5 read: pause 6
right step 5 resolve: right step 5
timer resolve: pause 4
timer wake: left step 3 by pause 4
left step 3 switch: left step 3
left step 3 read: pause 4
left step 3 resolve: left step 3
left step 3 wake: sum 2 by left step 3
sum 2 switch: sum 2
sum 2 read: left step 3
sum 2 read: right step 5
sum 2 create: task last step 7 (services/coroutines/main.cpp)
last step 7 switch: last step 7
last step 7 create: sleep pause 8 (services/coroutines/main.cpp)
last step 7 try_read: pause 8
last step 7 suspend: pause
sum 2 switch: sum 2
sum 2 try_read: last step 7
sum 2 suspend: last step
timer resolve: pause 8
timer wake: last step 7 by pause 8
last step 7 switch: last step 7
last step 7 read: pause 8
last step 7 resolve: last step 7
last step 7 wake: sum 2 by last step 7
sum 2 switch: sum 2
sum 2 read: last step 7
sum 2 resolve: sum 2
sum 2 wake: program 1 by sum 2
program 1 switch: program 1
program 1 read: sum 2
program 1 resolve: program 1
"""
