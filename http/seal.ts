import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** In bytes. */
const ivLength = 12
const tagLength = 16

/** AES-256-GCM: the browser that keeps the text can neither read nor change it. */
export function makeSeal(secret: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'tradepost session', 32))
  return {
    seal(text: string): string {
      const iv = randomBytes(ivLength)
      const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagLength })
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    /** The text, or undefined when it was not sealed with this secret, or was changed since. */
    open(sealed: string): string | undefined {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length <= ivLength + tagLength) return undefined
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivLength), { authTagLength: tagLength })
        decipher.setAuthTag(bytes.subarray(ivLength, ivLength + tagLength))
        return Buffer.concat([decipher.update(bytes.subarray(ivLength + tagLength)), decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    }
  }
}
