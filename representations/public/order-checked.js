// The page of an order that was only checked can place it. Then the order form has no draft of it any more.

import { removeDraft } from './order-draft.js'

const form = document.getElementById('go-on')

form.addEventListener('submit', ({ submitter }) => {
  // The other button leads back to the order form.
  if (submitter?.name !== '_more') removeDraft(form)
})
