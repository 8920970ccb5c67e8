-- Bytes: what a page of orders will take is known before any content is read.
-- IF NOT EXISTS: for a time 0001 made this column itself, so some databases have it.
ALTER TABLE purchase_order
  ADD COLUMN IF NOT EXISTS content_size integer NOT NULL GENERATED ALWAYS AS (octet_length(content::text)) STORED;
