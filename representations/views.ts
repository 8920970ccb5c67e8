import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import { serviceFile } from '../files.ts'
import { uris } from './links.ts'
import { type Context, instant } from './representation.ts'
import * as format from './views/format.ts'
import { publicPath } from './views/public-files.ts'

const folder = fileURLToPath(serviceFile('representations/views'))

/** All templates by their paths. They are read once at start, so that a running service does not depend on its files. */
const templates: ReadonlyMap<string, string> = new Map(
  readdirSync(folder)
    .filter((name) => name.endsWith('.eta'))
    .map((name) => [join(folder, name), readFileSync(join(folder, name), 'utf8')])
)

/** `<%= %>` escapes its value. `<%~ %>` does not, and is only for the output of other templates. */
const eta = new Eta({ views: folder, autoEscape: true, cache: true })
eta.readFile = (path) => templates.get(path) ?? noTemplate(path)

function noTemplate(path: string): never {
  throw new Error(`there is no template ${path}`)
}

/**
 * A page's title. In a list, every second part is somebody else's text, such as a name. The heading keeps the writing direction of such a
 * part apart from that of the others.
 */
export type Title = string | readonly string[]

/** Renders a view inside the layout. The layout does not depend on the caller, so that catalogue pages can be cached for everybody. */
export function renderPage(view: string, title: Title, data: object, context: Context): string {
  const heading = [title].flat()
  return renderPart(view, { ...data, title: heading.join(''), heading }, context)
}

/** Renders a part of a page, which the view of the page includes. */
export function renderPart(view: string, data: object, context: Context): string {
  const { base } = context
  return eta.render(view, {
    ...data,
    context,
    shop: context.shop,
    uri: uris(base),
    instant,
    format,
    asset: (name: string) => publicPath(base, name)
  })
}
