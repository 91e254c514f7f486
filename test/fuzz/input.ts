import type { Random } from "./random.ts";

export const KINDS = [
  "json",
  "yaml",
  "json-patch",
  "merge-patch",
  "strategic-patch",
  "apply",
  "schema",
  "cel",
  "selector",
  "continue",
  "header",
  "path",
  "query",
  "protobuf",
  "review",
] as const;

export type Kind = (typeof KINDS)[number];

/** One HTTP request of an input. */
export interface Step {
  readonly method: string;
  /** Path and query. "{continue}" becomes the continue token of the previous answer. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Bytes sent as they are over HTTP/1.1; `method` and `path` are then descriptions only. */
  readonly raw?: string;
  /** The client ends the request soon after the answer has begun. */
  readonly endless?: boolean;
  /** Creates or deletes what the input needs: its cost is not judged. */
  readonly isPreparation?: boolean;
}

/** What the fuzzer sends as one: its steps in order. */
export interface Input {
  readonly kind: Kind;
  readonly index: number;
  readonly steps: readonly Step[];
}

/** Generates the steps of one input. `index` makes names unique among inputs that run at the same time. */
export type Generator = (random: Random, index: number) => Step[];

const FRAME = 100;

/** Bytes that the client sends for it, with a small allowance for the frame of each request. */
export function bytesOf(input: Pick<Input, "steps">): number {
  return input.steps.reduce((sum, step) => sum + bytesOfStep(step), 0);
}

function bytesOfStep({ path, headers = {}, body = "", raw = "" }: Step): number {
  const head = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  const content = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  return FRAME + Buffer.byteLength(path) + head + content + Buffer.byteLength(raw);
}
