-- Letters that are another form of a letter are indexed as that letter, as SQLite does: "10 µm" is found with either of the two signs.
UPDATE product SET words = translate(words::text, U&'\00B5\017F\03C2', U&'\03BCs\03C3')::tsvector
  WHERE words::text ~ U&'[\00B5\017F\03C2]';
