/** Images of a service cluster: control planes as pods of two minors, and Causeway, under the names that pods have. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { makeRootfs } from "../image/rootfs.ts";
import type { ImageRecipe } from "./images.ts";
import { NODE_PART_PACKAGES } from "./storage-images.ts";

/** The name in deploy/: where no registry is named, containerd means this one. */
export const CAUSEWAY_IMAGE = "docker.io/library/causeway:0.1.0";

/** The programs of one minor. */
export interface ServedRelease {
  /** A folder with etcd, kube-apiserver, kube-controller-manager and kube-scheduler. */
  readonly dir: string;
  readonly version: string;
  /** The tag of the etcd that kubeadm runs with it. */
  readonly etcd: string;
}

/** `root` is this checkout. */
export function serviceRecipes(root: string, releases: readonly ServedRelease[]): readonly ImageRecipe[] {
  return [
    ...releases.flatMap(({ dir, version, etcd }) => [
      programRecipe(dir, "etcd", etcd),
      ...["kube-apiserver", "kube-controller-manager", "kube-scheduler"].map((name) =>
        programRecipe(dir, name, version),
      ),
    ]),
    {
      name: CAUSEWAY_IMAGE,
      // The Cinder driver's node part is of the same image here: it makes and mounts file systems.
      packages: NODE_PART_PACKAGES,
      base: (rootfs) => void makeRootfs(root, rootfs),
      revision: revisionOf(root),
      entrypoint: ["/usr/bin/node", "--max-semi-space-size=1", "/usr/bin/causeway"],
      env: ["HOME=/tmp", "NODE_ENV=production", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"],
    },
  ];
}

function programRecipe(dir: string, name: string, tag: string): ImageRecipe {
  const file = `usr/bin/${name}`;
  return {
    name: `registry.k8s.io/${name}:${tag}`,
    packages: [],
    files: { [file]: join(dir, name) },
    entrypoint: [`/${file}`],
  };
}

/** What is committed in packages/, and what is changed since. */
function revisionOf(root: string): string {
  const paths = ["packages", "scripts/image", "package-lock.json"];
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, maxBuffer: 256 * 1024 * 1024 });
  const hash = createHash("sha256").update(git("ls-tree", "HEAD", ...paths));
  return hash.update(git("diff", "HEAD", "--", ...paths)).digest("hex");
}
