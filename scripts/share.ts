import { readdirSync } from "node:fs";

/**
 * The test files of a folder, relative to the project. With CAUSEWAY_SHARE=K/N only the K-th of every N, in the order of their names,
 * and those of `always`: so several runs share what one would take too long for.
 */
export function shareOf(folder: string, always: readonly string[] = []): string[] {
  const [turn = 1, of = 1] = (process.env["CAUSEWAY_SHARE"] ?? "1/1").split("/").map(Number);
  const files = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
  const rotating = files.filter((name) => !always.includes(name)).sort();
  return [...always, ...rotating.filter((_, index) => index % of === turn - 1)].map((name) => `${folder}/${name}`);
}
