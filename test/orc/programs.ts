import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { buildMissing, cached, kubernetesBinaries, pinnedVersion, root } from "../../scripts/kubernetes-programs.ts";

const MODULE = "github.com/k-orc/openstack-resource-controller/v2";
const KUTTL = "github.com/kudobuilder/kuttl";
const folder = join(root, "tools/orc");

export interface OrcPrograms {
  readonly manager: string;
  readonly kuttl: string;
  /** The folder that has kubectl, for kuttl's commands. */
  readonly kubectl: string;
  /** The controller's module: its CRDs, suites and images. */
  readonly module: string;
}

/** The controller, kuttl and kubectl, built at first into the user's cache directory; or why there are none. */
export async function orcPrograms(): Promise<OrcPrograms | { readonly reason: string }> {
  const version = pinnedVersion(folder, MODULE);
  const manager = { name: "manager", source: `${MODULE}/cmd/manager`, flags: "-s -w" };
  const own = await buildMissing([manager], folder, cached(`orc-${version}`));
  if ("reason" in own) return own;
  const tools = join(folder, "kuttl");
  const kuttl = { name: "kubectl-kuttl", source: `${KUTTL}/cmd/kubectl-kuttl`, flags: "-s -w" };
  const runner = await buildMissing([kuttl], tools, cached(`kuttl-${pinnedVersion(tools, KUTTL)}`));
  if ("reason" in runner) return runner;
  const kubectl = await kubernetesBinaries(["kubectl"]);
  if ("reason" in kubectl) return kubectl;
  const found = spawnSync("go", ["mod", "download", "-json", `${MODULE}@${version}`], {
    cwd: folder,
    encoding: "utf8",
  });
  const module = (JSON.parse(found.stdout) as { Dir?: string }).Dir;
  if (module === undefined) return { reason: `${MODULE} could not be downloaded: ${found.stderr}` };
  return { manager: join(own.dir, "manager"), kuttl: join(runner.dir, "kubectl-kuttl"), kubectl: kubectl.dir, module };
}
