-- What the stored answer said: `placed`, or `repeated` where the order number stood already with the same content.
ALTER TABLE idempotency ADD COLUMN outcome TEXT NOT NULL DEFAULT 'placed';

-- Rows that have had their time are found by it, also where a clock was wrong once.
CREATE INDEX idempotency_kept ON idempotency (kept_at);
