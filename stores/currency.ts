/** Why a store is not opened with a currency that its prices do not have. */
export function otherCurrency(kept: string, wanted: string): RangeError {
  return new RangeError(
    `the prices in this database are in ${kept}, and CURRENCY is ${wanted}: set CURRENCY=${kept}, or begin a new database for ${wanted}`
  )
}
