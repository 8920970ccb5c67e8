import { backup } from './backup.ts'
import type { Command } from './command.ts'
import { config } from './config.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { keysCreate } from './keys-create.ts'
import { keysList } from './keys-list.ts'
import { keysRevoke } from './keys-revoke.ts'
import { migrate } from './migrate.ts'

/** All commands, as the help lists them. */
export const commands: readonly Command[] = [keysCreate, keysList, keysRevoke, importCommand, exportCommand, backup, migrate, config]
