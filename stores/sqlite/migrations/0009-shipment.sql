-- What was shipped of orders. A shipment never changes.
CREATE TABLE shipment (
  seq INTEGER NOT NULL REFERENCES purchase_order (seq) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  shipped_at INTEGER NOT NULL,
  carrier TEXT,
  tracking_number TEXT,
  tracking_uri TEXT,
  item_count INTEGER NOT NULL,
  -- JSON. It is the last column: a list reads none of the pages that a long one fills.
  items TEXT NOT NULL,
  PRIMARY KEY (seq, number)
) STRICT;
