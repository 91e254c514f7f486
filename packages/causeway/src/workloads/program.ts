import { fileURLToPath } from "node:url";

/** The file that a worker process runs: of the bundle if this module is part of it, else next to this file. */
export function workerProgram(): string {
  const [, extension] = /\/program\.([jt]s)$/.exec(import.meta.url) ?? [];
  const file = extension === undefined ? "./worker.js" : `./worker-main.${extension}`;
  return fileURLToPath(new URL(file, import.meta.url));
}
