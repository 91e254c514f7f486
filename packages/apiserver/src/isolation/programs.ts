import { fileURLToPath } from "node:url";

/**
 * The file that a worker process or a watchdog thread runs: of the bundle if this is part of it, else next to this
 * file.
 */
export function programOf(name: "worker" | "watchdog"): string {
  const [, extension] = /\/programs\.([jt]s)$/.exec(import.meta.url) ?? [];
  const own = { worker: `./worker-main.${extension}`, watchdog: "./watchdog-thread.js" };
  return fileURLToPath(new URL(extension === undefined ? `./${name}.js` : own[name], import.meta.url));
}
