/** As sets, whatever their order. */
export function sameSet(a: readonly string[], b: readonly string[]): boolean {
  const [one, other] = [new Set(a), new Set(b)];
  return one.size === other.size && [...one].every((x) => other.has(x));
}
