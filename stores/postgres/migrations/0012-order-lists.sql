-- Lists of orders are sorted by the time of placing or of the last modification, then by row number. Each combination of customer
-- and status has an index by placing, each customer one by modification. The status of a list by modification is checked row by
-- row, since every index makes placing an order slower. A replica of an earlier release lists orders by row number: until it is
-- replaced, it finds them by the other columns of these indexes.
DROP INDEX purchase_order_status;
DROP INDEX purchase_order_customer;
DROP INDEX purchase_order_customer_status;
DROP INDEX purchase_order_any_number;
CREATE INDEX purchase_order_placed ON purchase_order (placed_at, seq);
CREATE INDEX purchase_order_status ON purchase_order (status, placed_at, seq);
CREATE INDEX purchase_order_customer ON purchase_order (customer, placed_at, seq) WHERE customer IS NOT NULL;
CREATE INDEX purchase_order_customer_status ON purchase_order (customer, status, placed_at, seq) WHERE customer IS NOT NULL;
CREATE INDEX purchase_order_modified ON purchase_order (modified_at, seq);
CREATE INDEX purchase_order_customer_modified ON purchase_order (customer, modified_at, seq) WHERE customer IS NOT NULL;
-- Few orders have one number: those are sorted by the time of placing only, and their other filters are checked row by row.
CREATE INDEX purchase_order_any_number ON purchase_order (customer, order_number, placed_at, seq)
  WHERE customer IS NOT NULL AND order_number IS NOT NULL;
CREATE INDEX purchase_order_numbered ON purchase_order (order_number, placed_at, seq) WHERE order_number IS NOT NULL;
