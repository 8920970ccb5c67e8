-- The document that an order came from, in the vocabulary of the buyer's system. Orders in the shop's own vocabulary have none.
CREATE TABLE order_document (
  seq INTEGER PRIMARY KEY REFERENCES purchase_order (seq) ON DELETE CASCADE,
  media_type TEXT NOT NULL,
  digest TEXT NOT NULL,
  revision TEXT,
  -- JSON of what an answer in that vocabulary repeats.
  answer TEXT NOT NULL,
  -- As it was sent, but for its secrets.
  bytes BLOB NOT NULL
) STRICT;
-- Every document that a customer's order had: one that is sent again after it was cancelled or replaced places no second order.
CREATE TABLE sent_document (
  customer TEXT NOT NULL,
  digest TEXT NOT NULL,
  seq INTEGER NOT NULL REFERENCES purchase_order (seq) ON DELETE CASCADE,
  PRIMARY KEY (customer, digest)
) STRICT, WITHOUT ROWID;
-- Buyers' systems name the order that they change or cancel by its number, also after it was cancelled.
CREATE INDEX order_any_number ON purchase_order (customer, order_number) WHERE customer IS NOT NULL AND order_number IS NOT NULL;
