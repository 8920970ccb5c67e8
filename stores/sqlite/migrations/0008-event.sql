-- The outbox: what happened in the shop, in the order of commits. The newest row is never deleted, so no position comes twice.
CREATE TABLE event (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  at INTEGER NOT NULL,
  -- The id of the order, the product or the webhook.
  subject TEXT NOT NULL,
  version INTEGER NOT NULL,
  customer TEXT,
  -- The rest is of orders only. The characters of the content.
  weight INTEGER NOT NULL,
  status TEXT,
  -- The content that the order had then. NULL while the order still has it, if it is large.
  content TEXT
) STRICT;
-- One look-up for each type that a caller hears finds the next events, however many others there are.
CREATE INDEX event_type ON event (type, position);
CREATE INDEX event_customer ON event (customer, type, position) WHERE customer IS NOT NULL;
CREATE INDEX event_current ON event (subject) WHERE status IS NOT NULL AND content IS NULL;
