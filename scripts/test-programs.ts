/**
 * `npm run test:programs`: kubectl of several minors, programs on client-go and controller-runtime, Cluster API's
 * managers and clusterctl, and its OpenStack provider and the CSI sidecars, run against our API server and a real
 * kube-apiserver. Builds them with Go at first, from the versions in tools/kubernetes, into the user's cache directory.
 * What cannot be built is skipped, with the reason. Arguments go to the test runner.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import {
  build,
  cached,
  konnectivityBinaries,
  kubernetesBinaries,
  objectStorage,
  previousPrograms,
  root,
  run,
  sidecarBinaries,
  withoutGo,
  type Built,
} from "./kubernetes-programs.ts";
import { argoPrograms } from "./argo-programs.ts";
import { capoBinaries, clusterApiBinaries } from "./cluster-api-programs.ts";
import { usageShown } from "./usage.ts";

const folder = join(root, "tools/kubernetes/programs");

/**
 * Our programs on client-go and controller-runtime, and on the kubelet's code for streams: built each time, since they
 * change with the tests.
 */
async function probe(): Promise<Built> {
  const problem = withoutGo();
  if (problem !== undefined) return problem;
  const dir = cached("probe");
  for (const name of ["probe", "streams"]) {
    const code = await build({ name, source: `./${name}`, flags: "-s -w" }, folder, join(dir, name));
    if (code !== 0) return { reason: `go build of ${name} ended with ${code}` };
  }
  return { dir };
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

/** kubectl.1.NN, as packages that bring several minors name them, next to the kubectl that PATH finds. */
function otherKubectls(): string[] {
  for (const dir of (process.env["PATH"] ?? "").split(delimiter)) {
    const file = join(dir, "kubectl");
    if (!existsSync(file)) continue;
    const folder = dirname(realpathSync(file));
    const minor = (name: string): number => Number(/^kubectl\.1\.(\d+)$/.exec(name)?.[1] ?? Number.NaN);
    const names = readdirSync(folder).filter((name) => !Number.isNaN(minor(name)));
    return names.toSorted((a, b) => minor(b) - minor(a)).map((name) => join(folder, name));
  }
  return [];
}

async function main(): Promise<number> {
  const kubernetes = await kubernetesBinaries(["etcd", "kube-apiserver", "kubectl", "sample-apiserver"]);
  const built = "dir" in kubernetes ? join(kubernetes.dir, "kubectl") : undefined;
  const programs = {
    kubernetes,
    kubectls: [...(built === undefined ? [] : [built]), ...otherKubectls()],
    clusterApi: built === undefined ? kubernetes : await clusterApiBinaries(built),
    capo: built === undefined ? kubernetes : await capoBinaries(built),
    probe: await probe(),
    konnectivity: await konnectivityBinaries(),
    gatewayApi: gatewayApi(),
    sidecars: await sidecarBinaries(),
    objectStorage: await objectStorage(),
    argo: await argoPrograms({ build: process.argv.slice(2).some((name) => name.includes("argo")) }),
    previous: await previousPrograms({ build: process.argv.slice(2).some((name) => name.includes("upgrade")) }),
  };
  const env = {
    ...process.env,
    CAUSEWAY_PROGRAMS: JSON.stringify(programs),
    ...("dir" in kubernetes ? { CAUSEWAY_KUBERNETES_BINARIES: kubernetes.dir } : {}),
  };
  const args = ["run", "--config", "vitest.programs.config.ts", ...process.argv.slice(2)];
  return run(resolve(root, "node_modules/.bin/vitest"), args, { cwd: root, env });
}

process.exitCode = usageShown(import.meta.filename) ? 0 : await main();
