/** What was read is larger, or nested deeper, than its reader takes. */
export class LimitExceeded extends Error {
  readonly limit: number;
  readonly is: "bytes" | "depth";

  constructor(is: LimitExceeded["is"], limit: number) {
    super(is === "bytes" ? `it is larger than ${shownBytes(limit)}` : `it is nested more than ${limit} deep`);
    this.is = is;
    this.limit = limit;
  }
}

function shownBytes(bytes: number): string {
  const mebibytes = bytes / 2 ** 20;
  return mebibytes >= 1 ? `${Number(mebibytes.toFixed(1))} MiB` : `${bytes} bytes`;
}

/**
 * All of a stream, which ends when it is larger than `limit` bytes: then LimitExceeded is thrown, and no more than that
 * has been held.
 *
 * @example
 * const text = (await readBounded(response.body, 1024 * 1024)).toString("utf8");
 */
export async function readBounded(chunks: AsyncIterable<Uint8Array>, limit: number): Promise<Buffer> {
  const held: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    // Leaving the loop destroys the stream, and with it the connection.
    if (size > limit) throw new LimitExceeded("bytes", limit);
    held.push(chunk);
  }
  return Buffer.concat(held, size);
}

/** Characters of a line at most: what follows is left out. */
const LONGEST_LINE = 64 * 1024;

/**
 * Those lines of a text that are wanted. Memory is what is kept and a chunk, whatever else the text has. Throws
 * LimitExceeded where more is sent than `limit` bytes.
 */
export async function readLines(
  chunks: AsyncIterable<Uint8Array>,
  limit: number,
  isWanted: (line: string) => boolean,
): Promise<string[]> {
  const kept: string[] = [];
  const decoder = new TextDecoder();
  let [size, rest] = [0, ""];
  const keep = (line: string): void => {
    if (isWanted(line)) kept.push(line);
  };
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw new LimitExceeded("bytes", limit);
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = (lines.pop() ?? "").slice(0, LONGEST_LINE);
    for (const line of lines) keep(line.slice(0, LONGEST_LINE));
  }
  if (rest !== "") keep(rest);
  return kept;
}

/** The beginning of a stream, at most `limit` bytes; the rest is not read. For texts that only people read. */
export async function readBeginning(chunks: AsyncIterable<Uint8Array>, limit: number): Promise<Buffer> {
  const held: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    held.push(chunk.subarray(0, limit - size));
    size += chunk.length;
    if (size >= limit) break;
  }
  return Buffer.concat(held);
}

/**
 * JSON.parse for text from outside. Throws LimitExceeded where it is nested deeper than `depth`: recursion over it
 * would fail later.
 */
export function parseBoundedJson(text: string, depth: number): unknown {
  if (depthOf(text) > depth) throw new LimitExceeded("depth", depth);
  return JSON.parse(text) as unknown;
}

/**
 * How deep arrays and objects are nested. Text in quotes is skipped; for text that is not JSON the result has no
 * meaning.
 */
function depthOf(text: string): number {
  let deepest = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
    }
  }
  return deepest;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The place of the quote that closes the string which begins at `start`; the text's end when none does. */
function endOfString(text: string, start: number): number {
  let end = start;
  do {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
  } while (isEscaped(text, start, end));
  return end;
}

/** An odd number of backslashes precedes it. Each is counted for one quote only, so that the time is linear. */
function isEscaped(text: string, start: number, at: number): boolean {
  let count = 0;
  while (at - 1 - count > start && text.charCodeAt(at - 1 - count) === BACKSLASH) count += 1;
  return count % 2 === 1;
}
