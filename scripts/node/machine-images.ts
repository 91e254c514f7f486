/**
 * What images of machines hold that kubeadm makes a control plane of: kubeadm, the kubelet, and archives of the images
 * of its static pods and add-ons.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import {
  cached,
  controlPlanePrograms,
  kubeadmProgram,
  nodePrograms,
  previousNodePrograms,
  previousPrograms,
} from "../kubernetes-programs.ts";
import { kubeProxyRecipe, makeImages, pauseRecipe, type ImageRecipe } from "./images.ts";

/** An image of a machine: a folder with kubeadm, kubelet and images/*.tar. */
export interface MachineImage {
  readonly folder: string;
  readonly version: string;
}

/** Programs of one release by name, each a file of this host. */
type Programs = Readonly<
  Record<
    | "etcd"
    | "kube-apiserver"
    | "kube-controller-manager"
    | "kube-scheduler"
    | "kube-proxy"
    | "kubeadm"
    | "kubelet"
    | "coredns",
    string
  >
>;

/** The images of two minors, the older one first, with what they need built. */
export async function machineImages(): Promise<readonly MachineImage[] | { readonly reason: string }> {
  const node = await nodePrograms(["kubelet", "kube-proxy", "coredns"]);
  if ("reason" in node) return { reason: node.reason };
  const coredns = join(node.dir, "coredns");
  const before = await kubeadmProgram("previous");
  const plane = await previousPrograms({ build: true });
  const kubelet = await previousNodePrograms();
  const now = await kubeadmProgram("current");
  const planes = await controlPlanePrograms();
  for (const built of [before, plane, kubelet, now, planes]) if ("reason" in built) return { reason: built.reason };
  if ("reason" in before || "reason" in now) return { reason: "kubeadm is not built" };
  const own = { kubelet: join(node.dir, "kubelet"), "kube-proxy": join(node.dir, "kube-proxy"), coredns };
  const releases = [
    { version: before.version, programs: { ...programsIn(before.dir), coredns } },
    { version: now.version, programs: { ...programsIn(now.dir), ...own } },
  ];
  const addons = releases.flatMap((release) => recipesOf(release).filter(({ name }) => ADDONS.test(name)));
  return releases.map((release) => imageOf(release, addons));
}

function programsIn(dir: string): Omit<Programs, "coredns"> {
  return {
    etcd: join(dir, "etcd"),
    "kube-apiserver": join(dir, "kube-apiserver"),
    "kube-controller-manager": join(dir, "kube-controller-manager"),
    "kube-scheduler": join(dir, "kube-scheduler"),
    "kube-proxy": join(dir, "kube-proxy"),
    kubeadm: join(dir, "kubeadm"),
    kubelet: join(dir, "kubelet"),
  };
}

interface Release {
  readonly version: string;
  readonly programs: Programs;
}

/**
 * What runs on every Node in the release of the cluster, which may be the other one while it is upgraded: a registry
 * would have it.
 */
const ADDONS = /\/(?:kube-proxy|coredns):/;

function imageOf(release: Release, addons: readonly ImageRecipe[]): MachineImage {
  const { version, programs } = release;
  const folder = cached(`machine-${version}`);
  mkdirSync(join(folder, "images"), { recursive: true });
  for (const name of ["kubeadm", "kubelet"] as const) {
    rmSync(join(folder, name), { force: true });
    symlinkSync(programs[name], join(folder, name));
  }
  const own = recipesOf(release).filter(({ name }) => !ADDONS.test(name));
  makeImages([...own, ...addons], join(folder, "images"));
  return { folder, version };
}

/** Under the names that this kubeadm asks for, and the sandbox image that containerd is configured with. */
function recipesOf(release: Release): ImageRecipe[] {
  const { version, programs } = release;
  const listed = spawnSync(programs.kubeadm, ["config", "images", "list", "--kubernetes-version", version], {
    encoding: "utf8",
  });
  const names = listed.stdout.split("\n").filter((line) => line !== "");
  if (listed.status !== 0 || names.length === 0) throw new Error(`kubeadm lists no images: ${listed.stderr}`);
  return [...new Set([...names, pauseRecipe.name])].map((name) => recipeOf(name, release));
}

function recipeOf(name: string, { version, programs }: Release): ImageRecipe {
  const component = /([a-z-]+):[^:]+$/.exec(name)?.[1] ?? "";
  if (component === "pause") return { ...pauseRecipe, name };
  if (component === "kube-proxy") return kubeProxyRecipe(programs["kube-proxy"], version);
  const program = Object.hasOwn(programs, component) ? programs[component as keyof Programs] : undefined;
  if (program === undefined || !existsSync(program)) throw new Error(`there is no program for the image ${name}`);
  // CoreDNS is started by its path, the others by their names.
  const path = component === "coredns" ? "coredns" : `usr/bin/${component}`;
  return { name, packages: [], files: { [path]: program }, entrypoint: [`/${path}`] };
}
