/** An error whose message tells the person who runs a command what to do. The command prints it without a stack. */
export class UsageError extends Error {}
