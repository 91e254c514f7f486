/**
 * Builds what the runs of Kubernetes' e2e suite in test/e2e/api and test/e2e/workloads need, once, and starts one of
 * them.
 */
import { resolve } from "node:path";
import { controlPlanePrograms, e2ePrograms, kubernetesBinaries, root, run } from "./kubernetes-programs.ts";

/** Runs this program of test/e2e with the arguments of the command; the exit code. */
export async function runSuite(program: string): Promise<number> {
  const kubernetes = await kubernetesBinaries(["etcd", "kube-apiserver", "kubectl"]);
  const controllers = "dir" in kubernetes ? await controlPlanePrograms() : kubernetes;
  const made = "dir" in controllers ? await e2ePrograms(["hollow-node", "e2e-api"]) : controllers;
  if ("reason" in made || "reason" in kubernetes) {
    console.log(`skipped: no e2e suite here: ${"reason" in made ? made.reason : ""}`);
    console.log("0 passed, 0 failed, 1 skipped");
    return 0;
  }
  const env = { ...process.env, CAUSEWAY_KUBERNETES_BINARIES: kubernetes.dir, CAUSEWAY_E2E_PROGRAMS: made.dir };
  return run(process.execPath, [resolve(root, program), ...process.argv.slice(2)], { cwd: root, env });
}
