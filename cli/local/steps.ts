import yoctoSpinner from 'yocto-spinner'

/** The steps of a start, as a person sees them. */
export type Steps = {
  /** Shows what is being done. */
  readonly begin: (text: string) => void
  /** Says what was done. */
  readonly end: (text: string) => void
  /** Removes what `begin` has shown. */
  readonly clear: () => void
}

/** Shows steps on standard error: a spinner and a check mark on a terminal, otherwise a line for each that is done. */
export function showSteps(): Steps {
  if (!process.stderr.isTTY) return { begin: () => {}, end: (text) => console.error(text), clear: () => {} }
  const spinner = yoctoSpinner({ handleSignals: false })
  const clear = () => void spinner.stop()
  // emulator/main.ts ends the process on signals. The spinner hides the cursor.
  process.on('exit', clear)
  return {
    begin: (text) => {
      if (spinner.isSpinning) spinner.text = text
      else spinner.start(text)
    },
    end: (text) => void spinner.success(text),
    clear,
  }
}
