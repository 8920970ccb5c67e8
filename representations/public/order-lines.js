// The lines of the order form: adds and removes them, shows their products, and computes the total.

import { nameInLine } from './order-draft.js'
import { make } from './order-errors.js'
import { form, pageData } from './order-page.js'
import { forgetProducts, known, lookUp, suggest, total } from './order-products.js'
import { makeSums, quantityFault, units } from './order-sums.js'

const isNew = form.elements.namedItem('_idempotency-key') !== null
const lines = form.querySelector('.lines')
const blankLine = lines.lastElementChild.cloneNode(true)

/** The highest number that a line has had. Numbers are not reused, so that a browser does not restore a removed line's values. */
let lastNumber = 0

function appendLine() {
  const number = ++lastNumber
  const line = blankLine.cloneNode(true)
  const renumber = (text) => text.replace(/item\.\d+\./g, `item.${number}.`)
  line.dataset.line = String(number)
  for (const one of line.querySelectorAll('[id], [name], [for]')) {
    for (const attribute of ['id', 'name', 'for']) {
      if (one.hasAttribute(attribute)) one.setAttribute(attribute, renumber(one.getAttribute(attribute)))
    }
  }
  for (const input of line.querySelectorAll('input')) {
    input.value = ''
    for (const attribute of ['value', 'required', 'aria-invalid', 'aria-describedby']) input.removeAttribute(attribute)
  }
  for (const own of line.querySelectorAll('.wrong, .hint, .long, [type=hidden]')) own.remove()
  for (const known of ['product', 'name', 'price', 'shown', 'least', 'step', 'shipped']) delete line.dataset[known]
  line.querySelector('output').value = ''
  prepare(line)
  lines.append(line)
  return line
}

function addLine() {
  const line = appendLine()
  label()
  return line
}

function prepare(line) {
  const remove = make('button', { type: 'button', className: 'quiet' }, 'Remove')
  remove.addEventListener('click', () => {
    const next = line.nextElementSibling ?? line.previousElementSibling ?? addLine()
    line.remove()
    label()
    void update()
    form.dispatchEvent(new Event('input'))
    next.querySelector('input').focus()
  })
  line.querySelector('.about').append(remove)
}

function label() {
  ;[...lines.children].forEach((line, i) => {
    for (const one of line.querySelectorAll('label')) one.textContent = one.textContent.replace(/\d+$/, String(i + 1))
    line.querySelector('button')?.setAttribute('aria-label', `Remove line ${i + 1}`)
  })
}

/** Lets the browser check a quantity. The service checks initial values, and lines that reach the minimum together. */
function check(line, id, rule, isAlone) {
  const quantity = line.querySelector('[name$=".quantity"]')
  const isOwn = isAlone && quantity.value !== quantity.defaultValue
  const { product, shipped } = line.dataset
  quantity.setCustomValidity(quantityFault(quantity.value, isOwn ? { ...rule, ...(product === id ? { shipped } : {}) } : undefined))
}

/** Lines whose products are not looked up until they come into view, or the user changes them. */
const untouched = new Set()

/** Takes over the products that the page knows. */
function knowInitialLines() {
  for (const { dataset } of lines.children) {
    const { product: id, name, price, shown, least, step } = dataset
    if (id) known.set(id, { name, price, shown, least, step })
  }
}

const view = new IntersectionObserver((entries) => {
  const seen = entries.filter(({ isIntersecting, target }) => isIntersecting && untouched.delete(target))
  if (seen.length > 0) void update()
})

/** Of many lines that came at once, only the first 20 with unknown products are looked up at once. */
function limitLookUps() {
  untouched.clear()
  view.disconnect()
  const isUnknown = (id) => id !== '' && !known.has(id)
  const open = [...lines.children].filter((line) => isUnknown(line.querySelector('input').value.trim()))
  for (const line of open.slice(20)) {
    untouched.add(line)
    view.observe(line)
  }
}

/** Replaces a barcode by the number of its product, unless the user has changed it meanwhile. */
function fillIn(line, code, number) {
  const input = line.querySelector('input')
  if (input.value.trim() !== code) return
  known.set(number, known.get(code))
  input.value = number
  form.dispatchEvent(new Event('input'))
}

/** Reads a line and looks up its product. `isOpen` means that its price is not known. */
async function read(line) {
  const [id, quantity] = [...line.querySelectorAll('input')].map((input) => input.value.trim())
  if (id === '') return { line, shown: [] }
  if (untouched.has(line)) return { line, shown: [], isOpen: true }
  const { id: number, wrong, ...rule } = await lookUp(id)
  if (number) fillIn(line, id, number)
  if (wrong) return { line, shown: [wrong], isOpen: true }
  return {
    line,
    shown: [make('bdi', {}, rule.name), `, ${rule.shown}`],
    id: number ?? id,
    rule,
    count: units(quantity, 3),
    price: units(rule.price, 4)
  }
}

