-- SPDX-License-Identifier: Apache-2.0
-- What collectors could not store, most rows first, and packets that never came
-- to them, which had the name of samples before.
SELECT toString(guest) AS number,
       if(why = 'packets missing', 'packets', what) AS kind, why, host,
       sum(lost_rows) AS lost, sum(amount)
FROM losses WHERE @where@
GROUP BY guest, kind, why, host
ORDER BY lost DESC, guest, kind, why, host
