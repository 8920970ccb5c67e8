// The lines of the order form: added, removed, looked up in the catalogue, and added up without rounding.

import { make } from './order-errors.js'

const form = document.getElementById('order')
const { products, product, currency, digits } = form.dataset
const lines = form.querySelector('.lines')
const catalogue = document.getElementById('catalogue')
const blankLine = lines.lastElementChild.cloneNode(true)

/** The highest number that a line has had: what was typed in one that was removed must not come back in another. */
let last = 0

function addLine() {
  const number = ++last
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
  for (const own of line.querySelectorAll('.wrong, .long, [type=hidden]')) own.remove()
  for (const known of ['product', 'name', 'price']) delete line.dataset[known]
  line.querySelector('output').value = ''
  prepare(line)
  lines.append(line)
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

const none = { wrong: 'There is no product with this number.' }
const gone = { wrong: 'This product is no longer sold.' }
const unanswered = { wrong: 'This product cannot be looked up now.' }

/** By their numbers, what is known of products, or will be: their names and prices, or why there are none. */
const known = new Map()

const get = (uri) => fetch(uri, { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(10_000) })

async function ask(id) {
  const scanned = await askForBarcode(id)
  if (scanned) return scanned
  const answer = await get(`${product}${id}`)
  if (answer.status === 404) return none
  if (answer.status === 410) return gone
  if (!answer.ok) return unanswered
  const { name, price } = await answer.json()
  return { name, price: price.value }
}

/** What a scanner types is a GTIN: the product that has it. A product's number may look like one, and goes before. */
async function askForBarcode(code) {
  if (!/^(?:\d{8}|\d{12,14})$/.test(code)) return undefined
  const answer = await get(`${products}?${new URLSearchParams({ q: code, limit: '50' })}`)
  if (!answer.ok) return unanswered
  const { product: found } = await answer.json()
  const one = found.find(({ id }) => id === code) ?? found.find(({ gtin }) => gtin === code)
  return one && { id: one.id, name: one.name, price: one.price.value }
}

let turn = Promise.resolve()

/** The product, asked for once, and one after the other: an order may have hundreds. What went wrong is tried again. */
function lookUp(id) {
  if (!/^[A-Za-z0-9._~-]+$/.test(id) || id === '.' || id === '..') return none
  if (!known.has(id)) {
    const asked = turn.then(() => ask(id)).catch(() => unanswered)
    turn = asked
    known.set(id, asked)
    void asked.then((answer) => answer === unanswered && known.delete(id))
  }
  return known.get(id)
}

/** Lines that are not looked up until somebody changes them. */
const untouched = new Set()

/** What the page says of its own lines need not be asked for; of more that nobody touched, only the first are. */
function startKnowing() {
  let asked = 0
  for (const line of lines.children) {
    const { product: id, name, price } = line.dataset
    if (id) known.set(id, { name, price })
    else if (line.querySelector('input').value.trim() !== '' && ++asked > 20) untouched.add(line)
  }
}

let search = 0

/** Offers products that have the words typed, from the collection's own search. */
async function offer(words) {
  const mine = ++search
  await new Promise((resolve) => setTimeout(resolve, 250))
  if (mine !== search || words.length < 2) return
  const query = new URLSearchParams({ q: words, limit: '20' })
  const answer = await fetch(`${products}?${query}`, { headers: { accept: 'application/json' } }).catch(() => undefined)
  if (mine !== search || !answer?.ok) return
  const there = new Set([...catalogue.options].map((option) => option.value))
  for (const { id, name } of (await answer.json()).product) if (!there.has(id)) catalogue.append(make('option', { value: id }, name))
}

const decimal = /^\s*(\d+)(?:\.(\d+))?\s*$/

/** A decimal as an integer of ten-millionths, so that quantities (3 digits) times prices (4) stay exact. */
function units(text, scale) {
  const found = decimal.exec(text)
  return found && (found[2] ?? '').length <= scale ? BigInt(found[1] + (found[2] ?? '').padEnd(scale, '0')) : undefined
}

function rounded(value, scale) {
  const divisor = 10n ** BigInt(scale - Number(digits))
  return (value + divisor / 2n) / divisor
}

function money(minor) {
  const text = minor.toString().padStart(Number(digits) + 1, '0')
  const at = text.length - Number(digits)
  const value = Number(digits) === 0 ? text : `${text.slice(0, at)}.${text.slice(at)}`
  return new Intl.NumberFormat('en', { style: 'currency', currency, minimumFractionDigits: Number(digits) }).format(value)
}

/** A barcode becomes the number of its product, unless somebody typed on meanwhile. */
function fillIn(line, code, number) {
  const input = line.querySelector('input')
  if (input.value.trim() !== code) return
  known.set(number, known.get(code))
  input.value = number
  form.dispatchEvent(new Event('input'))
}

/** What a line says of itself: its product, and its sum in the currency's minor unit once both are known. */
async function read(line) {
  const [id, quantity] = [...line.querySelectorAll('input')].map((input) => input.value.trim())
  if (id === '') return { line, says: [] }
  if (untouched.has(line)) return { line, says: [], isOpen: true }
  const { id: number, wrong, name, price: text } = await lookUp(id)
  if (number) fillIn(line, id, number)
  if (wrong) return { line, says: [wrong], isOpen: true }
  const [count, price] = [units(quantity, 3), units(text, 4)]
  if (count === undefined || price === undefined) return { line, says: [make('bdi', {}, name)], isOpen: true }
  const sum = rounded(count * price, 7)
  return { line, says: [make('bdi', {}, name), `: ${money(sum)}`], sum }
}

function totalOf(read) {
  const total = read.reduce((all, { sum = 0n }) => all + sum, 0n)
  if (!read.some(({ isOpen }) => isOpen)) return money(total)
  return total === 0n ? '–' : `from ${money(total)}`
}

let round = 0

async function update() {
  const mine = ++round
  const found = await Promise.all([...lines.children].map(read))
  if (mine !== round) return
  for (const { line, says } of found) line.querySelector('output').replaceChildren(...says)
  document.getElementById('total').value = totalOf(found)
}

const isFilled = (line) => [...line.querySelectorAll('input')].some((input) => input.value.trim() !== '')

/** Enter, with which a barcode scanner ends too, goes on: from a line to the next, from any other field to the one after it. */
function goOn(from) {
  const line = from.closest('.lines > li')
  if (line) {
    const next = line.nextElementSibling ?? (isFilled(line) ? addLine() : line)
    next.querySelector('input').focus()
    return
  }
  const fields = [...form.elements]
  // What cannot be focused, in a closed section for one, is passed over.
  for (const next of fields.slice(fields.indexOf(from) + 1)) {
    next.focus()
    if (document.activeElement === next) return
  }
}

/** The first line must be filled in only while no other is. */
function require() {
  const filled = [...lines.children].filter(isFilled)
  for (const input of form.querySelectorAll('.lines [required]')) input.required = false
  const needed = filled[0] ?? lines.children[0]
  for (const name of ['product-id', 'quantity']) needed.querySelector(`[name$=".${name}"]`).required = true
}

export function startLines() {
  form.querySelector('.total').hidden = false
  last = Math.max(...[...lines.children].map((line) => Number(line.dataset.line)))
  for (const line of lines.children) prepare(line)
  label()
  startKnowing()
  void update()

  require()
  form.addEventListener('input', require)
  lines.addEventListener('input', (event) => {
    if (event.target.getAttribute('list')) void offer(event.target.value.trim())
  })
  lines.addEventListener('change', (event) => {
    untouched.delete(event.target.closest('li'))
    void update()
  })
  // Browsers press a form's first button when Enter is typed in a field, but not when it picks a product from the list.
  form.querySelector('.default').addEventListener('click', (event) => {
    event.preventDefault()
    goOn(document.activeElement)
  })
  form.querySelector('[name=_more]:not(.default)').addEventListener('click', (event) => {
    event.preventDefault()
    addLine().querySelector('input').focus()
  })
}
