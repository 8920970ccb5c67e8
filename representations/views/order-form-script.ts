import { minorUnit } from '../../domain/money.ts'
import { productIdPattern } from '../../domain/product.ts'
import { orderXsd } from '../../schemas/purchase-order.ts'
import { rootType } from '../../schemas/vocabulary.ts'
import { uris } from '../links.ts'
import type { Context } from '../representation.ts'
import { keyNeededDetail, signInWords } from '../sign-in.ts'
import { invalidNotice, missingMessages, notFound, reusedNotice, spentKeyCodes, unsureProblems } from './order-form-errors.ts'
import { initialRows } from './order-form-lines.ts'
import { stockTexts } from './order-form-products.ts'
import { unitTerms } from './units.ts'

const root = rootType(orderXsd, 'purchase-order').name
const units = unitTerms()

/** The form's data for its script: URIs, the currency and texts. The script reads the schema of orders itself. */
export function scriptData({ base, currency }: Context) {
  const uri = uris(base)
  return {
    root,
    schema: uri.schema(root),
    products: uri.products,
    product: uri.product(''),
    session: uri.session,
    currency,
    digits: minorUnit(currency),
    units,
    rows: initialRows,
    productId: productIdPattern,
    missing: missingMessages,
    stock: stockTexts,
    notFound,
    invalid: invalidNotice,
    reused: reusedNotice,
    spentKey: spentKeyCodes,
    unsure: unsureProblems,
    signIn: { ...signInWords(keyNeededDetail), keyNeeded: keyNeededDetail }
  }
}
