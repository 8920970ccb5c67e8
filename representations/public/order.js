// Code on demand for the order form. It posts a <purchase-order> document, as machines do. Without this script the browser
// posts the form itself.

import { makeDocument, readSchema } from './order-document.js'
import { showProblem, showRefusal } from './order-errors.js'
import { renewProducts, startLines } from './order-lines.js'
import { form, pageData } from './order-page.js'
import { keepRefused, startDraft } from './order-restore.js'

const key = form.elements.namedItem('_idempotency-key')
const isDraft = 'draft' in form.dataset

function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function send(type) {
  const { text, places } = makeDocument(form, type)
  const customer = form.elements.namedItem('_customer')?.value
  const answer = await fetch(form.action, {
    method: 'POST',
    headers: {
      accept: 'application/xml',
      'content-type': 'application/xml',
      'idempotency-key': key.value,
      ...(customer ? { 'tradepost-customer': encodeURIComponent(customer) } : {})
    },
    body: text
  })
  if (answer.ok && answer.headers.has('location')) {
    location.assign(answer.headers.get('location'))
    return
  }
  // A proxy in front of the shop sends 502, 504, and whatever is no problem document. Its texts are for programs.
  if ([502, 504].includes(answer.status) || !answer.headers.get('content-type')?.startsWith('application/problem+xml'))
    throw new Error(`the answer is not from the shop: ${answer.status}`)
  const problem = new DOMParser().parseFromString(await answer.text(), 'application/xml').documentElement
  const [code, ...codes] = showProblem(form, problem, places)
  if (pageData.spentKey.includes(code)) key.value = newKey()
  if ([code, ...codes].includes('price-changed')) renewProducts()
  // After an error of the shop itself, or while the first request runs, the order may be there.
  if (isDraft && answer.status < pageData.unsure.leastStatus && !pageData.unsure.codes.includes(code)) keepRefused(form)
}

async function submit(type) {
  const buttons = [...form.querySelectorAll('button:not([type=button])')]
  for (const button of buttons) button.disabled = true
  try {
    await send(type)
  } catch {
    // The idempotency key and the document stay the same, so sending them again finds the order if it did arrive.
    showRefusal(form, 'The shop did not answer', 'Your order may have arrived. Send it again to find out: it cannot be placed twice.')
  } finally {
    for (const button of buttons) button.disabled = false
  }
}

function showDocument(type) {
  const panel = document.getElementById('document')
  const details = panel.querySelector('details')
  const show = () => {
    if (details.open) panel.querySelector('pre').textContent = makeDocument(form, type).text
  }
  panel.hidden = false
  details.addEventListener('toggle', show)
  form.addEventListener('input', show)
}

startLines()
// A country is a code of two capital letters, which may be typed in small ones. The service does the same to a form.
form.addEventListener('change', ({ target }) => {
  if (target.name.endsWith('.country') && /^\s*[a-z]{2}\s*$/i.test(target.value)) target.value = target.value.toUpperCase()
})
if (isDraft) startDraft(form)
// The browser posts the form itself for a change to an order, or if the schema cannot be loaded.
if (key) {
  const type = await readSchema(pageData.schema, pageData.root).catch(() => undefined)
  if (type) {
    showDocument(type)
    form.addEventListener('submit', (event) => {
      // The browser posts the form to be checked, and shows the page that answers.
      if (event.submitter?.hasAttribute('formaction')) return
      event.preventDefault()
      void submit(type)
    })
  }
}
