import { readFileSync } from "node:fs";
import { parseSync } from "oxc-parser";

type Parsed = ReturnType<typeof parseSync>;

const parsed = new Map<string, { readonly text: string; readonly result: Parsed }>();

/** A source and its syntax. Several checks read the same files: each is parsed once in a process. */
export function parsedFile(file: string): { readonly text: string; readonly result: Parsed } {
  const known = parsed.get(file);
  if (known) return known;
  const text = readFileSync(file, "utf8");
  const made = { text, result: parseSync(file, text) };
  parsed.set(file, made);
  return made;
}
