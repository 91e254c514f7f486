/**
 * `npm run test:e2e:api`: specs of Kubernetes' own e2e suite about the API, unchanged, on kube-apiserver with etcd and on ours, each with
 * Kubernetes' own controllers, scheduler and hollow nodes. Builds them with Go at first, from tools/kubernetes, into the user's cache
 * directory. Arguments narrow the run: groups of test/e2e/api/groups.ts, "causeway", "kube-apiserver".
 */
import { resolve } from "node:path";
import { kubernetesBinaries, e2ePrograms, root, run } from "./kubernetes-programs.ts";

async function main(): Promise<number> {
  const kubernetes = await kubernetesBinaries(["etcd", "kube-apiserver", "kubectl"]);
  const upstream = ["kube-controller-manager", "kube-scheduler", "kubemark"];
  const made = "dir" in kubernetes ? await e2ePrograms([...upstream, "e2e-api"]) : kubernetes;
  if ("reason" in made || "reason" in kubernetes) {
    console.log(`skipped: no e2e suite here: ${"reason" in made ? made.reason : ""}`);
    console.log("0 passed, 0 failed, 1 skipped");
    return 0;
  }
  const env = { ...process.env, CAUSEWAY_KUBERNETES_BINARIES: kubernetes.dir, CAUSEWAY_E2E_PROGRAMS: made.dir };
  return run(process.execPath, [resolve(root, "test/e2e/api/main.ts"), ...process.argv.slice(2)], {
    cwd: root,
    env,
  });
}

process.exitCode = await main();
