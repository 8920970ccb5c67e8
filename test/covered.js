/**
 * Which files a test counts for in the coverage. `npm test` counts all but the PostgreSQL store, which it never opens
 * (.taprc leaves it out). With a PostgreSQL to run on, that store counts, and the domain's decisions: on SQLite a thread
 * makes them, which the coverage does not see.
 */
export default () => (process.env.TEST_DATABASE_URL === undefined ? [] : ['stores/postgres/*.ts', 'domain/*.ts'])
