-- The shop's currency, in which all of its prices are: another setting must not relabel them.
ALTER TABLE catalogue ADD COLUMN currency text;
