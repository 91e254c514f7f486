/** Our API server as a process of its own, on a state folder: `node server-child.ts DIR`. A number that its parent sends makes so many logical clusters. */
import { mkdirSync } from "node:fs";
import { enableCompileCache, flushCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

export const SERVER_CHILD = import.meta.filename;

export type Said =
  | { readonly is: "ready"; readonly url: string }
  | { readonly is: "made"; readonly milliseconds: readonly number[] };

function say(said: Said): void {
  process.send?.(said);
}

if (import.meta.main) {
  process.once("disconnect", () => process.exit());
  // As the causeway program does.
  const compiled = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "causeway", "compiled");
  mkdirSync(compiled, { recursive: true, mode: 0o700 });
  enableCompileCache(compiled);
  const { startApiServer } = await import("@causeway/apiserver");
  const server = await startApiServer({ dir: process.argv[2] ?? "" });
  flushCompileCache();
  say({ is: "ready", url: server.management.url });
  process.on("message", (count: number) => {
    void (async () => {
      const milliseconds: number[] = [];
      for (let i = 0; i < count; i += 1) {
        const begun = performance.now();
        await server.ensureCluster(`tenant-${i}`);
        milliseconds.push(performance.now() - begun);
      }
      say({ is: "made", milliseconds });
    })();
  });
}
