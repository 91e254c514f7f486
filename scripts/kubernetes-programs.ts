/**
 * Builds Go programs of pinned versions, once, into the user's cache directory; what scripts/test-*.ts that need them
 * share.
 */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "..");
const tools = join(root, "tools/kubernetes");

export interface Program {
  readonly name: string;
  /** The package that is built. */
  readonly source: string;
  /** For the linker. */
  readonly flags: string;
  /** The package's tests, with this build tag, are what is built. */
  readonly tests?: string;
}

/** Where programs are, or why there are none. */
export type Built = { readonly dir: string } | { readonly reason: string };

/** Runs to the end, its output ours; the exit code. */
export function run(
  file: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<number> {
  return new Promise((done, reject) => {
    const child = spawn(file, args, { stdio: "inherit", ...options });
    child.on("error", reject);
    child.on("close", (code) => done(code ?? 1));
  });
}

/** The release of a module that go.mod in this folder names. */
export function pinnedVersion(folder: string, module: string): string {
  const pattern = new RegExp(`^\\s*${module.replaceAll(".", "\\.")} (v\\S+)`, "m");
  const found = pattern.exec(readFileSync(join(folder, "go.mod"), "utf8"));
  if (!found?.[1]) throw new Error(`${folder}/go.mod names no ${module}`);
  return found[1];
}

/** A folder of that name in the user's cache directory, made if need be. */
export function cached(name: string): string {
  const dir = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "causeway/kubernetes", name);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return dir;
}

export function withoutGo(): { reason: string } | undefined {
  if (spawnSync("go", ["version"]).status === 0) return undefined;
  return { reason: "it is built with Go, and there is no Go compiler on PATH" };
}

/** Builds what is not in `dir` yet, from the module in `folder`. */
export async function buildMissing(programs: readonly Program[], folder: string, dir: string): Promise<Built> {
  const missing = programs.filter((p) => !existsSync(join(dir, p.name)));
  if (missing.length > 0) {
    const problem = withoutGo();
    if (problem !== undefined) return problem;
  }
  for (const program of missing) {
    console.log(`building ${program.name}, once, into ${dir}`);
    const code = await build(program, folder, join(dir, program.name));
    if (code !== 0) return { reason: `go build of ${program.source} ended with ${code}` };
  }
  return { dir };
}

/** `go build` by way of a name of this process's own, so that a half-written program is never run. */
export async function build(program: Program, folder: string, file: string): Promise<number> {
  const { source, flags, tests } = program;
  const half = `${file}.${process.pid}`;
  // A dependency's tests need modules that go.mod has no line for: -mod=mod resolves them, go.sum holds what they are.
  const verb = tests === undefined ? ["build"] : ["test", "-c", "-mod=mod", "-vet=off", "-tags", tests];
  const args = [...verb, "-trimpath", "-ldflags", flags, "-o", half, source];
  const code = await run("go", args, { cwd: folder, env: { ...process.env, CGO_ENABLED: "0" } });
  if (code === 0) renameSync(half, file);
  return code;
}

/** An object storage with the API of S3: versitygw. */
export function objectStorage(): Promise<Built> {
  const module = "github.com/versity/versitygw";
  const folder = join(root, "tools/s3");
  const program = { name: "versitygw", source: `${module}/cmd/versitygw`, flags: "-s -w" };
  return buildMissing([program], folder, cached(`s3-${pinnedVersion(folder, module)}`));
}

/** What makes a program of Kubernetes report this version. */
function stampedAs(version: string): string {
  const [major = "", minor = ""] = version.slice(1).split(".");
  const stamp = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const flags = Object.entries(stamp).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return `-s -w ${flags.join(" ")}`;
}

/** The programs of a control plane in the folder VERSION/PROGRAM of `dir`, as `causeway up --programs` takes them. */
export async function controlPlanePrograms(): Promise<Built> {
  const served = await kubernetesBinaries(["etcd", "kube-apiserver"]);
  if ("reason" in served) return served;
  const folder = join(tools, "e2e");
  const flags = stampedAs(pinnedVersion(folder, "k8s.io/kubernetes"));
  const programs = ["kube-controller-manager", "kube-scheduler"].map((name) => {
    return { name, source: `k8s.io/kubernetes/cmd/${name}`, flags };
  });
  const made = await buildMissing(programs, folder, served.dir);
  return "reason" in made ? made : { dir: dirname(made.dir) };
}

