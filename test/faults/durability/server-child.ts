/**
 * The API server as a process of its own, for tests that kill it. It loads its modules, says "loaded", and starts the
 * server when its parent sends the state folder; then it says where it is reached. It ends with its parent.
 */
import { flushCompileCache } from "node:module";
import { startApiServer } from "@causeway/apiserver";
import { messageOf, type KeyPair } from "@causeway/foundation";
import { GADGETS } from "./collections.ts";

export const SERVER_CHILD = import.meta.filename;

export type Said =
  | { readonly is: "loaded" }
  | { readonly is: "ready"; readonly url: string; readonly management: KeyPair; readonly blue: KeyPair }
  | { readonly is: "failed"; readonly reason: string };

async function serve(dir: string): Promise<Said> {
  try {
    const server = await startApiServer({ dir, crds: [GADGETS] });
    const blue = await server.ensureCluster("blue");
    return { is: "ready", url: server.management.url, management: server.management.authority, blue: blue.authority };
  } catch (error) {
    return { is: "failed", reason: messageOf(error) };
  }
}

function say(said: Said): void {
  process.send?.(said);
}

if (import.meta.main) {
  process.once("message", (dir: string) => {
    void serve(dir).then(say);
  });
  process.once("disconnect", () => process.exit());
  // It will be killed, and what Node compiled for it is to be there for the next.
  flushCompileCache();
  say({ is: "loaded" });
}
