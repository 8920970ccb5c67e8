-- What the stored answer said: `placed`, or `repeated` where the order number stood already with the same content.
ALTER TABLE idempotency ADD COLUMN outcome text NOT NULL DEFAULT 'placed';