/**
 * etcd and the control plane's programs of the minor before, in tools/kubernetes/previous/go.mod. They take ten minutes
 * of a core, so they are built only on request.
 */
export async function previousPrograms(options: { build: boolean }): Promise<Built & { readonly version: string }> {
  const folder = join(tools, "previous");
  const version = pinnedVersion(folder, "k8s.io/kubernetes");
  const flags = stampedAs(version);
  const programs = [
    { name: "etcd", source: "go.etcd.io/etcd/server/v3", flags: "-s -w" },
    ...["kube-apiserver", "kube-controller-manager", "kube-scheduler"].map((name) => {
      return { name, source: `k8s.io/kubernetes/cmd/${name}`, flags };
    }),
  ];
  const dir = cached(version);
  if (!options.build && !programs.every(({ name }) => existsSync(join(dir, name)))) {
    return { reason: `${version} is not built: npm run test:programs -- control-plane-upgrade builds it`, version };
  }
  return { ...(await buildMissing(programs, folder, dir)), version };
}

/** The kubelet and kube-proxy of the minor before, next to its control plane. */
export async function previousNodePrograms(): Promise<Built> {
  const folder = join(tools, "previous");
  const version = pinnedVersion(folder, "k8s.io/kubernetes");
  const programs = ["kubelet", "kube-proxy"].map((name) => {
    return { name, source: `k8s.io/kubernetes/cmd/${name}`, flags: stampedAs(version) };
  });
  return buildMissing(programs, folder, cached(version));
}

/**
 * kubeadm of the release that machines run, or of the minor before, next to the control plane's programs of that
 * release.
 */
export async function kubeadmProgram(of: "current" | "previous"): Promise<Built & { readonly version: string }> {
  const folder = of === "current" ? join(root, "tools/node") : join(tools, "previous");
  const version = pinnedVersion(folder, "k8s.io/kubernetes");
  const program = { name: "kubeadm", source: "k8s.io/kubernetes/cmd/kubeadm", flags: stampedAs(version) };
  return { ...(await buildMissing([program], folder, cached(version))), version };
}

/** kube-apiserver, etcd and kubectl of the release in tools/kubernetes/go.mod. */
export function kubernetesBinaries(names: readonly string[]): Promise<Built> {
  const version = pinnedVersion(tools, "k8s.io/kubernetes");
  const stamped = stampedAs(version);
  const programs = [
    { name: "etcd", source: "go.etcd.io/etcd/server/v3", flags: "-s -w" },
    { name: "kube-apiserver", source: "k8s.io/kubernetes/cmd/kube-apiserver", flags: stamped },
    { name: "kubectl", source: "k8s.io/kubernetes/cmd/kubectl", flags: stamped },
    { name: "sample-apiserver", source: "k8s.io/sample-apiserver", flags: "-s -w" },
  ];
  return buildMissing(
    programs.filter((p) => names.includes(p.name)),
    tools,
    cached(version),
  );
}

/**
 * Kubernetes' e2e suite as it is linked here ("e2e", "e2e-api", "e2e-storage"), its nodes ("hollow-node"), and
 * Kubernetes' own programs that it needs.
 */
export function e2ePrograms(names: readonly string[]): Promise<Built> {
  const folder = join(tools, "e2e");
  const linked: Readonly<Record<string, string>> = {
    e2e: ".",
    "e2e-api": "./api",
    "e2e-storage": "./storage",
    "hollow-node": "./node",
  };
  const programs = names.map((name) => {
    return { name, source: linked[name] ?? `k8s.io/kubernetes/cmd/${name}`, flags: "-s -w" };
  });
  return buildMissing(programs, folder, cached(`e2e-${pinnedVersion(folder, "k8s.io/kubernetes")}`));
}

/** Prints as whom it runs: of an image of the conformance specs only. */
const NNP = "nnp";
/** Of an image that control planes of Kubernetes' own programs need for `kubectl top`. */
const METRICS_SERVER = "metrics-server";

/**
 * The kubelet, and the programs of the images that a machine with a real kubelet imports (scripts/node/images.ts), or
 * those of these names alone.
 */
