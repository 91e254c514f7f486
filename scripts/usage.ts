import { readFileSync } from "node:fs";

/** The comment that a program begins with, as text: what it does, and its arguments. */
export function usageOf(file: string): string {
  const [, comment = ""] = /^\/\*\*\s([\s\S]*?)\*\//.exec(readFileSync(file, "utf8")) ?? [];
  return comment
    .split("\n")
    .map((line) => line.replace(/^ \* ?/, ""))
    .join("\n")
    .trim();
}

/** Prints the usage of a program where it is requested, before anything is built or started. */
export function usageShown(file: string, args: readonly string[] = process.argv.slice(2)): boolean {
  if (!args.some((arg) => arg === "--help" || arg === "-h")) return false;
  console.log(usageOf(file));
  return true;
}
