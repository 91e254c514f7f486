import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

/** A file that is created once: whole or not at all, so that a crash leaves no part of it. */
export function writeOnce(file: string, content: () => string): void {
  if (!existsSync(file)) replace(file, content());
}

/** A file that a program reads again when it changes: replaced as a whole, and only where its content differs. */
export function writeChanged(file: string, content: string): void {
  if (!existsSync(file) || readFileSync(file, "utf8") !== content) replace(file, content);
}

function replace(file: string, content: string): void {
  writeFileSync(`${file}.new`, content, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}
