/*
 * Indexes of a job's pods as its status has them: "1,3-5". Source: Kubernetes API reference, JobStatus.
 */

interface Fragment {
  readonly from: number;
  readonly to: number;
}

interface Fragments {
  readonly list: readonly Fragment[];
  /** What is wrong with the first that is none, or with their order. */
  readonly fault?: string;
}

/** The fragments of a text; those that can be read, of indexes below `completions`. */
export function fragmentsOf(indexes: string, completions: number): Fragments {
  const list: Fragment[] = [];
  let fault: string | undefined;
  for (const part of indexes === "" ? [] : indexes.split(",")) {
    const fragment = fragmentOf(part, completions);
    if (typeof fragment === "string") {
      fault ??= fragment;
      continue;
    }
    const before = list.at(-1);
    if (before && before.to >= fragment.from) {
      fault ??= `non-increasing order, previous: ${before.to}, current: ${fragment.from}`;
    }
    list.push(fragment);
  }
  return { list, ...(fault === undefined ? {} : { fault }) };
}

/** One fragment, or what is wrong with it. */
function fragmentOf(part: string, completions: number): Fragment | string {
  const limits = part.split("-");
  if (limits.length > 2) {
    const why = "violates the requirement that an index interval can have at most two parts separated by '-'";
    return `the fragment ${JSON.stringify(part)} ${why}`;
  }
  const numbers: number[] = [];
  for (const limit of limits) {
    const shown = JSON.stringify(limit);
    if (!/^[+-]?\d+$/.test(limit)) return `cannot convert string to integer for index: ${shown}`;
    if (Number(limit) >= completions) return `too large index: ${shown}`;
    numbers.push(Number(limit));
  }
  const [from = 0, to = from] = numbers;
  const isOrdered = numbers.length < 2 || from < to;
  return isOrdered ? { from, to } : `non-increasing order, previous: ${from}, current: ${to}`;
}

/** The first index that two texts have in common. */
export function overlapOf(completed: string, failed: string, completions: number): number | undefined {
  const [done, lost] = [fragmentsOf(completed, completions).list, fragmentsOf(failed, completions).list];
  for (const a of done) {
    const b = lost.find(({ from, to }) => a.from <= to && from <= a.to);
    if (b) return Math.max(a.from, b.from);
  }
  return undefined;
}
