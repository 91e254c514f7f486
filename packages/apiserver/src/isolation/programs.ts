import { fileURLToPath } from "node:url";

const SOURCES = { worker: "./worker-main.ts", watchdog: "./watchdog-thread.js" } as const;

/** The file that a worker process or a watchdog thread runs: of the bundle if this is part of it, else of the sources. */
export function programOf(name: keyof typeof SOURCES): string {
  const isSource = import.meta.url.endsWith("/programs.ts");
  return fileURLToPath(new URL(isSource ? SOURCES[name] : `./${name}.js`, import.meta.url));
}
