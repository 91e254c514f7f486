/**
 * Levels of objects and lists that a body may have. kube-apiserver accepts 10,000; its goroutines have growing stacks,
 * and this process has one of a fixed size. Every walk over an object here has to hold with this many levels.
 */
export const MAXIMUM_DEPTH = 500;

/**
 * Bytes of a request body, as kube-apiserver limits them; also what copies of a JSON patch may add, and what a patched
 * object may have.
 */
export const MAXIMUM_BODY = 3 * 1024 * 1024;

/** As many unknown fields and fields given twice as Go's strict decoder reports of one body. */
export const MAXIMUM_STRICT_ERRORS = 100;

/** What opens the first level beyond those that a body may have in a JSON text; "" when there is none. */
export function excessOf(text: string): string {
  if (text.length <= MAXIMUM_DEPTH) return "";
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      if (depth > MAXIMUM_DEPTH) return text.charAt(at);
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
  }
  return "";
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Where the string that begins at a quote ends: at its last quote, or at the end of the text. */
export function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return at;
}

/** How large a JSON value is. */
export interface Extent {
  /** Keys of all objects in it. */
  readonly keys: number;
  /** Levels of objects and lists; no more than one beyond the limit are counted. */
  readonly depth: number;
  /** About as many bytes as its JSON text has; counting ends soon after the limit. */
  readonly bytes: number;
}

/**
 * Measures a value level by level, without recursion. A value that several places share counts in each of them, as its
 * text would. Ends early when the value is beyond one of the limits.
 */
export function extentOf(value: unknown, limit = Infinity): Extent {
  let [keys, depth, bytes] = [0, 0, scalarBytes(value)];
  let level: object[] = typeof value === "object" && value !== null ? [value] : [];
  while (level.length > 0 && depth <= MAXIMUM_DEPTH && bytes <= limit) {
    depth += 1;
    const next: object[] = [];
    for (const container of level) {
      const isList = Array.isArray(container);
      if (!isList) {
        for (const key of Object.keys(container)) {
          keys += 1;
          bytes += key.length + 3;
        }
      }
      for (const child of isList ? (container as unknown[]) : Object.values(container)) {
        bytes += 1 + scalarBytes(child);
        if (typeof child === "object" && child !== null) next.push(child);
      }
      if (bytes > limit) break;
    }
    level = next;
  }
  return { keys, depth, bytes };
}

/** About as many bytes as the JSON text of a value has without its members. */
export function scalarBytes(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  return typeof value === "number" ? 8 : typeof value === "object" && value !== null ? 2 : 4;
}

/**
 * Characters of a field's path that messages show: a path has as many levels as the body, each with a key of any
 * length.
 */
const MAXIMUM_PATH = 1000;

/** A path with one step more; one that is as long as messages show remains as it is. */
export function extended(path: string, step: string): string {
  if (path.length >= MAXIMUM_PATH) return path;
  return path + (step.length > MAXIMUM_PATH ? `${step.slice(0, MAXIMUM_PATH)}...` : step);
}

/** A text cut after so many characters. */
export function cutText(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit)}...` : text;
}

/** JSON of a value, cut after so many characters: what messages show of a value must not grow with it. */
export function cutJson(value: unknown, limit: number): string {
  if (extentOf(value, limit).bytes <= limit) return JSON.stringify(value ?? null);
  let left = limit;
  // Members beyond the limit are left out, so that no more text is made than is shown.
  const text = JSON.stringify(value, (key: string, member: unknown) => {
    left -= key.length + 4;
    if (left <= 0) return undefined;
    if (typeof member !== "string") return Array.isArray(member) ? member.slice(0, left) : member;
    left -= member.length;
    return left > 0 ? member : member.slice(0, member.length + left);
  });
  return `${text.slice(0, limit)}...`;
}
