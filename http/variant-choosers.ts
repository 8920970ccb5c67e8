import type { Representation } from '../representations/representation.ts'
import { type Chooser, makeChooser, type Offer } from './accept.ts'
import { type DocumentNotation, isIn } from './notation.ts'

export type Variants = readonly Representation<never>[]

/** The choosers for the variants of one resource, by the notation of the request's own document. */
export type VariantChoosers = Readonly<Record<DocumentNotation | 'none', Chooser>>

/** @param alsoXml further media types of the XML that a client can get */
export function variantOffers(variants: Variants, alsoXml: readonly string[], notation: DocumentNotation | undefined): readonly Offer[] {
  return variants.map((variant) => ({
    names: [variant.mediaType, ...(variant.suffix === 'xml' ? alsoXml : [])],
    alias: variant.alias ?? false,
    own: isIn(notation, variant)
  }))
}

export function makeVariantChoosers(variants: Variants, alsoXml: readonly string[]): VariantChoosers {
  const chooserFor = (notation: DocumentNotation | undefined) => makeChooser(variantOffers(variants, alsoXml, notation))
  return { xml: chooserFor('xml'), json: chooserFor('json'), none: chooserFor(undefined) }
}
