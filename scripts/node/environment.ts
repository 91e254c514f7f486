import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { konnectivityBinaries, kubernetesBinaries, nodePrograms, root } from "../kubernetes-programs.ts";
import { controlPlanePrograms, previousPrograms } from "../kubernetes-programs.ts";
import { conformanceRecipes } from "./conformance-images.ts";
import { kubeProxyRecipe, makeImages, metricsServerRecipe, pauseRecipe, recipes } from "./images.ts";
import { serviceRecipes } from "./service-images.ts";
import { storageRecipes } from "./storage-images.ts";

/** What a machine with a real kubelet needs on its host. */
export interface NodeEnvironment {
  readonly kubelet: string;
  /** A folder of archives of images. */
  readonly images: string;
  /** Kubernetes' release, such as "v1.34.4". */
  readonly version: string;
  /** The minor before, where its control plane has images, too. */
  readonly previous?: string;
}

/** Debian's packages that machines run, and a file of each. */
const PACKAGES = [
  ["containerd", "containerd"],
  ["runc", "runc"],
  ["containernetworking-plugins", "/usr/lib/cni/bridge"],
  ["tini", "tini"],
  ["nftables", "nft"],
  ["util-linux", "unshare"],
  // For a kube-proxy that runs without an image (kubeProxyRecipe).
  ["netbase", "/etc/protocols"],
] as const;

/**
 * What the host needs for machines that run Kubernetes' e2e tests of storage: more images. `upstream` is the program
 * cinder-csi-plugin, if it is to run.
 */
export async function storageEnvironment(upstream?: string): Promise<NodeEnvironment | { readonly reason: string }> {
  const made = await nodeEnvironment();
  if ("reason" in made) return made;
  const programs = dirname(made.kubelet);
  const tunnel = await konnectivityBinaries();
  if ("reason" in tunnel) return tunnel;
  const images = join(programs, "storage-images");
  const all = [
    ...recipes(programs, made.version, tunnel.dir),
    ...storageRecipes(root, join(programs, "agnhost"), upstream),
  ];
  makeImages(all, images);
  return { ...made, images };
}

/** What the host needs for machines of another release, which has its own kube-proxy: a program of this host. */
export async function releaseEnvironment(
  kubeProxy: string,
  version: string,
): Promise<NodeEnvironment | { readonly reason: string }> {
  const made = await nodeEnvironment();
  if ("reason" in made) return made;
  const tunnel = await konnectivityBinaries();
  if ("reason" in tunnel) return tunnel;
  const programs = dirname(made.kubelet);
  const images = join(programs, `images-${version}`);
  makeImages([...recipes(programs, made.version, tunnel.dir), kubeProxyRecipe(kubeProxy, version)], images);
  return { ...made, images };
}

/** What the host needs for machines that run Kubernetes' conformance specs: the images of their pods. */
export async function conformanceEnvironment(): Promise<NodeEnvironment | { readonly reason: string }> {
  const made = await nodeEnvironment();
  if ("reason" in made) return made;
  const programs = dirname(made.kubelet);
  const more = await nodePrograms(["nnp"]);
  const served = await kubernetesBinaries(["etcd", "sample-apiserver"]);
  const tunnel = await konnectivityBinaries();
  if ("reason" in more) return { reason: more.reason };
  if ("reason" in served) return served;
  if ("reason" in tunnel) return tunnel;
  const images = join(programs, "conformance-images");
  const own = recipes(programs, made.version, tunnel.dir).filter(({ name }) => !name.includes("e2e-test-images"));
  makeImages([...own, ...conformanceRecipes(programs, served.dir)], images);
  return { ...made, images };
}

/** What the host needs for machines of Kubernetes' own control plane: also the image of metrics-server. */
export async function processEnvironment(): Promise<NodeEnvironment | { readonly reason: string }> {
  const made = await nodeEnvironment();
  if ("reason" in made) return made;
  const programs = dirname(made.kubelet);
  const more = await nodePrograms(["metrics-server"]);
  const tunnel = await konnectivityBinaries();
  if ("reason" in more) return { reason: more.reason };
  if ("reason" in tunnel) return tunnel;
  const images = join(programs, "process-images");
  makeImages([...recipes(programs, made.version, tunnel.dir), metricsServerRecipe(programs)], images);
  return { ...made, images };
}

/** What the host needs for machines of a service cluster: also the images of control planes of two minors. */
export async function serviceEnvironment(): Promise<NodeEnvironment | { readonly reason: string }> {
  const made = await nodeEnvironment();
  if ("reason" in made) return made;
  const tunnel = await konnectivityBinaries();
  if ("reason" in tunnel) return tunnel;
  const plane = await controlPlanePrograms();
  if ("reason" in plane) return plane;
  const before = await previousPrograms({ build: true });
  if ("reason" in before) return { reason: before.reason };
  const programs = dirname(made.kubelet);
  const images = join(programs, "service-images");
  const releases = [
    { dir: before.dir, version: before.version, etcd: "3.5.21-0" },
    { dir: join(plane.dir, made.version), version: made.version, etcd: "3.6.4-0" },
  ];
  makeImages([...recipes(programs, made.version, tunnel.dir), ...serviceRecipes(root, releases)], images);
  return { ...made, images, previous: before.version };
}

/**
 * What machines of the rig of OpenStack's operator need: kube-proxy and CoreDNS run on them without a pod, so that of
 * the images the one of a pod's own process is enough.
 */
export async function rigEnvironment(): Promise<NodeEnvironment | { readonly reason: string }> {
  const problem = installPackages();
  if (problem !== undefined) return problem;
  const built = await nodePrograms(["kubelet", "kube-proxy", "coredns"]);
  if ("reason" in built) return { reason: built.reason };
  const images = join(built.dir, "rig-images");
  makeImages([pauseRecipe], images);
  return { kubelet: join(built.dir, "kubelet"), images, version: built.version };
}

/**
 * Installs Debian's packages, builds programs and makes images, whatever of them is missing. Says why where that cannot
 * be.
 */
export async function nodeEnvironment(): Promise<NodeEnvironment | { readonly reason: string }> {
  const problem = installPackages();
  if (problem !== undefined) return problem;
  const built = await nodePrograms();
  if ("reason" in built) return { reason: built.reason };
  const tunnel = await konnectivityBinaries();
  if ("reason" in tunnel) return tunnel;
  const images = join(built.dir, "images");
  makeImages(recipes(built.dir, built.version, tunnel.dir), images);
  return { kubelet: join(built.dir, "kubelet"), images, version: built.version };
}

function installPackages(): { readonly reason: string } | undefined {
  if (process.getuid?.() !== 0) return { reason: "machines with a real kubelet need root" };
  const missing = PACKAGES.filter(
    ([, file]) => !existsSync(file) && spawnSync("sh", ["-c", `command -v ${file}`]).status !== 0,
  );
  if (missing.length > 0) {
    const args = ["install", "-y", "-q", "--no-install-recommends", ...missing.map(([name]) => name)];
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const { status } = spawnSync("apt-get", args, { stdio: ["ignore", "ignore", "inherit"], env });
    if (status !== 0) return { reason: `apt-get ${args.join(" ")} ended with ${status}` };
  }
  return undefined;
}
