/** Every response has these: they matter for any content. */
export const commonHeaders = {
  'cross-origin-resource-policy': 'same-origin',
  // Whoever knows an order's URI can use the order, so the URI must not leak as a referrer.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff'
}

/** Pages have these, too. Pages load from this origin only, run no inline scripts or styles, and cannot be framed. */
export const pageHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' https: data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'"
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin'
}
