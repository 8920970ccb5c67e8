import type { Order } from '../../domain/order.ts'
import type { Rule } from './contract.ts'
import { item, purchase, stocked } from './fixtures.ts'

const numbered = (orderNumber: string) => purchase([item('a')], { orderNumber })

export function orderNumberContract(rule: Rule): void {
  rule('a number that one change gives up can be taken by the next, also at once', async (t, store) => {
    await store.createProduct('a', stocked(100))
    const place = async (orderNumber: string): Promise<Order> =>
      (await store.placeOrder({ order: numbered(orderNumber), customer: 'acme', status: 'accepted' })).order
    const renumber = ({ id }: Order, orderNumber: string) => store.changeOrder(id, numbered(orderNumber), {})
    const cancel = ({ id }: Order, note?: string) =>
      store.setOrderStatus(id, 'cancelled', {}, note === undefined ? {} : { details: { note } })
    const [one, two, three, four] = [await place('1'), await place('2'), await place('3'), await place('4')]
    const numberOf = async ({ id }: Order) => (await store.order(id)).orderNumber
    await Promise.all([renumber(one, 'P'), renumber(two, '1')])
    t.same([await numberOf(one), await numberOf(two)], ['P', '1'])
    await Promise.all([renumber(one, 'Q'), renumber(two, 'P'), renumber(one, '1')])
    t.same([await numberOf(one), await numberOf(two)], ['1', 'P'], 'two orders change places')
    await Promise.all([cancel(three), renumber(one, '3'), cancel(four, 'Sold out'), renumber(two, '4')])
    t.same([await numberOf(one), await numberOf(two)], ['3', '4'])
    t.same([await numberOf(three), await numberOf(four)], ['3', '4'], 'an order that was cancelled keeps its number')
  })
}
