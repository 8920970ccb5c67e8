import t from 'tap'
import { item, order, refusals } from '../plugins/refusal.ts'

const doctype = (declarations: string, content = item()) => `<!DOCTYPE purchase-order [${declarations}]>\n${order(content)}`
const laughs = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('')
const utf16 = (text: string) => Buffer.from(text, 'utf16le')
const declared = (declaration: string) => `<?xml ${declaration}?>${order()}`
const latin1 = (more: string) => Buffer.from(`<?xml version="1.0" ${more}?>${order(`<note>Größe</note>${item()}`)}`, 'latin1')
const many = (count: number, one: (i: number) => string) => Array.from({ length: count }, (_, i) => one(i)).join('')
const withNote = (note: string | Buffer) =>
  Buffer.concat([Buffer.from('<purchase-order>\n<note>'), Buffer.from(note), Buffer.from(`</note>${item()}</purchase-order>`)])

t.test('a document that could make a parser misread it, fetch something or take its time', (t) =>
  refusals(t, {
    'an empty body': { body: '', code: 'malformed-document', detail: /empty/ },
    'an internal entity': {
      body: doctype('<!ENTITY a "b">', `<note>&a;</note>${item()}`),
      code: 'forbidden-xml',
      detail: /DOCTYPE/,
      line: 1
    },
    'an external entity': {
      body: doctype('<!ENTITY a SYSTEM "file:///etc/passwd">', `<note>&a;</note>${item()}`),
      code: 'forbidden-xml',
      line: 1
    },
    'an external subset': { body: `<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd">${order()}`, code: 'forbidden-xml', line: 1 },
    'a parameter entity': { body: doctype('<!ENTITY % a SYSTEM "http://127.0.0.1:9/">%a;'), code: 'forbidden-xml', line: 1 },
    'a billion laughs': { body: doctype(`<!ENTITY l0 "ha">${laughs}`, `<note>&l9;</note>${item()}`), code: 'forbidden-xml', line: 1 },
    'an entity in an attribute': {
      body: doctype('<!ENTITY a "b">', item(undefined, '<quantity unit="&a;">1</quantity>')),
      code: 'forbidden-xml',
      line: 1
    },
    'a DOCTYPE behind comments, in lower case': { body: `<!-- a -->\n<!doctype a>\n${order()}`, code: 'forbidden-xml', line: 2 },
    'a DOCTYPE inside the root element': {
      body: `<purchase-order>\n<!DOCTYPE a [<!ENTITY b "c">]>${item()}</purchase-order>`,
      code: 'forbidden-xml',
      line: 2
    },
    '40,000 attributes on one element': {
      body: `<purchase-order${many(40_000, (i) => ` a${i}="1"`)}>${item()}</purchase-order>`,
      code: 'forbidden-xml',
      detail: /tag is longer than 8192/,
      line: 1
    },
    'one attribute of 100,000 characters': {
      body: order(item(undefined, `<quantity unit="${'a'.repeat(100_000)}">1</quantity>`)),
      code: 'forbidden-xml',
      detail: /tag is longer/
    },
    'a name of 100,000 characters': { body: `<${'a'.repeat(100_000)}/>`, code: 'forbidden-xml', detail: /tag is longer/ },
    '100,000 levels': {
      body: '<a>'.repeat(100_000) + '</a>'.repeat(100_000),
      code: 'forbidden-xml',
      detail: /nested more than 100 deep/,
      line: 1
    },
    'a text of 100 KB': { body: withNote('a'.repeat(100_000)), code: 'forbidden-xml', detail: /text is longer/, line: 2 },
    'a comment of 100 KB': { body: withNote(`<!--${'a'.repeat(100_000)}-->`), code: 'forbidden-xml', detail: /comment is longer/, line: 2 },
    '250,000 comments': {
      body: withNote('<!---->'.repeat(250_000)),
      code: 'forbidden-xml',
      detail: /more than 200000 elements, attributes and comments/
    },
    '5,000 names with a prefix': { body: order(many(5000, () => '<a:b/>')), code: 'forbidden-xml', detail: /namespace prefix/ },
    'a NUL byte': { body: withNote('a\0b'), code: 'forbidden-xml', detail: /NUL/, line: 2 },
    'a truncated UTF-8 sequence': { body: withNote(Buffer.from([0x61, 0xc3])), code: 'forbidden-xml', detail: /UTF-8/, line: 2 },
    'Latin-1': { body: withNote(Buffer.from('\ufffdé', 'latin1')), code: 'forbidden-xml', detail: /UTF-8/, line: 2 },
    'an overlong UTF-8 sequence': { body: withNote(Buffer.from([0xc0, 0xbc])), code: 'forbidden-xml', detail: /UTF-8/ },
    'a surrogate in UTF-8': { body: withNote(Buffer.from([0xed, 0xa0, 0x80])), code: 'forbidden-xml', detail: /UTF-8/ },
    'UTF-16 with a byte order mark': { body: utf16(`\ufeff${order()}`), code: 'forbidden-xml', detail: /UTF-16/, line: 1 },
    'big-endian UTF-16 with a byte order mark': { body: utf16(`\ufeff${order()}`).swap16(), code: 'forbidden-xml', detail: /UTF-16/ },
    'UTF-16 without a byte order mark': { body: utf16(order()), code: 'forbidden-xml', detail: /UTF-16/ },
    'big-endian UTF-16 without a byte order mark': { body: utf16(order()).swap16(), code: 'forbidden-xml', detail: /UTF-16/ },
    'UTF-32': { body: Buffer.from([0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0]), code: 'forbidden-xml', detail: /UTF-32/ },
    'a declared encoding of ISO-8859-1': {
      body: declared('version="1.0" encoding="ISO-8859-1"'),
      code: 'forbidden-xml',
      detail: /ISO-8859-1.*UTF-8/,
      line: 1
    },
    'a declared encoding of UTF-16 in what is UTF-8': {
      body: declared("version='1.0' encoding='UTF-16'"),
      code: 'forbidden-xml',
      detail: /UTF-16/
    },
    'a declared encoding far behind the start': {
      body: declared(`version="1.0"${' '.repeat(2000)}encoding="ISO-8859-1"`),
      code: 'forbidden-xml',
      detail: /ISO-8859-1/
    },
    'a declared encoding behind a byte order mark': {
      body: `\ufeff${declared('version="1.0" encoding="ISO-8859-1"')}`,
      code: 'forbidden-xml',
      detail: /ISO-8859-1/
    },
    'Latin-1 bytes in what declares ISO-8859-1': {
      body: latin1('encoding="ISO-8859-1"'),
      code: 'forbidden-xml',
      detail: /declares the encoding "ISO-8859-1"; send it in UTF-8/,
      line: 1
    },
    'bytes of windows-1252 in what declares that': {
      body: latin1("encoding='windows-1252' standalone='yes'"),
      code: 'forbidden-xml',
      detail: /declares the encoding "windows-1252"/
    },
    'Latin-1 bytes in what declares nothing': { body: latin1(''), code: 'forbidden-xml', detail: /not valid UTF-8/ },
    'a NUL byte in what declares Shift_JIS': {
      body: `<?xml version="1.0" encoding="Shift_JIS"?>${order('\0')}`,
      code: 'forbidden-xml',
      detail: /Shift_JIS/
    },
    'UTF-16 that declares itself': {
      body: utf16(`\ufeff${declared('version="1.0" encoding="utf-16"')}`),
      code: 'forbidden-xml',
      detail: /in UTF-16 and declares the encoding "utf-16"; send it in UTF-8/,
      line: 1
    },
    'big-endian UTF-16 without a byte order mark that declares itself': {
      body: utf16(declared('version="1.0" encoding="UTF-16BE"')).swap16(),
      code: 'forbidden-xml',
      detail: /UTF-16BE/
    },
    'UTF-16 that declares UTF-8': {
      body: utf16(`\ufeff${declared('version="1.0" encoding="UTF-8"')}`),
      code: 'forbidden-xml',
      detail: /in UTF-16 and declares the encoding "UTF-8"/
    },
    EBCDIC: { body: Buffer.from('4c6fa7949340a58599a28996957e7ff14bf07f6f6e', 'hex'), code: 'forbidden-xml', detail: /EBCDIC/ },
    'XML 1.1': { body: declared('version="1.1"'), code: 'forbidden-xml', detail: /XML "1\.1"/, line: 1 },
    'a body of 3 MB': { body: order(`<note>${'a'.repeat(3_000_000)}</note>`), code: 'body-too-large', detail: /2097152 bytes/ }
  })
)
