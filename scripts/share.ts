import { globSync } from "node:fs";

/**
 * The test files that the patterns name (a folder represents its `*.test.ts`), relative to the project. With
 * CAUSEWAY_SHARE=K/N only the K-th of every N, in the order of their names, and those of `always`, by the end of their
 * path: so several runs share what one would take too long for.
 */
export function shareOf(patterns: string | readonly string[], always: readonly string[] = []): string[] {
  const [turn = 1, of = 1] = (process.env["CAUSEWAY_SHARE"] ?? "1/1").split("/").map(Number);
  const globs = [patterns].flat().map((pattern) => (pattern.endsWith(".ts") ? pattern : `${pattern}/*.test.ts`));
  const files = [...new Set(globSync(globs))].sort();
  const fixed = (file: string): boolean => always.some((name) => file.endsWith(`/${name}`));
  return [
    ...files.filter(fixed),
    ...files.filter((file) => !fixed(file)).filter((_, index) => index % of === turn - 1),
  ];
}
