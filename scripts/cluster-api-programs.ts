/**
 * Builds upstream's Cluster API managers, clusterctl and OpenStack provider of pinned versions, with their manifests.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildMissing, cached, pinnedVersion, root, type Built } from "./kubernetes-programs.ts";

const folder = join(root, "tools/kubernetes/programs");
const LONGEST_MANIFEST = 64 * 1024 * 1024;
const CLUSTER_API = "sigs.k8s.io/cluster-api";

/** The managers and clusterctl of the pinned release, next to the manifests that install them. */
export async function clusterApiBinaries(kubectl: string): Promise<Built> {
  const version = pinnedVersion(folder, CLUSTER_API);
  const flags = `-s -w -X ${CLUSTER_API}/version.gitVersion=${version}`;
  const sources = { core: "", bootstrap: "/bootstrap/kubeadm", "control-plane": "/controlplane/kubeadm" };
  const managers = Object.entries(sources).map(([name, path]) => ({ name, source: `${CLUSTER_API}${path}`, flags }));
  const clusterctl = { name: "clusterctl", source: `${CLUSTER_API}/cmd/clusterctl`, flags };
  const made = await buildMissing([...managers, clusterctl], folder, cached(`cluster-api-${version}`));
  if ("reason" in made) return made;
  const at = spawnSync("go", ["list", "-m", "-f", "{{.Dir}}", CLUSTER_API], { cwd: folder, encoding: "utf8" });
  const module = at.stdout.trim();
  for (const [name, path] of Object.entries(sources)) {
    const file = join(made.dir, `${name}.yaml`);
    if (existsSync(file)) continue;
    const args = ["kustomize", join(module, path, "config/default")];
    const manifest = spawnSync(kubectl, args, { encoding: "utf8", maxBuffer: LONGEST_MANIFEST });
    if (manifest.status !== 0) return { reason: `the manifests of ${CLUSTER_API}${path}: ${manifest.stderr}` };
    writeFileSync(file, manifest.stdout);
  }
  const inventory = join(made.dir, "clusterctl.yaml");
  if (!existsSync(inventory))
    copyFileSync(join(module, "cmd/clusterctl/config/manifest/clusterctl-api.yaml"), inventory);
  return made;
}

const capoFolder = join(root, "tools/capo");
const CAPO = "sigs.k8s.io/cluster-api-provider-openstack";
const ORC = "github.com/k-orc/openstack-resource-controller/v2";

/**
 * The manager of Cluster API's OpenStack provider, with the manifests that install it and the CRDs of the controller
 * that it needs.
 */
export async function capoBinaries(kubectl: string): Promise<Built> {
  const program = { name: "capo", source: CAPO, flags: "-s -w" };
  const made = await buildMissing([program], capoFolder, cached(`capo-${pinnedVersion(capoFolder, CAPO)}`));
  if ("reason" in made) return made;
  for (const [name, module, path] of [
    ["capo", CAPO, "config/default"],
    ["orc", ORC, "config/crd"],
  ] as const) {
    const file = join(made.dir, `${name}.yaml`);
    if (existsSync(file)) continue;
    const found = spawnSync("go", ["mod", "download", "-json", module], { cwd: capoFolder, encoding: "utf8" });
    const { Dir: dir } = JSON.parse(found.stdout) as { Dir?: string };
    if (dir === undefined) return { reason: `${module} could not be downloaded: ${found.stderr}` };
    const manifest = spawnSync(kubectl, ["kustomize", join(dir, path)], {
      encoding: "utf8",
      maxBuffer: LONGEST_MANIFEST,
    });
    if (manifest.status !== 0) return { reason: `the manifests of ${module}: ${manifest.stderr}` };
    writeFileSync(file, manifest.stdout);
  }
  return made;
}
