import { crc32, deflateSync, inflateSync } from 'node:zlib'

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const mostColours = 256

interface Chunk {
  readonly type: string
  readonly data: Buffer
}

function chunksOf(png: Buffer): readonly Chunk[] {
  const chunks: Chunk[] = []
  for (let at = signature.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) })
    at += length + 12
  }
  return chunks
}

function write(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

function paeth(a: number, b: number, c: number): number {
  const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)]
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c
}

/** The pixels' bytes without the rows' filters (PNG specification, section 9). */
function unfilter(raw: Buffer, height: number, stride: number, depth: number): Buffer {
  const pixels = Buffer.alloc(height * stride)
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)]
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x
      const left = x >= depth ? (pixels[at - depth] ?? 0) : 0
      const up = y > 0 ? (pixels[at - stride] ?? 0) : 0
      const corner = x >= depth && y > 0 ? (pixels[at - stride - depth] ?? 0) : 0
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0
      pixels[at] = (raw[y * (stride + 1) + 1 + x] ?? 0) + guess
    }
  }
  return pixels
}

function distance(a: number, b: number): number {
  const [r, g, blue] = [(a >> 16) - (b >> 16), ((a >> 8) & 255) - ((b >> 8) & 255), (a & 255) - (b & 255)]
  return r * r + g * g + blue * blue
}

/** A browser's screenshot in the 256 colours that it has most of: a page has few, and the file is a third as large. */
export function reduce(png: Buffer): Buffer {
  const chunks = chunksOf(png)
  const header = chunks.find(({ type }) => type === 'IHDR')?.data
  if (!header) throw new Error('not a PNG')
  const [width, height, depth] = [header.readUInt32BE(0), header.readUInt32BE(4), header[9] === 6 ? 4 : 3]
  const raw = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)))
  const pixels = unfilter(raw, height, width * depth, depth)
  const colours = Array.from({ length: width * height }, (_, i) => pixels.readUIntBE(i * depth, 3))
  const counts = new Map<number, number>()
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const palette = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, mostColours)
    .map(([colour]) => colour)
  const nearest = new Map(palette.map((colour, i) => [colour, i]))
  for (const colour of counts.keys()) {
    if (nearest.has(colour)) continue
    nearest.set(
      colour,
      palette.reduce((best, one, i) => (distance(one, colour) < distance(palette[best] ?? 0, colour) ? i : best), 0)
    )
  }
  const rows = Buffer.alloc(height * (width + 1))
  colours.forEach((colour, i) => {
    rows[Math.floor(i / width) * (width + 1) + 1 + (i % width)] = nearest.get(colour) ?? 0
  })
  const indexed = Buffer.from(header)
  indexed[9] = 3
  return Buffer.concat([
    signature,
    write('IHDR', indexed),
    write('PLTE', Buffer.concat(palette.map((colour) => Buffer.from([colour >> 16, (colour >> 8) & 255, colour & 255])))),
    write('IDAT', deflateSync(rows, { level: 9 })),
    write('IEND', Buffer.alloc(0))
  ])
}
