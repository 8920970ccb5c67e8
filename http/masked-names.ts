/** Names by which the log finds what it must mask. */

/** Every API key begins like this. */
export const keyPrefix = 'tp_'

export const sessionCookie = 'tradepost-session'

/** The cursors of `/orders` begin with this. They have the id of an order. */
export const ordersSorting = 'orders'
