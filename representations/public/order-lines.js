// The lines of the order form: added, removed, looked up in the catalogue, and added up without rounding.

import { make } from './order-errors.js'

const form = document.getElementById('order')
const { products, product, currency, digits } = form.dataset
const lines = form.querySelector('.lines')
const catalogue = document.getElementById('catalogue')
const blankLine = lines.lastElementChild.cloneNode(true)

function addLine() {
  const number = Math.max(0, ...[...lines.children].map((line) => Number(line.dataset.line))) + 1
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
  for (const wrong of line.querySelectorAll('.wrong')) wrong.remove()
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

const known = new Map()

/** The product resource as JSON, asked for once; undefined when there is none. */
function lookUp(id) {
  if (!/^[A-Za-z0-9._~-]+$/.test(id) || id === '.' || id === '..') return Promise.resolve(undefined)
  if (!known.has(id)) {
    const asked = fetch(`${product}${id}`, { headers: { accept: 'application/json' } }).then((answer) =>
      answer.ok ? answer.json() : undefined
    )
    known.set(
      id,
      asked.catch(() => known.delete(id) && undefined)
    )
  }
  return known.get(id)
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

/** What a line says of itself: its product, and its sum in the currency's minor unit once both are known. */
async function read(line) {
  const [id, quantity] = [...line.querySelectorAll('input')].map((input) => input.value.trim())
  if (id === '') return { line, text: '' }
  const product = await lookUp(id)
  if (!product) return { line, text: 'There is no product with this number.', isOpen: true }
  const [count, price] = [units(quantity, 3), units(product.price.value, 4)]
  if (count === undefined || price === undefined) return { line, text: product.name, isOpen: true }
  const sum = rounded(count * price, 7)
  return { line, text: `${product.name}: ${money(sum)}`, sum }
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
  for (const { line, text } of found) line.querySelector('output').value = text
  document.getElementById('total').value = totalOf(found)
}

const needed = [...lines.querySelectorAll('[required]')]

/** The first line must be filled in only while no other is. */
function require() {
  const isFilled = (line) => [...line.querySelectorAll('input')].some((input) => input.value.trim() !== '')
  const filled = [...lines.children].filter(isFilled)
  for (const input of needed) input.required = filled.length === 0 || filled.includes(input.closest('li'))
}

export function startLines() {
  form.querySelector('.total').hidden = false
  for (const line of lines.children) prepare(line)
  label()
  void update()

  require()
  form.addEventListener('input', require)
  lines.addEventListener('input', (event) => {
    if (event.target.getAttribute('list')) void offer(event.target.value.trim())
  })
  lines.addEventListener('change', () => void update())
  form.querySelector('[name=_more]').addEventListener('click', (event) => {
    event.preventDefault()
    addLine().querySelector('input').focus()
  })
}
