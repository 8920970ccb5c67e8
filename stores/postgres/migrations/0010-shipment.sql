-- What was shipped of orders. A shipment never changes.
CREATE TABLE shipment (
  order_id uuid NOT NULL REFERENCES purchase_order (id) ON DELETE CASCADE,
  number integer NOT NULL,
  shipped_at bigint NOT NULL,
  carrier text,
  tracking_number text,
  tracking_uri text,
  item_count integer NOT NULL,
  items json NOT NULL,
  PRIMARY KEY (order_id, number)
);
