-- The document that an order came from, in the vocabulary of the buyer's system. Orders in the shop's own vocabulary have none.
CREATE TABLE order_document (
  order_id uuid PRIMARY KEY REFERENCES purchase_order (id) ON DELETE CASCADE,
  media_type text NOT NULL,
  digest text NOT NULL,
  revision text,
  -- What an answer in that vocabulary repeats.
  answer json NOT NULL,
  -- As it was sent, but for its secrets.
  bytes bytea NOT NULL
);
-- Every document that a customer's order had: one that is sent again after it was cancelled or replaced places no second order.
CREATE TABLE sent_document (
  customer text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  order_id uuid NOT NULL REFERENCES purchase_order (id) ON DELETE CASCADE,
  PRIMARY KEY (customer, digest)
);
-- Buyers' systems name the order that they change or cancel by its number, also after it was cancelled.
CREATE INDEX purchase_order_any_number ON purchase_order (customer, order_number) WHERE customer IS NOT NULL AND order_number IS NOT NULL;
