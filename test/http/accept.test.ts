import t from 'tap'
import { choose, makeChooser, parseAccept, splitField } from '../../http/accept.ts'

const offers = [
  { names: ['application/xml'] },
  { names: ['text/xml'], alias: true },
  { names: ['text/html'] },
  { names: ['application/json'] }
]
const xml = 'application/xml'
const textXml = 'text/xml'
const html = 'text/html'
const json = 'application/json'

type Row = readonly [header: string | undefined, chosen: string | undefined, why: string]

const rows: readonly Row[] = [
  // The client accepts anything.
  [undefined, xml, 'none: machines come first'],
  ['', xml, 'an empty field'],
  [', ,\t,', xml, 'empty elements are nothing (RFC 9110 5.6.1.2)'],
  ['*/*', xml, 'curl, wget, fetch()'],
  ['*/*;q=0.1', xml, 'anything, reluctantly'],
  ['*/*, text/html', html, 'what is named beats what a wildcard matched'],
  ['text/html, */*', html, 'in either order'],
  ['application/*', xml, 'a type: its first'],
  ['text/*', textXml, 'XML before HTML, also by its older name'],
  ['application/*;q=0.5, text/html;q=0.4', xml, 'the higher weight'],

  // Browsers.
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', html, 'Firefox, Safari'],
  [
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
    html,
    'Chrome'
  ],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/png,image/svg+xml,*/*;q=0.8', html, 'Firefox since 128'],
  ['text/html, application/xhtml+xml, image/jxr, */*', html, 'Edge 18, Internet Explorer 11'],
  ['image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', xml, "a browser's <img>"],
  ['text/css,*/*;q=0.1', xml, "a browser's <link rel=stylesheet>"],
  ['text/html, text/plain, text/css, text/sgml, */*;q=0.01', html, 'lynx'],
  ['application/json, text/plain, */*', json, 'axios'],
  ['application/json, text/javascript, */*; q=0.01', json, "jQuery's getJSON"],

  // Libraries.
  ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', html, "Java's HttpURLConnection before JDK 20"],
  ['text/html, image/gif, image/jpeg, */*; q=0.2', html, "Java's HttpURLConnection"],
  ['application/json;q=.3, text/html;q=.2', json, 'a weight without its 0, as old Java writes it'],
  ['application/json;q=., text/html;q=0.1', html, 'but not without digits'],
  ['application/xml, text/xml, application/json, application/*+xml, application/*+json', xml, "Spring's RestTemplate"],
  ['text/plain, application/xml, text/xml, application/json, application/*+xml, application/*+json, */*', xml, 'Spring, with text'],
  ['application/xml, application/json;q=0.9, */*;q=0.8', xml, '.NET'],
  ['application/json; charset=utf-8', json, '.NET, with a charset'],
  ['text/xml, multipart/related', textXml, 'SAAJ, JAX-WS'],
  ['text/xml', textXml, 'older XML clients get the name that they know'],
  ['application/xml, text/xml', xml, 'both names of XML: the first'],
  ['text/xml, application/xml;q=0.9', textXml, 'both names, with a preference'],
  ['text/html, application/xml;q=0.8, */*;q=0', html, 'feed readers'],

  // Weights.
  ['application/xml;q=0.5, application/json', json, 'a missing weight is 1'],
  ['application/xml;q=0.5, application/json;q=0.6, text/html;q=0.599', json, 'three digits count'],
  ['application/json;q=1.000, text/html;q=0.999', json, 'as many as there may be'],
  ['application/json;Q=0.9, text/html;q=0.8', json, 'q may be a capital'],
  ['application/json ; q=0.9 , text/html ; q=0.8', json, 'white space around what separates'],
  ['application/xml, text/html, application/json', xml, 'a tie of names: XML, HTML, JSON'],
  ['application/json, text/html', html, 'whatever order they were sent in'],
  ['application/json, application/json;q=0', json, 'of two equal ranges, the first'],

  // q=0.
  ['application/xml;q=0, */*', html, 'what is refused is not sent, nor under its other name'],
  ['application/xml;q=0, text/html;q=0, */*', json, 'until one is left'],
  ['*/*;q=0', undefined, 'nothing'],
  ['text/html;q=0', undefined, 'only a refusal names nothing that is accepted'],
  ['text/*;q=0, */*', xml, 'a refused type'],
  ['*/*;q=0, application/json', json, 'everything else is refused'],
  ['application/*;q=0, application/json;q=0.1, text/html;q=0', json, 'the most specific range decides'],
  ['*/*, application/*;q=0.5, application/json;q=0.9', html, 'each by its own most specific range'],

  // Parameters.
  ['application/xml; charset=utf-8', xml, 'the charset that is sent'],
  ['application/xml; charset="UTF-8"', xml, 'quoted, and in capitals'],
  ['application/xml; charset=iso-8859-1', undefined, 'one that is not sent'],
  ['application/xml; charset=iso-8859-1, */*;q=0.1', xml, 'unless anything else is fine too'],
  ['application/xml;version=1.0', undefined, 'a parameter that the type has not'],
  ['application/json;charset=utf-8;q=0.5, application/json;q=0.1, text/html;q=0.3', json, 'a range with a parameter is more specific'],
  ['text/html;level=1, application/json;q=0.4', json, 'from RFC 9110 12.5.1'],
  ['application/json;q=0.5;ext="a,b", text/html;q=0.4', json, 'a quoted comma separates nothing'],

  // Case.
  ['APPLICATION/JSON', json, 'types have no case'],
  ['Text/HTML, */*;q=0.1', html, 'nor have subtypes'],

  // Malformed.
  ['json', undefined, 'no type at all'],
  ['application/json;q=2, text/html;q=0.1', html, 'a weight over 1'],
  ['application/json;q=0.1234, text/html;q=0.1', html, 'a weight of four digits'],
  ['application/json;q=-1, text/html;q=0.1', html, 'a negative weight'],
  ['application/json;q=, text/html;q=0.1', html, 'a weight that is not there'],
  ['*/json, text/html;q=0.1', html, 'a wildcard type with a subtype'],
  ['application/, /json, text/html;q=0.1', html, 'half a type'],
  ['application/json text/html', undefined, 'a comma forgotten'],
  [',,, application/json ,,', json, 'empty members are allowed (RFC 9110 5.6.1.2)'],
  ['application/json;;q=0.5, text/html;q=0.4', json, 'so is an empty parameter'],
  ['"application/json", text/html;q=0.1', html, 'a quoted type'],
  ['application/json;a="b, text/html', undefined, 'a quote that never ends swallows the rest'],

  // The client asks for a media type that is not offered.
  ['image/png', undefined, 'a picture'],
  ['application/xhtml+xml', undefined, 'XHTML is not HTML'],
  ['application/problem+json', undefined, 'a problem is not what was asked for'],
  ['application/vnd.ms-excel, image/*', undefined, 'neither'],
  ['application/xml+html', undefined, 'the whole subtype counts']
]

