CREATE TABLE webhook (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  version INTEGER NOT NULL,
  customer TEXT NOT NULL,
  key_id TEXT NOT NULL REFERENCES api_key (id),
  url TEXT NOT NULL,
  -- JSON arrays: the types that its owner chose, and the audience that follows from them and from the owner's key.
  types TEXT NOT NULL,
  hears TEXT NOT NULL,
  hears_own TEXT NOT NULL,
  media_type TEXT NOT NULL,
  status TEXT NOT NULL,
  reason TEXT,
  -- JSON.
  secrets TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  modified_at INTEGER NOT NULL,
  -- Everything up to this event has been delivered.
  position INTEGER NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER NOT NULL,
  claimed_by TEXT,
  delivery_count INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX webhook_customer ON webhook (customer);
CREATE INDEX webhook_due ON webhook (next_attempt_at) WHERE status = 'active';

-- A log that is bounded: of each webhook only the newest rows are kept.
CREATE TABLE delivery (
  webhook INTEGER NOT NULL REFERENCES webhook (seq) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  event TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status INTEGER,
  failure TEXT,
  PRIMARY KEY (webhook, number)
) STRICT, WITHOUT ROWID;
