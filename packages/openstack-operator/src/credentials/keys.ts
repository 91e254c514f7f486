import { randomBytes } from "node:crypto";

/**
 * Fernet keys as Keystone numbers them: 0 is staged, the highest signs, the others verify. A rotation makes the staged
 * key the signing one; every Keystone has had it since the rotation before, so that none meets a token that it cannot
 * verify.
 */
export type FernetKeys = Readonly<Record<string, string>>;

/** 32 random bytes in URL-safe base64, with its padding, as Fernet writes keys. */
export const newFernetKey = (): string => randomBytes(32).toString("base64url") + "=".repeat(1);

/** The keys of a new repository: one is staged, one signs. */
export function firstKeys(make: () => string = newFernetKey): FernetKeys {
  return { "0": make(), "1": make() };
}

/** The keys after one rotation; the oldest are dropped, so that at most `kept` remain. */
export function rotatedKeys(keys: FernetKeys, kept: number, make: () => string = newFernetKey): FernetKeys {
  const numbers = Object.keys(keys)
    .map(Number)
    .toSorted((a, b) => a - b);
  const highest = numbers.at(-1) ?? 0;
  const staged = keys["0"] ?? make();
  const verifying = numbers.filter((number) => number !== 0);
  const stay = verifying.slice(Math.max(0, verifying.length - (kept - 2)));
  return {
    "0": make(),
    ...Object.fromEntries(stay.map((number) => [String(number), keys[String(number)] ?? ""])),
    [String(highest + 1)]: staged,
  };
}
