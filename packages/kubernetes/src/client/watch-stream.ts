import { CausewayError, LimitExceeded, parseBoundedJson } from "@causeway/foundation";
import type { KubeObject } from "../types/meta.ts";
import { isStatus, refused, type RequestFacts } from "./errors.ts";
import type { WatchEvent } from "./interface.ts";

/** Bytes of one line: an event with the largest object that etcd holds, several times over. */
const LONGEST_LINE = 16 * 1024 * 1024;
const DEEPEST = 10_000;

/**
 * Splits a byte stream at newlines. A last line without a newline was cut off, and is dropped. Throws LimitExceeded for
 * a line that is too long.
 */
export async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const iterator = chunks[Symbol.asyncIterator]();
  const splitter = new Splitter();
  try {
    for (;;) {
      const found = await splitter.next(iterator);
      if (found === undefined) return;
      for (let line = found.shift(); line !== undefined; line = found.shift()) yield line;
    }
  } finally {
    await iterator.return?.();
  }
}

/**
 * The part of a line that was received. A generator that waits keeps all of its variables, also those out of scope: a
 * silent watch would keep what it received last, with the memory that was received together with it.
 */
class Splitter {
  #held: Buffer[] = [];
  #size = 0;

  /** The lines that end in the next piece; undefined after the last piece. */
  async next(iterator: AsyncIterator<Uint8Array>): Promise<string[] | undefined> {
    const { done, value } = await iterator.next();
    return done === true ? undefined : this.#split(value);
  }

  #split(chunk: Uint8Array): string[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const found: string[] = [];
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      const tail = bytes.subarray(start, end);
      const line = this.#held.length === 0 ? tail : Buffer.concat([...this.#held, tail]);
      this.#held = [];
      this.#size = 0;
      start = end + 1;
      if (line.length > 0) found.push(line.toString("utf8"));
    }
    if (start < bytes.length) this.#hold(bytes.subarray(start));
    return found;
  }

  #hold(rest: Buffer): void {
    this.#size += rest.length;
    if (this.#size > LONGEST_LINE) throw new LimitExceeded("bytes", LONGEST_LINE);
    this.#held.push(rest);
  }
}

/** One line of a watch. An ERROR event (410 Gone above all) is thrown as the refusal it represents. */
export function parseWatchEvent<T extends KubeObject>(line: string, facts: RequestFacts): WatchEvent<T> {
  const event = parse(line, facts);
  switch (event.type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type: event.type, object: event.object as T };
    case "BOOKMARK":
      return { type: "BOOKMARK", resourceVersion: event.object.metadata?.resourceVersion ?? "" };
    case "ERROR":
      throw refused(isStatus(event.object) ? (event.object.code ?? 500) : 500, event.object, facts);
    default:
      throw malformed(facts);
  }
}

interface WireEvent {
  readonly type?: unknown;
  readonly object: { readonly metadata?: { readonly resourceVersion?: string } };
}

function parse(line: string, facts: RequestFacts): WireEvent {
  let parsed: unknown;
  try {
    parsed = parseBoundedJson(line, DEEPEST);
  } catch (error) {
    if (error instanceof LimitExceeded) throw error;
    throw malformed(facts);
  }
  const object = (parsed as { object?: unknown } | null)?.object;
  if (typeof object !== "object" || object === null) throw malformed(facts);
  return parsed as WireEvent;
}

function malformed(facts: RequestFacts): CausewayError {
  return new CausewayError(
    "KUBERNETES_MALFORMED_ANSWER",
    `${facts.method} ${facts.path} returned something that is not a watch event`,
    {
      hint: "Check that the server's address leads to a Kubernetes API server and not to another web server.",
      details: { ...facts },
    },
  );
}