/** Keeps the price that a line of a new order shows: the service refuses the order if it is another by then. */
function keepPrice(line, id, price) {
  line.querySelector('[name^="_price."]')?.remove()
  if (!isNew || price === undefined) return
  line.append(make('input', { type: 'hidden', name: `_price.${line.dataset.line}`, value: `${id} ${price}` }))
}

function totalOf(read) {
  const sum = read.reduce((all, { sum = 0n }) => all + sum, 0n)
  if (!read.some(({ isOpen }) => isOpen)) return total(sum)
  return sum === 0n ? '–' : `from ${total(sum)}`
}

let round = 0
let typing

/** Adds up when nothing is typed for a moment: an order may have thousands of lines. */
function updateSoon() {
  clearTimeout(typing)
  typing = setTimeout(() => void update(), 200)
}

async function update() {
  clearTimeout(typing)
  const mine = ++round
  const found = await Promise.all([...lines.children].map(read))
  if (mine !== round) return
  const sums = makeSums(found, JSON.parse(form.dataset.kept ?? '{}'), pageData.digits)
  const summed = found.map((one, i) => ({ ...one, sum: sums[i], isOpen: one.isOpen || (one.id !== undefined && sums[i] === undefined) }))
  for (const { line, shown, sum, id, rule } of summed) {
    line.querySelector('output').replaceChildren(...shown, ...(sum === undefined ? [] : [`: ${total(sum)}`]))
    check(line, id, rule, found.filter((other) => other.id === id).length === 1)
    keepPrice(line, id, rule?.price)
  }
  document.getElementById('total').value = totalOf(summed)
}

const isFilled = (line) => [...line.querySelectorAll('input:not([type=hidden])')].some((input) => input.value.trim() !== '')

/** Enter, which a barcode scanner types too, moves from a line to the next blank line, and from any other field to the next field. */
function moveOn(from) {
  const line = from.closest('.lines > li')
  if (line) {
    let next = line.nextElementSibling
    // A scan into a filled field would be appended to what is there.
    while (next && isFilled(next)) next = next.nextElementSibling
    next ??= isFilled(line) ? addLine() : line
    next.querySelector('input').focus()
    return
  }
  const fields = [...form.elements]
  // A field that cannot be focused, for example in a closed section, is skipped.
  for (const next of fields.slice(fields.indexOf(from) + 1)) {
    next.focus()
    if (document.activeElement === next) return
  }
}

/** An order needs one line: the first filled line is required, or the first line if all are blank. */
function updateRequired() {
  const filled = [...lines.children].filter(isFilled)
  for (const input of form.querySelectorAll('.lines [required]')) input.required = false
  const needed = filled[0] ?? lines.children[0]
  for (const name of ['product-id', 'quantity']) needed.querySelector(`[name$=".${name}"]`).required = true
}

/** Shows the products as they are now, after the service has refused an order because something about them has changed. */
export function renewProducts() {
  forgetProducts()
  limitLookUps()
  void update()
}

/** A form for a new order has notes of lines only if something else sent them, so a blank line has no field for them. */
function addNote(line, name) {
  const id = `item.${line.dataset.line}.${name}`
  line.append(make('div', { className: 'long' }, make('label', { htmlFor: id }, 'Note 0'), make('textarea', { id, name: id, rows: 3 })))
}

function fillLine(line, texts) {
  for (const note of line.querySelectorAll('.long')) note.remove()
  for (const name of Object.keys(texts)) if (/^note\.\d+$/.test(name)) addNote(line, name)
  for (const field of line.querySelectorAll('input, textarea')) {
    field.value = texts[nameInLine(field)] ?? ''
    field.setCustomValidity('')
  }
  line.querySelector('output').replaceChildren()
}

/**
 * Fills the lines of a new order, in place of what they have. Their products are looked up.
 * @param all the texts of each line, by the names of its fields in the line
 */
export function fillLines(all) {
  const count = Math.max(pageData.rows, all.length)
  while (lines.children.length > count) lines.lastElementChild.remove()
  while (lines.children.length < count) appendLine()
  for (const [i, line] of [...lines.children].entries()) fillLine(line, all[i] ?? {})
  label()
  limitLookUps()
  updateRequired()
  void update()
}

export function startLines() {
  form.querySelector('.total').hidden = false
  lastNumber = Math.max(...[...lines.children].map((line) => Number(line.dataset.line)))
  for (const line of lines.children) prepare(line)
  label()
  knowInitialLines()
  limitLookUps()
  void update()

  updateRequired()
  form.addEventListener('input', updateRequired)
  lines.addEventListener('input', (event) => {
    event.target.setCustomValidity('')
    if (event.target.getAttribute('list')) void suggest(event.target.value.trim())
    else updateSoon()
  })
  lines.addEventListener('change', (event) => {
    untouched.delete(event.target.closest('li'))
    void update()
  })
  // Enter in a field presses the form's first button, but Enter that picks a product from the list does not.
  form.querySelector('.default').addEventListener('click', (event) => {
    event.preventDefault()
    moveOn(document.activeElement)
  })
  form.querySelector('[name=_more]:not(.default)').addEventListener('click', (event) => {
    event.preventDefault()
    addLine().querySelector('input').focus()
  })
}
