-- What a list says of an order, so that no content is read for it. A replica of an earlier release leaves these columns empty.
ALTER TABLE purchase_order
  ADD COLUMN item_count integer,
  ADD COLUMN currency text,
  ADD COLUMN total text,
  ADD COLUMN buyer_name text,
  -- What each line is of, where there are few.
  ADD COLUMN lines json;
UPDATE purchase_order SET
  item_count = json_array_length(content -> 'items'),
  currency = content ->> 'currency',
  total = content ->> 'total',
  buyer_name = content -> 'buyer' ->> 'name',
  lines = CASE WHEN json_array_length(content -> 'items') <= 20 THEN (
    SELECT coalesce(json_agg(json_build_object(
      'productId', item ->> 'productId', 'name', item ->> 'name', 'unit', item ->> 'unit', 'quantity', item ->> 'quantity')), '[]')
    FROM json_array_elements(content -> 'items') item) END;
