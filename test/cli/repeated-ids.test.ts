import { spawnSync } from 'node:child_process'
import t from 'tap'
import { smallDisk } from '../small-disk.ts'

t.test('where the folder for temporary files is full, it is said once that ids are not noticed any more', (t) => {
  const disk = smallDisk(t, 1)
  if (!disk) {
    t.pass('', { skip: 'needs the right to mount a disk' })
    return t.end()
  }
  // More than the memory of the database and the disk hold together.
  const program = `
    const { RepeatedIds } = await import(${JSON.stringify(new URL('../../cli/import/repeated-ids.ts', import.meta.url).href)})
    const ids = new RepeatedIds()
    const notes = []
    for (let i = 0; i < 400_000; i++) notes.push(ids.enter('x'.repeat(50) + i, i + 1))
    notes.push(ids.enter('x'.repeat(50) + 0, 9))
    ids.close()
    console.log(JSON.stringify(notes.filter((note) => note !== undefined)))`
  // SQLite looks at the setting once in a process.
  const env = { ...process.env, SQLITE_TMPDIR: disk.folder }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8', env })
  t.equal(status, 0, stderr)
  const notes: readonly string[] = JSON.parse(stdout)
  t.equal(notes.length, 1)
  t.match(notes, [/^From here on, ids that come twice are not noticed: the temporary file in /])
  t.end()
})
