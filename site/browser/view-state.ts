import type { ChartState } from '../charts/chart.ts'

/** Writes what the reader chose in a chart as parameters of the address. */
export function writeState({ split, unit, off, zoom }: ChartState): URLSearchParams {
  const values = [
    ['lines', split ?? ''],
    ['points', unit ?? ''],
    ['zoom', zoom ? `${zoom.from}/${zoom.to}` : ''],
    ...[...off].map((name) => ['off', name]),
  ]
  return new URLSearchParams(values.filter(([, value]) => value !== ''))
}

/** Reads what {@link writeState} wrote. */
export function readState(parameters: URLSearchParams): ChartState {
  const unit = parameters.get('points')
  const [from, to] = parameters.get('zoom')?.split('/') ?? []
  return {
    split: parameters.get('lines') ?? undefined,
    unit: unit === 'day' || unit === 'week' ? unit : undefined,
    off: new Set(parameters.getAll('off')),
    zoom: from && to ? { from, to } : undefined,
  }
}
