// Makes a <purchase-order> document from the fields of the form. The elements and their order come from the schema that the
// service publishes.

const xs = 'http://www.w3.org/2001/XMLSchema'

/** Reads the type of a root element: its children in document order, and whether each is repeatable. */
export async function readSchema(schema, root) {
  const answer = await fetch(schema, { headers: { accept: 'application/xml' } })
  if (!answer.ok) throw new Error(`the request for the schema of orders failed: ${answer.status}`)
  const xsd = new DOMParser().parseFromString(await answer.text(), 'application/xml').documentElement
  const named = (kind, name) => [...xsd.children].find((one) => one.localName === kind && one.getAttribute('name') === name)
  const attributesOf = (holder) =>
    [...holder.children].filter((one) => one.localName === 'attribute').map((one) => one.getAttribute('name'))

  const content = (holder) =>
    [...holder.children].flatMap((part) => {
      if (part.localName === 'element') return [typed(part)]
      if (part.localName === 'group') return content(named('group', part.getAttribute('ref')))
      return part.localName === 'sequence' || part.localName === 'choice' ? content(part) : []
    })

  const typed = (declared) => {
    const type = { name: declared.getAttribute('name'), repeatable: (declared.getAttribute('maxOccurs') ?? '1') !== '1' }
    const complex = named('complexType', declared.getAttribute('type'))
    if (!complex) return { ...type, attributes: [], children: [] }
    const extension = complex.getElementsByTagNameNS(xs, 'extension')[0]
    return { ...type, attributes: attributesOf(extension ?? complex), children: extension ? [] : content(complex) }
  }
  return typed(named('element', root))
}

/** The values by field name, without blank fields and fields that start with `_`, and with the prices that the page shows, as the service reads a form. */
function fieldsOf(form) {
  const all = [...new FormData(form)]
  const filled = all.filter(([name, value]) => !name.startsWith('_') && value.trim() !== '')
  const values = new Map(filled.map(([name, value]) => [name, value.replaceAll('\r\n', '\n')]))
  for (const [name, value] of all) {
    const line = /^_price\.(\d+)$/.exec(name)?.[1]
    const [id, price] = value.split(' ')
    if (line && values.get(`item.${line}.product-id`)?.trim() === id) values.set(`item.${line}.unit-price`, price)
  }
  return values
}

/** Makes the document. `places` has the field of each element, by the path that a problem document names. */
export function makeDocument(form, type) {
  const values = fieldsOf(form)
  const xml = document.implementation.createDocument(null, type.name)
  const places = new Map()

  const numbersOf = (prefix) => {
    const found = [...values.keys()]
      .filter((name) => name.startsWith(`${prefix}.`))
      .map((name) => name.slice(prefix.length + 1).split('.')[0])
    return [...new Set(found)].sort((a, b) => a - b)
  }
  const isThere = (name) => values.has(name) || [...values.keys()].some((key) => key.startsWith(`${name}.`))

  const childrenOf = (type, name) =>
    type.children.flatMap((child) => {
      const there = name === '' ? child.name : `${name}.${child.name}`
      const names = child.repeatable ? numbersOf(there).map((number) => `${there}.${number}`) : isThere(there) ? [there] : []
      return names.map((one, i) => ({ child, name: one, step: `${child.name}${names.length > 1 ? `[${i + 1}]` : ''}` }))
    })
  const textOf = (name) => values.get(name) ?? values.get(`${name}.value`) ?? ''

  const fill = (element, type, name, path, indent) => {
    places.set(path, name)
    for (const attribute of type.attributes) {
      const value = values.get(`${name}.${attribute}`)
      if (value !== undefined) element.setAttribute(attribute, value)
    }
    if (type.children.length === 0) {
      element.textContent = textOf(name)
      return
    }
    for (const { child, name: there, step } of childrenOf(type, name)) {
      const made = xml.createElementNS(null, child.name)
      element.append(`\n${indent}  `, made)
      fill(made, child, there, `${path}/${step}`, `${indent}  `)
    }
    if (element.childNodes.length > 0) element.append(`\n${indent}`)
  }
  fill(xml.documentElement, type, '', `/${type.name}`, '')
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(xml)}\n`
  return { text, places }
}
