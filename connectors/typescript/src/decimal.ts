/**
 * Returns the text of a rate or weight as the service sends it, with four decimals: `33.3000` for 33.3. Sums of weights get
 * their exact text back, too. Exact for values below 10^11.
 */
export const decimalText = (value: number): string => value.toFixed(4)
