-- Times are milliseconds since the epoch; quantities are thousandths; prices and other decimals are text, as written.

CREATE TABLE catalogue (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  revision INTEGER NOT NULL,
  modified_at INTEGER NOT NULL
) STRICT;
INSERT INTO catalogue (one, revision, modified_at) VALUES (1, 0, unixepoch() * 1000);

-- A deleted product stays as a tombstone, so that its URI answers "gone" and its version goes on when it comes back.
CREATE TABLE product (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  version INTEGER NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  price TEXT NOT NULL,
  unit TEXT NOT NULL,
  gtin TEXT,
  categories TEXT NOT NULL,
  images TEXT NOT NULL,
  backorder INTEGER NOT NULL,
  availability TEXT NOT NULL,
  modified_at INTEGER NOT NULL,
  deleted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX product_gtin ON product (gtin) WHERE gtin IS NOT NULL;
-- A page never walks over tombstones.
CREATE INDEX product_live ON product (id) WHERE deleted = 0;
CREATE INDEX product_modified ON product (modified_at, id) WHERE deleted = 0;

-- Apart from the product: a sale rewrites these few bytes and not the description.
CREATE TABLE stock (
  product INTEGER PRIMARY KEY REFERENCES product (seq),
  version INTEGER NOT NULL,
  on_hand INTEGER NOT NULL,
  modified_at INTEGER NOT NULL
) STRICT;

CREATE TABLE category (
  category TEXT NOT NULL,
  product TEXT NOT NULL,
  PRIMARY KEY (category, product)
) STRICT, WITHOUT ROWID;

-- rowid = product.seq. `facet` holds a digest of each category, so that words and category are intersected in one index.
CREATE VIRTUAL TABLE product_text USING fts5 (
  identity, name, description, categories, facet,
  content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TABLE purchase_order (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  version INTEGER NOT NULL,
  customer TEXT,
  order_number TEXT,
  status TEXT NOT NULL,
  placed_at INTEGER NOT NULL,
  modified_at INTEGER NOT NULL,
  content TEXT NOT NULL
) STRICT;
CREATE INDEX order_status ON purchase_order (status);
CREATE INDEX order_customer ON purchase_order (customer) WHERE customer IS NOT NULL;
CREATE INDEX order_customer_status ON purchase_order (customer, status) WHERE customer IS NOT NULL;
CREATE UNIQUE INDEX order_number ON purchase_order (customer, order_number)
  WHERE customer IS NOT NULL AND order_number IS NOT NULL AND status NOT IN ('cancelled', 'rejected');

CREATE TABLE idempotency (
  seq INTEGER PRIMARY KEY,
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  kept_at INTEGER NOT NULL,
  snapshot TEXT NOT NULL,
  UNIQUE (scope, key)
) STRICT;

CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  customer TEXT NOT NULL,
  scopes TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;
