import { createInterface } from "node:readline/promises";

/** Asks on standard error and reads y or yes from the terminal; undefined if standard input is no terminal. */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `, { signal })).trim());
  } finally {
    terminal.close();
  }
}
