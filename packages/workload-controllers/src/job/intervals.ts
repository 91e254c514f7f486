/** Reads a list of indexes such as "0,2-4". What is no number, and what is not below `limit`, is left out. */
export function parseIndexes(text: string | undefined, limit: number): Set<number> {
  const indexes = new Set<number>();
  for (const part of text ? text.split(",") : []) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!match) continue;
    const last = Math.min(Number(match[2] ?? match[1]), limit - 1);
    for (let index = Number(match[1]); index <= last; index++) indexes.add(index);
  }
  return indexes;
}

/** Writes indexes in order, three or more in a row as a range. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].toSorted((a, b) => a - b);
  const parts: string[] = [];
  for (let start = 0; start < sorted.length;) {
    let end = start;
    while (sorted[end + 1] === (sorted[end] ?? 0) + 1) end++;
    if (end === start) parts.push(String(sorted[start]));
    else if (end === start + 1) parts.push(`${sorted[start]},${sorted[end]}`);
    else parts.push(`${sorted[start]}-${sorted[end]}`);
    start = end + 1;
  }
  return parts.join(",");
}
