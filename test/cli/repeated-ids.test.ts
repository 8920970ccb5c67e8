import t from 'tap'
import { RepeatedIds } from '../../cli/import/repeated-ids.ts'
import { smallDisk } from '../small-disk.ts'

t.test('where the folder for temporary files is full, it is said once that ids are not noticed any more', (t) => {
  const disk = smallDisk(t, 1)
  if (!disk) {
    t.pass('', { skip: 'needs the right to mount a disk' })
    return t.end()
  }
  const before = process.env['SQLITE_TMPDIR']
  process.env['SQLITE_TMPDIR'] = disk.folder
  t.teardown(() => {
    if (before === undefined) delete process.env['SQLITE_TMPDIR']
    else process.env['SQLITE_TMPDIR'] = before
  })
  const repeated = new RepeatedIds()
  const notes: string[] = []
  // More than the memory of the database and the disk hold together.
  for (let i = 0; i < 400_000; i++) {
    const note = repeated.enter(`${'x'.repeat(50)}${i}`, i + 1)
    if (note !== undefined) notes.push(note)
  }
  t.equal(notes.length, 1)
  t.match(notes, [/^From here on, ids that come twice are not noticed: the temporary file in /])
  t.equal(repeated.enter(`${'x'.repeat(50)}0`, 9), undefined)
  repeated.close()
  t.end()
})
