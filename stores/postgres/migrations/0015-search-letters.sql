-- Letters that are another form of a letter are indexed as that letter, as SQLite does: "10 µm" is found with either of the two signs.
UPDATE product
  SET words = translate(words::text,
    U&'\00B5\017F\1E9B\03C2\03D0\03D1\03D5\03D6\03F0\03F1\03F5',
    U&'\03BCss\03C3\03B2\03B8\03C6\03C0\03BA\03C1\03B5')::tsvector
  WHERE words::text ~ U&'[\00B5\017F\1E9B\03C2\03D0\03D1\03D5\03D6\03F0\03F1\03F5]';
