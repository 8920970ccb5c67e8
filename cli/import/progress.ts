/** Milliseconds between two updates of the bar. */
const interval = 100
const barWidth = 24
const eraseLine = '\r\u001b[K'

export interface Progress {
  /** @param bytes the number of bytes that were read */
  show(bytes: number, products: number): void
  /** Writes lines above the bar. */
  print(lines: string): void
  end(): void
}

interface Output {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/**
 * Shows a progress bar on a terminal. Elsewhere it only prints lines.
 * @param size the size of the file in bytes, if it is known
 */
export function makeProgress(output: Output, size: number | undefined, now: () => number = performance.now.bind(performance)): Progress {
  if (!output.isTTY) return { show: () => undefined, print: (lines) => output.write(lines), end: () => undefined }
  const started = now()
  let drawn = Number.NEGATIVE_INFINITY
  return {
    show(bytes, products) {
      const at = now()
      if (at - drawn < interval) return
      drawn = at
      output.write(`${eraseLine}${draw(bytes, products, (at - started) / 1000, size)}`)
    },
    print(lines) {
      output.write(`${eraseLine}${lines}`)
      drawn = Number.NEGATIVE_INFINITY
    },
    end() {
      output.write(eraseLine)
    }
  }
}

function draw(bytes: number, products: number, seconds: number, size: number | undefined): string {
  const counted = `${products.toLocaleString('en')} products, ${Math.round(products / Math.max(seconds, 0.001)).toLocaleString('en')}/s`
  if (size === undefined) return counted
  const share = Math.min(1, bytes / size)
  const filled = Math.round(share * barWidth)
  return `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}] ${Math.floor(share * 100)}%  ${counted}`
}
