import { fileURLToPath } from "node:url";

/** The file that a worker process runs: of the bundle if this module is part of it, else of the sources. */
export function workerProgram(): string {
  const isSource = import.meta.url.endsWith("/program.ts");
  return fileURLToPath(new URL(isSource ? "./worker-main.ts" : "./worker.js", import.meta.url));
}
