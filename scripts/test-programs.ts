/**
 * `npm run test:programs`: kubectl of several minors, programs on client-go and controller-runtime, Cluster API's managers and clusterctl, and its
 * OpenStack provider and the CSI sidecars, run against our API server and a real kube-apiserver. Builds them with Go at first, from the versions in tools/kubernetes,
 * into the user's cache directory. What cannot be built is skipped, with the reason. Arguments go to the test runner.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import {
  build,
  buildMissing,
  cached,
  konnectivityBinaries,
  kubernetesBinaries,
  pinnedVersion,
  root,
  run,
  sidecarBinaries,
  withoutGo,
  type Built,
} from "./kubernetes-programs.ts";

const folder = join(root, "tools/kubernetes/programs");
const LONGEST_MANIFEST = 64 * 1024 * 1024;
const CLUSTER_API = "sigs.k8s.io/cluster-api";

/** The managers and clusterctl of the pinned release, beside the manifests that install them. */
async function clusterApi(kubectl: string): Promise<Built> {
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

/** The manager of Cluster API's OpenStack provider, with the manifests that install it and the CRDs of the controller that it needs. */
async function capo(kubectl: string): Promise<Built> {
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

/** Our program on client-go and controller-runtime: built each time, since it changes with the tests. */
async function probe(): Promise<Built> {
  const problem = withoutGo();
  if (problem !== undefined) return problem;
  const dir = cached("probe");
  const code = await build({ name: "probe", source: "./probe", flags: "-s -w" }, folder, join(dir, "probe"));
  return code === 0 ? { dir } : { reason: `go build of the probe ended with ${code}` };
}

/** The CRDs of the Gateway API, from its module: the folder with its channels. */
function gatewayApi(): Built {
  const problem = withoutGo();
  if (problem !== undefined) return problem;
  const module = "sigs.k8s.io/gateway-api@v1.5.1";
  const found = spawnSync("go", ["mod", "download", "-json", module], { cwd: folder, encoding: "utf8" });
  const { Dir: dir } = JSON.parse(found.stdout) as { Dir?: string };
  return dir === undefined
    ? { reason: `${module} could not be downloaded: ${found.stderr}` }
    : { dir: join(dir, "config/crd") };
}

/** kubectl.1.NN, as packages that bring several minors name them, beside the kubectl that PATH finds. */
function otherKubectls(): string[] {
  for (const dir of (process.env["PATH"] ?? "").split(delimiter)) {
    const file = join(dir, "kubectl");
    if (!existsSync(file)) continue;
    const beside = dirname(realpathSync(file));
    const minor = (name: string): number => Number(/^kubectl\.1\.(\d+)$/.exec(name)?.[1] ?? Number.NaN);
    const names = readdirSync(beside).filter((name) => !Number.isNaN(minor(name)));
    return names.toSorted((a, b) => minor(b) - minor(a)).map((name) => join(beside, name));
  }
  return [];
}

async function main(): Promise<number> {
  const kubernetes = await kubernetesBinaries(["etcd", "kube-apiserver", "kubectl", "sample-apiserver"]);
  const built = "dir" in kubernetes ? join(kubernetes.dir, "kubectl") : undefined;
  const programs = {
    kubernetes,
    kubectls: [...(built === undefined ? [] : [built]), ...otherKubectls()],
    clusterApi: built === undefined ? kubernetes : await clusterApi(built),
    capo: built === undefined ? kubernetes : await capo(built),
    probe: await probe(),
    konnectivity: await konnectivityBinaries(),
    gatewayApi: gatewayApi(),
    sidecars: await sidecarBinaries(),
  };
  const env = {
    ...process.env,
    CAUSEWAY_PROGRAMS: JSON.stringify(programs),
    ...("dir" in kubernetes ? { CAUSEWAY_KUBERNETES_BINARIES: kubernetes.dir } : {}),
  };
  const args = ["run", "--config", "vitest.programs.config.ts", ...process.argv.slice(2)];
  return run(resolve(root, "node_modules/.bin/vitest"), args, { cwd: root, env });
}

process.exitCode = await main();
