/**
 * `npm run test:e2e:conformance -- plain|process|pods`: the conformance specs of Kubernetes' own e2e suite, unchanged,
 * on two workers with real containers (tools/node): on Kubernetes' own control plane as it is, on a tenant of `causeway
 * up --runtime process` on a real OpenStack (tools/devcloud), and on a tenant of runtime Pods. Installs and builds what
 * is missing. `--missing` and `--failed` run the specs that have no result yet, or a bad one; `--focus TEXT` those
 * whose names have the text; `--at-once N` so many at a time, and `--minutes M` until then. `--hold` keeps the cluster
 * until it is ended, and `--kubeconfig FILE` uses one that is held. `--page` writes docs/reference/conformance.md of
 * the results.
 */
import { join, resolve } from "node:path";
import { realCloud } from "./devcloud.ts";
import { controlPlanePrograms, e2ePrograms, kubernetesBinaries, root, run } from "./kubernetes-programs.ts";
import { conformanceEnvironment } from "./node/environment.ts";
import { usageShown } from "./usage.ts";

async function main(): Promise<number> {
  const isUp = ["--page", "--kubeconfig"].some((flag) => process.argv.includes(flag));
  const isProcess = process.argv.includes("process") && !isUp;
  const cloud = isProcess ? await realCloud() : { clouds: "" };
  const nodes = "reason" in cloud ? cloud : await conformanceEnvironment();
  const client = "reason" in nodes ? nodes : await kubernetesBinaries(["kubectl"]);
  const plane = "reason" in client ? client : await controlPlanePrograms();
  const suite = "reason" in plane ? plane : await e2ePrograms(["e2e-api"]);
  if ("reason" in cloud || "reason" in nodes || "reason" in client || "reason" in plane || "reason" in suite) {
    const [found] = [cloud, nodes, client, plane, suite].flatMap((part) => ("reason" in part ? [part.reason] : []));
    console.log(`skipped: no conformance specs here: ${found}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const { kubelet, images, version } = nodes;
  const binaries = client.dir;
  const found = { binaries, programs: plane.dir, kubelet, images, version, suite: join(suite.dir, "e2e-api") };
  const env = {
    ...process.env,
    ...(isProcess && { OS_CLIENT_CONFIG_FILE: cloud.clouds }),
    CAUSEWAY_CONFORMANCE: JSON.stringify(found),
    PATH: `${client.dir}:${process.env["PATH"] ?? ""}`,
  };
  const program = resolve(root, "test/e2e/conformance/main.ts");
  return run(process.execPath, [program, ...process.argv.slice(2)], { cwd: root, env });
}

process.exitCode = usageShown(import.meta.filename) ? 0 : await main();
