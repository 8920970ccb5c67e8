-- The least that an order can have of a product, and what its quantities are multiples of; NULL: what its unit has.
ALTER TABLE product ADD COLUMN minimum_quantity TEXT;
ALTER TABLE product ADD COLUMN quantity_step TEXT;
