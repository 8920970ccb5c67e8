-- Lists of orders are sorted by the time of placing or of the last modification, then by row number (which ends every index).
-- Each combination of customer and status has an index by placing, each customer one by modification. The status of a list by
-- modification is checked row by row, since every index makes placing an order slower. The indexes that replace earlier ones
-- keep their names, since a process of the earlier release names them.
DROP INDEX order_status;
DROP INDEX order_customer;
DROP INDEX order_customer_status;
DROP INDEX order_any_number;
CREATE INDEX order_placed ON purchase_order (placed_at);
CREATE INDEX order_status ON purchase_order (status, placed_at);
CREATE INDEX order_customer ON purchase_order (customer, placed_at) WHERE customer IS NOT NULL;
CREATE INDEX order_customer_status ON purchase_order (customer, status, placed_at) WHERE customer IS NOT NULL;
CREATE INDEX order_modified ON purchase_order (modified_at);
CREATE INDEX order_customer_modified ON purchase_order (customer, modified_at) WHERE customer IS NOT NULL;
-- Few orders have one number: those are sorted by the time of placing only, and their other filters are checked row by row.
CREATE INDEX order_any_number ON purchase_order (customer, order_number, placed_at) WHERE customer IS NOT NULL AND order_number IS NOT NULL;
CREATE INDEX order_numbered ON purchase_order (order_number, placed_at) WHERE order_number IS NOT NULL;
