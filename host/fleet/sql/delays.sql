-- SPDX-License-Identifier: Apache-2.0
-- How late the event loop of each guest was, ns.
SELECT toString(guest) AS number, quantileExactWeighted(0.5)(low, count),
       quantileExactWeighted(0.99)(low, count), sum(count)
FROM loop WHERE @where@ AND measure = 'delay' AND count > 0
GROUP BY guest ORDER BY guest
