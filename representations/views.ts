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

/** A notice above a page's content, for example why a form was refused. */
export interface Notice {
  readonly kind: 'problem' | 'done'
  readonly title: string
  readonly detail?: string
  /** Whether the notice asks the user to sign in. */
  readonly signIn?: boolean
}

/** The notice for a refused form, on a page that shows the current state of the resource. */
export function refusalNotice(
  { title, detail, status }: { readonly title: string; readonly detail: string; readonly status: number },
  what: string
): Notice {
  if (status === 401) return { kind: 'problem', title, detail, signIn: true }
  if (status !== 412) return { kind: 'problem', title, detail: `${detail} This is how ${what} stands now.` }
  return {
    kind: 'problem',
    title: `Somebody else changed ${what} in the meantime`,
    detail: `What you sent was not stored, so that no change is lost. This is how ${what} stands now. Check it, and send your change again if you still want it.`
  }
}

/** Renders a view inside the layout. The layout does not depend on the caller, so that catalogue pages can be cached for everybody. */
export function renderPage(view: string, title: string, data: object, context: Context): string {
  const { base } = context
  const pages = { ...uris(base), session: `${base}/session` }
  return eta.render(view, {
    ...data,
    title,
    context,
    shop: context.shop,
    uri: pages,
    instant,
    format,
    asset: (name: string) => publicPath(base, name)
  })
}
