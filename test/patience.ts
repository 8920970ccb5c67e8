/** On a busy machine the service can take longer than the defaults to read what a client sent at once. */
export const patience = { HEADERS_TIMEOUT: '600', REQUEST_TIMEOUT: '600', SEND_TIMEOUT: '600' } as const