t.test('the best representation is chosen by Accept (RFC 9110 12.5.1)', async (t) => {
  for (const [header, chosen, why] of rows) t.equal(offers[choose(header, offers)]?.names[0], chosen, `${header ?? '(none)'}: ${why}`)
})

t.test('a remembered choice is the choice that is made anew', async (t) => {
  const chooser = makeChooser(offers)
  const headers = [...rows.map(([header]) => header), `${'text/plain, '.repeat(100)}text/html`]
  for (const _round of [1, 2]) for (const header of headers) t.equal(chooser(header), choose(header, offers), header ?? '(none)')
})

type Own = 'xml' | 'json'
const inXml: readonly Own[] = ['xml']
const inJson: readonly Own[] = ['json']
const inBoth: readonly Own[] = ['xml', 'json']

/** An answer that is the document's own notation, whichever that is, stands as `own`. */
const ownRows: readonly (readonly [header: string | undefined, sent: readonly Own[], chosen: string | undefined, why: string])[] = [
  [undefined, inBoth, 'own', 'nobody asked for another'],
  ['', inBoth, 'own', 'an empty field'],
  ['*/*', inBoth, 'own', "curl's and fetch()'s default"],
  ['*/*;q=0.1', inBoth, 'own', 'whatever its weight'],
  ['application/*', inBoth, 'own', 'a narrower wildcard'],
  ['text/html, image/gif, image/jpeg, */*; q=0.2', inBoth, 'own', "Java's HttpURLConnection"],
  ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', inBoth, 'own', 'the same before JDK 20'],
  ['text/html, */*', inBoth, 'own', 'a page named beside anything'],
  ['text/html, application/*;q=0.5', inBoth, 'own', 'or beside a wildcard that takes the own notation'],
  ['application/json, application/xml', inBoth, 'own', 'of two that are named alike, its own'],
  ['application/json, text/plain, */*', inBoth, 'own', 'axios: a named type is no better than a wildcard of the same weight'],
  ['text/plain, application/xml, text/xml, application/json, application/*+xml, application/*+json, */*', inBoth, 'own', 'Spring'],
  ['application/xml, application/json;q=0.9, */*;q=0.8', inXml, 'own', '.NET'],
  ['application/json;q=0.1, */*;q=0.5', inXml, 'own', 'one that is named below a wildcard'],
  ['image/png, */*;q=0.1', inBoth, 'own', 'what there is not is passed over'],
  ['application/xml;q=0.1, */*', inXml, 'own', 'wildcards rank nothing above what is named'],

  ['application/xml, application/json;q=0.9, */*;q=0.8', inJson, xml, 'another, by name and weight'],
  ['application/json, */*;q=0.1', inXml, json, 'another, by name and weight, beside a wildcard'],
  ['application/json, text/javascript, */*; q=0.01', inXml, json, "jQuery's getJSON"],
  ['application/json', inXml, json, 'only another'],
  ['application/xml', inJson, xml, 'only another'],
  ['text/html', inBoth, html, 'only a page'],
  ['text/html, application/xhtml+xml', inBoth, html, 'only pages'],
  ['text/html, application/xml;q=0.9, application/json;q=0.9', inBoth, html, 'a page above the own notation, each by name'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', inXml, html, 'as in a browser, which names XML'],
  ['text/html, application/json;q=0.9, */*;q=0.1', inXml, json, 'the next that is named and above'],
  ['text/html, image/*, application/xml;q=0.5', inXml, html, 'a wildcard that does not take the own notation says nothing of it'],
  ['text/html, */*;q=0, application/xml;q=0.5', inXml, html, 'nor does one that refuses'],
  ['application/xml;q=0, */*', inXml, html, 'where the own notation is refused, Accept alone decides'],
  ['application/json;q=0, text/html;q=0.5, */*', inJson, xml, 'by weight'],
  ['text/xml', inXml, textXml, 'the other name of the own notation'],
  ['text/xml, application/json', inXml, textXml, 'also on a tie'],
  ['text/*', inXml, textXml, 'or by its wildcard'],
  ['text/*', inJson, textXml, 'as without a document'],
  ['image/png', inBoth, undefined, 'nothing']
]

t.test('a document is answered in its own notation unless Accept ranks another above it by name and weight', async (t) => {
  const names: Readonly<Record<Own, readonly string[]>> = { xml: [xml, textXml], json: [json] }
  for (const [header, notations, chosen, why] of ownRows) {
    for (const notation of notations) {
      const found = choose(
        header,
        offers.map((offer) => ({ ...offer, own: names[notation].includes(offer.names[0] ?? '') }))
      )
      t.equal(offers[found]?.names[0], chosen === 'own' ? names[notation][0] : chosen, `${notation}, ${header ?? '(none)'}: ${why}`)
    }
  }
})

t.test('a wildcard matches the media type that is sent, not its alternative names', async (t) => {
  const problems = [{ names: ['application/problem+xml', 'application/xml', 'text/xml'] }, { names: ['text/html'] }]
  t.equal(choose('text/*', problems), 1)
  t.equal(choose('text/*, text/xml', problems), 0)
  t.equal(choose('application/*', problems), 0)
})

t.test('an offer may be asked for by several names, and is weighed by its best', async (t) => {
  const problems = [{ names: ['application/problem+xml', 'application/xml'] }, { names: ['application/problem+json', 'application/json'] }]
  t.equal(choose('application/json', problems), 1)
  t.equal(choose('application/problem+json;q=0.1, application/xml;q=0.5', problems), 0)
  t.equal(choose('application/json, application/problem+xml;q=0.9', problems), 1)
})

t.test('ranges are read with their weights and parameters', async (t) => {
  t.same(parseAccept('text/html;level="1;2"; q=0.5;ext=1, *'), [
    { type: 'text', subtype: 'html', parameters: new Map([['level', '1;2']]), q: 0.5 }
  ])
})

t.test('the first 100 ranges count', async (t) => {
  const ranges = (count: number) =>
    ['text/html', ...Array.from({ length: count - 2 }, (_, i) => `a/b${i}`), 'application/json;q=1'].join(', ')
  const offers = [{ names: ['application/json'] }, { names: ['text/plain'] }]
  t.equal(choose(ranges(100), offers), 0)
  t.equal(choose(ranges(101), offers), -1)
})

t.test('splitting takes time in proportion to the field, also to one that is all quotes and backslashes', async (t) => {
  // Processor time is measured, so that other programs do not count. Code that is quadratic would take many times the limit.
  const started = process.cpuUsage()
  for (const unit of ['"', '\\"', '"\\', ',', '",', ';"']) splitField(unit.repeat(1_000_000), ',')
  t.ok(process.cpuUsage(started).user < 20_000_000)
})
