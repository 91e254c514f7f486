/*
 * Our API server with worker processes, in a process that makes as many logical clusters as its parent says, on a state
 * folder: `node server-child.js DIR`. JavaScript, and from the bundle, as the causeway command is (bundled.js).
 */
import { flushCompileCache } from "node:module";
import { bundled, keepCompiled } from "@causeway/causeway/bundled";

/** @param {import("./ours.ts").Said} said */
function say(said) {
  process.send?.(said);
}

process.once("disconnect", () => process.exit());
keepCompiled(process.env);
const { startApiServer } = /** @type {typeof import("@causeway/apiserver")} */ (
  await import(bundled("apiserver") ?? "@causeway/apiserver")
);
const server = await startApiServer({ dir: process.argv[2] ?? "", isolation: {} });
flushCompileCache();
say({ is: "ready" });
process.on("message", (/** @type {number} */ count) => {
  void (async () => {
    const milliseconds = [];
    for (let i = 0; i < count; i += 1) {
      const begun = performance.now();
      await server.ensureCluster(`tenant-${i}`);
      milliseconds.push(performance.now() - begun);
    }
    say({ is: "made", milliseconds, workers: server.workers.map(({ pid }) => pid) });
  })();
});
