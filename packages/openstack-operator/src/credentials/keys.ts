import { randomBytes } from "node:crypto";

/**
 * Fernet keys as Keystone numbers them: the highest signs, and all verify. The lowest ones wait for their turn: a
 * rotation makes the highest of these the signing one. Every Keystone has had it for a while by then, so that none
 * meets a token that it cannot verify.
 */
export type FernetKeys = Readonly<Record<string, string>>;

/** 32 random bytes in URL-safe base64, with its padding, as Fernet writes keys. */
export const newFernetKey = (): string => randomBytes(32).toString("base64url") + "=".repeat(1);

/** The keys of a new repository: some wait, one signs. */
export function firstKeys(make: () => string = newFernetKey, staged = 1): FernetKeys {
  return numbered(Array.from({ length: staged + 1 }, make), 0);
}

/** How many keys wait before and after a rotation. */
export interface StagedCounts {
  readonly before: number;
  readonly after: number;
}

/** The keys after one rotation; the oldest are dropped, so that at most `kept` remain. */
export function rotatedKeys(
  keys: FernetKeys,
  kept: number,
  { before, after }: StagedCounts = { before: 1, after: 1 },
  make: () => string = newFernetKey,
): FernetKeys {
  const numbers = Object.keys(keys)
    .map(Number)
    .toSorted((a, b) => a - b);
  const waiting = numbers.slice(0, before).map((number) => keys[String(number)] ?? "");
  const verifying = numbers.slice(before).map((number) => keys[String(number)] ?? "");
  const signing = waiting.pop() ?? make();
  // The newest is the last in the row.
  const missing = Math.max(0, after - waiting.length);
  const staged = [...Array.from({ length: missing }, make), ...waiting].slice(-after);
  const stay = verifying.slice(Math.max(0, verifying.length - (kept - after - 1)));
  const highest = Math.max((numbers.at(-1) ?? 0) + 1, after + stay.length);
  return { ...numbered(staged, 0), ...numbered([...stay, signing], highest - stay.length) };
}

const numbered = (keys: readonly string[], first: number): FernetKeys =>
  Object.fromEntries(keys.map((key, index) => [String(first + index), key]));
