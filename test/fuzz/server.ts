/**
 * The API server under test, in a process of its own: reports its kubeconfig to the parent, and ends with the parent.
 */
import { startApiServer } from "@causeway/apiserver";
import { createLog } from "@causeway/foundation";
import { WIDGETS } from "./widgets.ts";

/** What the server's process reports. */
export type Report = { readonly is: "ready"; readonly kubeconfig: string } | { readonly is: "collected" };

const report = (message: Report): void => void process.send?.(message);
process.on("disconnect", () => process.exit(0));
process.on("message", () => {
  globalThis.gc?.();
  report({ is: "collected" });
});
const server = await startApiServer({ log: createLog({ level: "error" }), crds: [WIDGETS] });
report({ is: "ready", kubeconfig: await server.management.kubeconfig({}) });
