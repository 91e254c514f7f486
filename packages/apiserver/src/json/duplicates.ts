import { endOfString, extentOf, MAXIMUM_STRICT_ERRORS } from "../bounds.ts";
import { isRecord } from "./json.ts";

const DUPLICATES = Symbol("fields given twice");

/** Remembers with a parsed body what in it was given twice; copies of the body do not know. */
export function rememberDuplicates(body: unknown, found: readonly string[]): void {
  if (found.length > 0 && isRecord(body)) Object.defineProperty(body, DUPLICATES, { value: found });
}

/** What of a parsed body was given twice, in the words of the decoder. */
export function duplicatesOf(body: object): readonly string[] {
  return (body as { [DUPLICATES]?: readonly string[] })[DUPLICATES] ?? [];
}

/**
 * Paths of fields that a JSON text gives more than once: `duplicate field "data.a"`. Costs next to nothing when there
 * are none.
 */
export function duplicateFields(text: string, parsed: unknown): string[] {
  if (marksOf(text) === extentOf(parsed).keys) return [];
  const found = new Set<string>();
  for (const { frame } of repeated(text)) {
    found.add(placeOf(frame));
    if (found.size === MAXIMUM_STRICT_ERRORS) break;
  }
  return Array.from(found, (path) => `duplicate field ${JSON.stringify(path)}`);
}

/** The same as go-yaml reports them of JSON in a YAML body: by line and key. */
export function duplicateKeys(text: string, parsed: unknown): string[] {
  if (marksOf(text) === extentOf(parsed).keys) return [];
  const found: string[] = [];
  let [line, from] = [1, 0];
  for (const { frame, at } of repeated(text)) {
    for (; from < at; from += 1) if (text.charAt(from) === "\n") line += 1;
    found.push(`line ${line}: key ${JSON.stringify(frame.key)} already set in map`);
    if (found.length === MAXIMUM_STRICT_ERRORS) break;
  }
  return found;
}

/** How often a quote is followed by a colon: at least once for each key. */
function marksOf(text: string): number {
  let count = 0;
  for (let at = text.indexOf('":'); at >= 0; at = text.indexOf('":', at + 2)) count += 1;
  return count;
}

interface Frame {
  readonly path: string;
  /** The keys so far; undefined in a list. */
  readonly keys: Set<string> | undefined;
  index: number;
  key: string;
}

interface Repeated {
  /** Where the key is. */
  readonly frame: Frame;
  readonly at: number;
}

/** Walks the tokens of a text that is known to be JSON: each key that its object has already. */
function* repeated(text: string): Generator<Repeated> {
  const frames: Frame[] = [];
  let [last, start] = ["", 0];
  for (let at = 0; at < text.length; at += 1) {
    const token = text.charAt(at);
    const top = frames.at(-1);
    if (token === '"') {
      start = at;
      at = endOfString(text, at);
      last = text.slice(start, at + 1);
    } else if (token === "{" || token === "[") {
      const path = top ? placeOf(top) : "";
      frames.push({ path, keys: token === "{" ? new Set() : undefined, index: 0, key: "" });
    } else if (token === "}" || token === "]") frames.pop();
    else if (token === "," && top) top.index += 1;
    else if (token === ":" && top?.keys) {
      top.key = JSON.parse(last) as string;
      if (top.keys.has(top.key)) yield { frame: top, at: start };
      top.keys.add(top.key);
    }
  }
}

function placeOf({ path, keys, index, key }: Frame): string {
  if (!keys) return `${path}[${index}]`;
  return path === "" ? key : `${path}.${key}`;
}
