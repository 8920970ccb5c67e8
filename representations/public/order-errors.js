// What the service refused, as its problem document says it: beside each field, and listed at the top.

export function make(name, properties, ...content) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...content)
  return made
}

function clearErrors(form) {
  document.getElementById('refusal').replaceChildren()
  for (const wrong of form.querySelectorAll('.wrong')) wrong.remove()
  for (const field of form.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid')
    field.removeAttribute('aria-describedby')
  }
}

/** The control for a place of the document: its own field, or the first blank one under it. */
function controlAt(form, name) {
  if (!name) return undefined
  const own = form.elements.namedItem(name)
  if (own?.type && own.type !== 'hidden') return own
  const under = [...form.elements].filter((one) => one.name.startsWith(`${name}.`) && one.type !== 'hidden')
  return under.find((one) => one.value.trim() === '') ?? under[0]
}

/** What the service says of elements, in the form's words. */
function forPeople(form, detail) {
  return detail.replace(/<([a-z][a-z-]*)>/g, (_, name) => {
    const control = [...form.elements].find((one) => one.name === name || one.name.endsWith(`.${name}`))
    return control?.labels?.[0]?.textContent.replace(/ \d+$/, '') ?? name.replaceAll('-', ' ')
  })
}

export function showRefusal(form, title, detail, errors = []) {
  clearErrors(form)
  const list = make('ul', {})
  for (const { detail, control } of errors) {
    if (!control) {
      list.append(make('li', {}, detail))
      continue
    }
    list.append(make('li', {}, make('a', { href: `#${control.id}` }, detail)))
    const id = `${control.id}-error`
    const there = document.getElementById(id)
    if (there) there.append(` ${detail}`)
    else control.after(make('p', { className: 'wrong', id }, detail))
    control.setAttribute('aria-invalid', 'true')
    control.setAttribute('aria-describedby', id)
    control.closest('details')?.setAttribute('open', '')
  }
  const notice = make('div', { className: 'notice problem', tabIndex: -1 }, make('p', {}, make('strong', {}, title)), make('p', {}, detail))
  notice.setAttribute('role', 'alert')
  if (errors.length > 0) notice.append(list)
  document.getElementById('refusal').replaceChildren(notice)
  notice.focus()
}

/** @param places the fields by the paths of the document that was sent @returns the code of the problem */
export function showProblem(form, problem, places) {
  const text = (element, name) => [...element.children].find((one) => one.localName === name)?.textContent ?? ''
  const items = [...problem.children].find((one) => one.localName === 'errors')?.children ?? []
  const errors = [...items].map((item) => ({
    detail: forPeople(form, text(item, 'detail')),
    control: controlAt(form, places.get(text(item, 'path')))
  }))
  showRefusal(form, text(problem, 'title'), text(problem, 'detail'), errors)
  return text(problem, 'type').replace(/^.*\//, '')
}
