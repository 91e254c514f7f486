/** Our API server as a process of its own, on a state folder: `node server-child.ts DIR`. A number that its parent sends makes so many logical clusters. */
import { startApiServer } from "@causeway/apiserver";
import type { KeyPair } from "@causeway/foundation";

export const SERVER_CHILD = import.meta.filename;

export type Said =
  | { readonly is: "ready"; readonly url: string; readonly authority: KeyPair }
  | { readonly is: "made"; readonly milliseconds: readonly number[] };

function say(said: Said): void {
  process.send?.(said);
}

if (import.meta.main) {
  process.once("disconnect", () => process.exit());
  const server = await startApiServer({ dir: process.argv[2] ?? "" });
  say({ is: "ready", url: server.management.url, authority: server.management.authority });
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