export async function nodePrograms(names?: readonly string[]): Promise<Built & { readonly version: string }> {
  const folder = join(root, "tools/node");
  const version = pinnedVersion(folder, "k8s.io/kubernetes");
  const stamped = stampedAs(version);
  const dir = cached(`node-${version}`);
  const all: readonly (Program & { readonly module?: string })[] = [
    { name: "kubelet", source: "k8s.io/kubernetes/cmd/kubelet", flags: stamped },
    { name: "kube-proxy", source: "k8s.io/kubernetes/cmd/kube-proxy", flags: stamped },
    { name: "agnhost", source: "k8s.io/kubernetes/test/images/agnhost", flags: "-s -w" },
    ...(names?.includes(NNP)
      ? [{ name: NNP, source: "k8s.io/kubernetes/test/images/nonewprivs", flags: "-s -w" }]
      : []),
    { name: "coredns", source: ".", flags: "-s -w", module: "coredns" },
    { name: "flanneld", source: ".", flags: "-s -w", module: "flannel" },
    ...(names?.includes(METRICS_SERVER)
      ? [
          {
            name: METRICS_SERVER,
            source: "sigs.k8s.io/metrics-server/cmd/metrics-server",
            flags: "-s -w",
            module: METRICS_SERVER,
          },
        ]
      : []),
  ];
  for (const program of all.filter(({ name }) => names?.includes(name) ?? true)) {
    const made = await buildMissing([program], join(folder, program.module ?? "."), dir);
    if ("reason" in made) return { ...made, version };
  }
  return { dir, version };
}

const CLOUD_PROVIDER = "k8s.io/cloud-provider-openstack";

/** The upstream cloud controller manager of the release in tools/kubernetes/openstack/go.mod. */
export function cloudControllerBinary(): Promise<Built> {
  return upstreamProgram("openstack-cloud-controller-manager");
}

/** A program of the cloud provider's release in tools/kubernetes/openstack/go.mod. */
export function upstreamProgram(name: string): Promise<Built> {
  const folder = join(tools, "openstack");
  const version = pinnedVersion(folder, CLOUD_PROVIDER);
  const flags = `-s -w -X ${CLOUD_PROVIDER}/pkg/version.Version=${version}`;
  const program = { name, source: `${CLOUD_PROVIDER}/cmd/${name}`, flags };
  return buildMissing([program], folder, cached(`openstack-${version}`));
}

const SNAPSHOTTER = "github.com/kubernetes-csi/external-snapshotter/client/v8";

/**
 * The stock CSI sidecars and the snapshot controller, of the releases in tools/kubernetes/sidecars/go.mod, with the
 * CRDs of snapshots in `crds`.
 */
export async function sidecarBinaries(): Promise<Built> {
  const folder = join(tools, "sidecars");
  const sources: Readonly<Record<string, string>> = {
    "csi-provisioner": "external-provisioner/v6",
    "csi-attacher": "external-attacher/v4",
    "csi-snapshotter": "external-snapshotter/v8",
    "snapshot-controller": "external-snapshotter/v8",
    "csi-resizer": "external-resizer/v2",
  };
  const programs = Object.entries(sources).map(([name, path]) => {
    const module = `github.com/kubernetes-csi/${path}`;
    return { name, source: `${module}/cmd/${name}`, flags: `-s -w -X main.version=${pinnedVersion(folder, module)}` };
  });
  const version = pinnedVersion(folder, "github.com/kubernetes-csi/external-provisioner/v6");
  const made = await buildMissing(programs, folder, cached(`sidecars-${version}`));
  if ("reason" in made || existsSync(join(made.dir, "crds"))) return made;
  const found = spawnSync("go", ["mod", "download", "-json", SNAPSHOTTER], { cwd: folder, encoding: "utf8" });
  const { Dir: module } = JSON.parse(found.stdout) as { Dir?: string };
  if (module === undefined) return { reason: `${SNAPSHOTTER} could not be downloaded: ${found.stderr}` };
  cpSync(join(module, "config/crd"), join(made.dir, "crds"), { recursive: true });
  return made;
}

/** Konnectivity's stock server and agent, of the release in tools/kubernetes/tunnel/go.mod. */
export function konnectivityBinaries(): Promise<Built> {
  const folder = join(tools, "tunnel");
  const module = "sigs.k8s.io/apiserver-network-proxy";
  const programs = ["server", "agent"].map((name) => {
    return { name: `proxy-${name}`, source: `${module}/cmd/${name}`, flags: "-s -w" };
  });
  return buildMissing(programs, folder, cached(`konnectivity-${pinnedVersion(folder, module)}`));
}
