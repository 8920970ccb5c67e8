-- What a list says of an order. It is a table of its own, since behind a content of megabytes these few bytes are slow to read.
CREATE TABLE order_summary (
  seq INTEGER PRIMARY KEY REFERENCES purchase_order (seq) ON DELETE CASCADE,
  item_count INTEGER NOT NULL,
  currency TEXT NOT NULL,
  total TEXT NOT NULL,
  buyer_name TEXT,
  -- JSON of what each line is of, where there are few.
  lines TEXT
) STRICT;
INSERT INTO order_summary (seq, item_count, currency, total, buyer_name, lines)
  SELECT seq, json_array_length(content, '$.items'), content ->> '$.currency', content ->> '$.total', content ->> '$.buyer.name',
    CASE WHEN json_array_length(content, '$.items') <= 20 THEN (
      SELECT json_group_array(json_object(
        'productId', value ->> '$.productId', 'name', value ->> '$.name', 'unit', value ->> '$.unit', 'quantity', value ->> '$.quantity'))
      FROM json_each(content, '$.items')) END
  FROM purchase_order;
