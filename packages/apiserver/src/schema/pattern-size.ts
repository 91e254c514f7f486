/**
 * Instructions of the largest program that a pattern may become. A program takes half a kilobyte for each of them, and
 * microseconds to compile.
 */
export const MAXIMUM_PROGRAM = 20_000;
/** Characters of a pattern. */
export const MAXIMUM_PATTERN = 10_000;
/** What a class of Unicode takes, of which there are hundreds of ranges. */
const UNICODE_CLASS = 50;

/**
 * About how many instructions a pattern becomes, read from its text before anything is compiled: counted repetitions
 * are written out, and those within others multiply. Counting ends at the limit; what is no pattern has a size, too.
 */
export function patternSize(pattern: string): number {
  /** Sizes of the groups that are open, and of the last atom of each. */
  const groups = [{ size: 1, last: 0 }];
  let at = 0;
  const add = (size: number): void => {
    const group = groups.at(-1);
    if (group) Object.assign(group, { size: Math.min(group.size + size, MAXIMUM_PROGRAM + 1), last: size });
  };
  while (at < pattern.length) {
    const char = pattern.charAt(at);
    const token = TOKEN.exec(pattern.slice(at, at + LONGEST))?.[0] ?? char;
    if (char === "(") groups.push({ size: 1, last: 0 });
    else if (char === ")" && groups.length > 1) add((groups.pop()?.size ?? 0) + 1);
    else if (char === "[") at = addClass(pattern, at, add) - token.length;
    else if (char === "{" && token.length > 1) repeat(groups.at(-1), token, add);
    else add(/^\\[pP]/.test(token) ? UNICODE_CLASS : 1);
    at += token.length;
  }
  return groups.reduce((total, { size }) => total + size, 0);
}

const LONGEST = 64;
const TOKEN = /^(?:\\[pP]\{[^}]*\}|\\[pP].|\\Q|\\.|\{\d{1,9}(?:,\d{0,9})?\}|.)/s;

function repeat(group: { readonly last: number } | undefined, token: string, add: (size: number) => void): void {
  const [least = 0, most = least + 1] = token.slice(1, -1).split(",").map(Number);
  // The atom itself is counted already, and counts once more for what follows.
  if (group) add(group.last * Math.max(least, most, 1));
}

/** Passes over a class of characters; returns where it ends. */
function addClass(pattern: string, start: number, add: (size: number) => void): number {
  let size = 1;
  let at = start + 1;
  if (pattern.charAt(at) === "^") at += 1;
  if (pattern.charAt(at) === "]") at += 1;
  for (; at < pattern.length && pattern.charAt(at) !== "]"; at += 1) {
    if (pattern.startsWith("[:", at)) at = Math.max(pattern.indexOf(":]", at) + 1, at);
    if (pattern.charAt(at) !== "\\") continue;
    at += 1;
    if (/[pPwWdDsS]/.test(pattern.charAt(at))) size = UNICODE_CLASS;
  }
  add(size);
  return at + 1;
}
