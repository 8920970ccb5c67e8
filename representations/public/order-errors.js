// Shows the errors of a problem document: beside each field, and as a list at the top.

import { pageData } from './order-page.js'

export function make(name, properties, ...content) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...content)
  return made
}

/** Says by which elements a control is described: its hint, if it has one, after these. */
function describe(control, ...ids) {
  const all = [...ids, `${control.id}-hint`].filter((id) => document.getElementById(id))
  if (all.length > 0) control.setAttribute('aria-describedby', all.join(' '))
  else control.removeAttribute('aria-describedby')
}

export function clearErrors(form) {
  document.getElementById('refusal').replaceChildren()
  for (const wrong of form.querySelectorAll('.wrong')) wrong.remove()
  for (const field of form.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid')
    describe(field)
  }
}

/** The control that shows an error: the field of this name, or the first blank field below it. */
function controlAt(form, name) {
  if (!name) return undefined
  const own = form.elements.namedItem(name)
  if (own?.type && own.type !== 'hidden') return own
  const under = [...form.elements].filter((one) => one.name.startsWith(`${name}.`) && one.type !== 'hidden')
  const line = /^item\.\d+/.exec(name)?.[0]
  return under.find((one) => one.value.trim() === '') ?? under[0] ?? (line && form.elements.namedItem(`${line}.product-id`))
}

/** Replaces the names of elements by the labels of their fields. */
function forPeople(form, detail) {
  return detail.replace(/<([a-z][a-z-]*)>/g, (_, name) => {
    const control = [...form.elements].find((one) => one.name === name || one.name.endsWith(`.${name}`))
    return control?.labels?.[0]?.textContent.replace(/ \d+$/, '') ?? name.replaceAll('-', ' ')
  })
}

/** The prefix of an error in the list: the line that it belongs to, or the party. */
function placePrefix(control) {
  const line = control.closest('.lines > li')
  if (line) return `Line ${[...line.parentElement.children].indexOf(line) + 1}: `
  return /^[a-z-]+\.[a-z]/.test(control.name) ? `${control.closest('fieldset').querySelector('legend').textContent}: ` : ''
}

/** @param more paragraphs with other things that the user can do */
export function showRefusal(form, title, detail, errors = [], more = []) {
  clearErrors(form)
  const list = make('ul', {})
  for (const { detail, control, isOfAll } of errors) {
    if (!control) {
      list.append(make('li', {}, detail))
      continue
    }
    list.append(make('li', {}, isOfAll ? '' : placePrefix(control), make('a', { href: `#${control.id}` }, detail)))
    const id = `${control.id}-error`
    const there = document.getElementById(id)
    if (there) there.append(` ${detail}`)
    else control.after(make('p', { className: 'wrong', id }, detail))
    control.setAttribute('aria-invalid', 'true')
    describe(control, id)
    control.closest('details')?.setAttribute('open', '')
  }
  const notice = make('div', { className: 'notice problem', tabIndex: -1 }, make('p', {}, make('strong', {}, title)))
  notice.setAttribute('role', 'alert')
  if (!errors.some((error) => error.detail === detail)) notice.append(make('p', {}, detail))
  if (errors.length > 0) notice.append(list)
  for (const one of more) notice.append(make('p', {}, ...one))
  document.getElementById('refusal').replaceChildren(notice)
  notice.focus()
}

const textOf = (element, name) => [...element.children].find((one) => one.localName === name)?.textContent ?? ''

/** The page's own message for an incomplete line, or for an order without lines. */
function missing(form, name) {
  if (name === '') {
    const typed = [...form.querySelectorAll('.lines input, .lines textarea')]
    return typed.every((one) => one.value.trim() === '') ? { detail: pageData.missing.line, control: typed[0], isOfAll: true } : undefined
  }
  const line = /^item\.\d+$/.exec(name ?? '')?.[0]
  if (line === undefined) return undefined
  const [product, quantity] = ['product-id', 'quantity'].map((part) => form.elements.namedItem(`${line}.${part}`))
  if (product?.value.trim() === '') return { detail: pageData.missing.product, control: product }
  return quantity?.value.trim() === '' ? { detail: pageData.missing.quantity, control: quantity } : undefined
}

function errorOf(form, item, name) {
  const mine = textOf(item, 'code') === '' ? missing(form, name) : undefined
  return mine ?? { detail: forPeople(form, textOf(item, 'detail')), control: controlAt(form, name) }
}

/** @param words the title and the detail of the problem, which are for programs @returns those for a person, as the service has them */
function noticeOf({ code, isSignIn, hasErrors }, [title, detail]) {
  const { signIn, reused, invalid } = pageData
  if (isSignIn) return [signIn.title, detail === signIn.keyNeeded ? signIn.detail : detail]
  if (reused.codes.includes(code)) return [reused.title, reused.detail]
  if (hasErrors && invalid.codes.includes(code)) return [invalid.title, invalid.detail]
  return [title, detail]
}

const inNewTab = (href, text) => make('a', { href, target: '_blank' }, text)

/** @param places the fields by their paths in the document @returns the codes of the problem and of its errors */
export function showProblem(form, problem, places) {
  const order = textOf(problem, 'order')
  // The page links to the order that already has the number, so its texts leave the order's id out.
  const withoutId = (text) => (order ? text.replace(`: ${order.slice(order.lastIndexOf('/') + 1)}`, '') : text)
  const items = [...problem.children].find((one) => one.localName === 'errors')?.children ?? []
  const names = [...items].map((item) => places.get(textOf(item, 'path')))
  const positionOf = ({ control }) => [...form.elements].indexOf(control)
  const errors = [...items]
    .map((item, i) => errorOf(form, item, names[i]))
    .map((error) => ({ ...error, detail: withoutId(error.detail) }))
    .sort((a, b) => positionOf(a) - positionOf(b))
  const isSignIn = textOf(problem, 'status') === '401'
  const more = [
    ...(order ? [[inNewTab(order, 'See that order')]] : []),
    ...(isSignIn ? [[inNewTab(pageData.session, 'Sign in'), ' in another tab, then send this form again.']] : [])
  ]
  const code = textOf(problem, 'type').replace(/^.*\//, '')
  const [title, detail] = noticeOf({ code, isSignIn, hasErrors: errors.length > 0 }, [
    textOf(problem, 'title'),
    withoutId(textOf(problem, 'detail'))
  ])
  showRefusal(form, title, detail, errors, more)
  return [code, ...[...items].map((item) => textOf(item, 'code'))]
}
