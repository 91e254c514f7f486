/**
 * `npm run test:csi`: csi-sanity against our CSI drivers. Builds it with Go at first, from tools/csi-sanity, into the
 * user's cache directory.
 */
import { join, resolve } from "node:path";
import { buildMissing, cached, pinnedVersion, root, run } from "./kubernetes-programs.ts";
import { usageShown } from "./usage.ts";

const MODULE = "github.com/kubernetes-csi/csi-test/v5";

async function main(): Promise<number> {
  const folder = join(root, "tools/csi-sanity");
  const program = { name: "csi-sanity", source: `${MODULE}/cmd/csi-sanity`, flags: "-s -w" };
  const built = await buildMissing([program], folder, cached(`csi-sanity-${pinnedVersion(folder, MODULE)}`));
  const reason = "reason" in built ? built.reason : process.getuid?.() === 0 ? undefined : "mounting needs root";
  if (reason !== undefined || "reason" in built) {
    console.log(`skipped: no csi-sanity here: ${reason ?? ""}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const env = { ...process.env, CAUSEWAY_CSI_SANITY: join(built.dir, program.name) };
  return run(process.execPath, [resolve(root, "test/csi/main.ts"), ...process.argv.slice(2)], { cwd: root, env });
}

process.exitCode = usageShown(import.meta.filename) ? 0 : await main();
