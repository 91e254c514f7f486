/**
 * `npm run test:kubernetes`: one contract suite on a real kube-apiserver with etcd, and on ours. Builds the real ones
 * with Go at first, from the versions in tools/kubernetes/go.mod, into the user's cache directory; later runs start
 * from there. CAUSEWAY_KUBERNETES_BINARIES names a folder that has them already. Arguments go to the test runner.
 */
import { resolve } from "node:path";
import { kubernetesBinaries, root, run } from "./kubernetes-programs.ts";
import { usageShown } from "./usage.ts";

const BINARIES = "CAUSEWAY_KUBERNETES_BINARIES";

async function main(): Promise<number> {
  const env = { ...process.env };
  let files: string[] = [];
  if (env[BINARIES] === undefined) {
    const made = await kubernetesBinaries(["etcd", "kube-apiserver"]);
    if ("dir" in made) env[BINARIES] = made.dir;
    else {
      console.log(`skipped: no real kube-apiserver here: ${made.reason}. The suite runs on ours alone.`);
      files = ["causeway.test.ts", "causeway-kubectl.test.ts"];
    }
  }
  const args = ["run", "--config", "vitest.kubernetes.config.ts", ...files, ...process.argv.slice(2)];
  return run(resolve(root, "node_modules/.bin/vitest"), args, { cwd: root, env });
}

process.exitCode = usageShown(import.meta.filename) ? 0 : await main();
