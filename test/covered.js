/**
 * Which files a test counts for in the coverage: all of them, but with a PostgreSQL to run on only its store, which
 * `npm test` never opens (.taprc leaves it out there).
 */
export default () => (process.env.TEST_DATABASE_URL === undefined ? [] : ['stores/postgres/*.ts'])
