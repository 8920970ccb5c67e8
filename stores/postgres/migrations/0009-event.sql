-- The outbox: what happened in the shop. Whoever writes events raises `last` in the last statement before the commit, and so
-- waits for the commit of whoever raised it before: positions have no gap, are in the order of commits, and no event is ever
-- seen after a later one.
CREATE TABLE event_head (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  last bigint NOT NULL
) WITH (fillfactor = 50);
INSERT INTO event_head (last) VALUES (0);

CREATE TABLE event (
  position bigint PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  type text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  -- The id of the order, the product or the webhook.
  subject text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  customer text COLLATE "C",
  -- The rest is of orders only. The characters of the content.
  weight bigint NOT NULL,
  status text,
  -- The content that the order had then. NULL while the order still has it, if it is large.
  content json
);
-- One look-up for each type that a caller hears finds the next events, however many others there are.
CREATE INDEX event_type ON event (type, position);
CREATE INDEX event_customer ON event (customer, type, position) WHERE customer IS NOT NULL;
CREATE INDEX event_current ON event (subject) WHERE status IS NOT NULL AND content IS NULL;
