-- GTINs of all lengths are one range of numbers, so they are compared in 14 digits. The index is not unique, because databases of
-- earlier releases can have two products whose GTINs differ only in zeros at the beginning.
ALTER TABLE product ADD COLUMN gtin14 text COLLATE "C" GENERATED ALWAYS AS (lpad(gtin, 14, '0')) STORED;
CREATE INDEX product_gtin14 ON product (gtin14) WHERE gtin14 IS NOT NULL;
