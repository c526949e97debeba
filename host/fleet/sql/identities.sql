-- SPDX-License-Identifier: Apache-2.0
-- Who the guests are: what was last said of each.
SELECT toString(guest) AS number, argMax(host, seen), argMax(target, seen),
       arrayStringConcat(argMax(labels, seen), ' '), max(mhz),
       lower(hex(argMax(boot, seen)))
FROM guests WHERE @identity@
GROUP BY guest ORDER BY guest
