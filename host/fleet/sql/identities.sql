-- SPDX-License-Identifier: Apache-2.0
-- Who the guests are that ran at that time: what was last said of each, which
-- may be long before.
SELECT toString(guest) AS number, argMax(host, seen), argMax(target, seen),
       arrayStringConcat(argMax(labels, seen), ' '), argMax(mhz, seen),
       lower(hex(argMax(boot, seen)))
FROM guests
WHERE @identity@ AND guest GLOBAL IN (SELECT guest FROM accounts WHERE @where@)
GROUP BY guest ORDER BY guest
