/**
 * `npm run test:e2e`: tests of Kubernetes' own e2e suite on a real kube-apiserver and kube-controller-manager, with our
 * cloud controller manager on the simulated cloud. Builds them with Go at first, from tools/kubernetes, into the user's
 * cache directory. Arguments narrow the tests.
 */
import { resolve } from "node:path";
import { e2ePrograms, kubernetesBinaries, root, run } from "./kubernetes-programs.ts";
import { usageShown } from "./usage.ts";

async function main(): Promise<number> {
  const kubernetes = await kubernetesBinaries(["etcd", "kube-apiserver", "kubectl"]);
  const made = "dir" in kubernetes ? await e2ePrograms(["kube-controller-manager", "e2e"]) : kubernetes;
  if ("reason" in made || "reason" in kubernetes) {
    console.log(`skipped: no e2e suite here: ${"reason" in made ? made.reason : ""}`);
    console.log("0 passed, 0 failed, 1 skipped");
    return 0;
  }
  const env = { ...process.env, CAUSEWAY_KUBERNETES_BINARIES: kubernetes.dir, CAUSEWAY_E2E_PROGRAMS: made.dir };
  return run(process.execPath, [resolve(root, "test/e2e/main.ts"), ...process.argv.slice(2)], { cwd: root, env });
}

process.exitCode = usageShown(import.meta.filename) ? 0 : await main();
