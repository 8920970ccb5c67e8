-- A product's first category is its main one: the shop lists those of all products without reading the products.
CREATE INDEX product_main_category ON product (json_extract(categories, '$[0]')) WHERE deleted = 0;
