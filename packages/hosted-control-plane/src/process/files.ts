import { existsSync, renameSync, writeFileSync } from "node:fs";

/** A file that is created once: whole or not at all, so that a crash leaves no part of it. */
export function writeOnce(file: string, content: () => string): void {
  if (existsSync(file)) return;
  writeFileSync(`${file}.new`, content(), { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}
