// The order form, and what its page tells the script: URIs, the currency and texts. The service makes them in order-form-script.ts.

export const form = document.getElementById('order')

export const pageData = JSON.parse(form.dataset.script)
