// In a file of its own, so that tests can replace it.

/** Resolves after some milliseconds. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
