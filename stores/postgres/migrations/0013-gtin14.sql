-- GTINs of all lengths are one range of numbers, so they are compared in 14 digits. The index is not unique, because databases of
-- earlier releases can have two products whose GTINs differ only in zeros at the beginning. It is of an expression, since a stored
-- column would rewrite the table, and nobody could read the catalogue meanwhile.
CREATE INDEX product_gtin14 ON product (lpad(gtin, 14, '0'));
