-- A product's first category is its main one: the shop lists those of all products without reading the products.
CREATE INDEX product_main_category ON product ((categories[1]) COLLATE "C") WHERE NOT deleted;
