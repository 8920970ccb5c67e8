-- For half an hour of development, 0013 made a stored column with the index on it. Such databases get the index that 0013 makes now.
ALTER TABLE product DROP COLUMN IF EXISTS gtin14;
CREATE INDEX IF NOT EXISTS product_gtin14 ON product (lpad(gtin, 14, '0'));
