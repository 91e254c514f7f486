/** metadata={'key': 'value'}, as the clients send it. */
export function pairsFit(has: Readonly<Record<string, string>>, wanted: string): boolean {
  const pairs = [...wanted.matchAll(/['"]([^'"]*)['"]\s*:\s*u?['"]([^'"]*)['"]/g)];
  return pairs.every(([, key = "", value]) => has[key] === value);
}
