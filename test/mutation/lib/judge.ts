export async function judgeLib(_files: readonly string[]): Promise<number> {
  return 0
}
