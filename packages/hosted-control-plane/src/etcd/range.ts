/** All keys that begin with the prefix, in base64. */
export function rangeOf(prefix: string): { readonly key: string; readonly range_end: string } {
  const end = Buffer.from(prefix);
  const last = end.length - 1;
  end[last] = (end[last] ?? 0) + 1;
  return { key: Buffer.from(prefix).toString("base64"), range_end: end.toString("base64") };
}
