/** Images for Kubernetes' e2e tests of storage: the Cinder driver's node part, and those that the tests' pods use. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { makeRootfs } from "../image/rootfs.ts";
import type { ImageRecipe } from "./images.ts";

/** Causeway with the programs that make, check and mount file systems. */
export const DRIVER_IMAGE = "registry.causeway.invalid/causeway-node:test";

/** Upstream's driver, with the same programs. */
export const UPSTREAM_IMAGE = "registry.causeway.invalid/cinder-csi-plugin:test";

/** Programs of the node part, and the libraries that they are linked with. */
const PROGRAMS = ["mount", "util-linux", "util-linux-extra", "e2fsprogs", "xfsprogs"];
const LIBRARIES = [
  ["libblkid1", "libmount1", "libsmartcols1", "libuuid1", "libselinux1", "libpcre2-8-0", "libcap-ng0", "libcrypt1"],
  ["libsystemd0", "libudev1", "libtinfo6", "zlib1g", "libext2fs2", "libss2", "libcom-err2", "libinih1", "liburcu8"],
  ["libedit2", "libbsd0", "libmd0", "libicu72", "libdevmapper1.02.1", "libreadline8", "libpam0g", "libaudit1"],
].flat();

/** What an image of Causeway needs to make and mount file systems. */
export const NODE_PART_PACKAGES: readonly string[] = [...PROGRAMS, ...LIBRARIES];

/** What coreutils are linked with. */
const COREUTILS = ["libc6", "libacl1", "libattr1", "libgmp10", "libselinux1", "libpcre2-8-0"];

/**
 * Images of which the tests use the shell only: those that check whether a file on a volume can be executed use
 * nginx's.
 */
const SHELLS = ["registry.k8s.io/e2e-test-images/busybox:1.37.0-1", "registry.k8s.io/e2e-test-images/nginx:1.14-4"];

/**
 * `root` is this checkout, `agnhost` the program of that name, `upstream` cinder-csi-plugin where its image is wanted.
 */
export function storageRecipes(root: string, agnhost: string, upstream?: string): readonly ImageRecipe[] {
  return [
    ...(upstream === undefined ? [] : [upstreamRecipe(upstream)]),
    {
      name: DRIVER_IMAGE,
      packages: NODE_PART_PACKAGES,
      base: (rootfs) => void makeRootfs(root, rootfs),
      revision: revisionOf(root),
      entrypoint: ["/usr/bin/node", "--max-semi-space-size=1", "/usr/bin/causeway"],
      env: ["HOME=/tmp", "NODE_ENV=production"],
    },
    // Not the static busybox: that cannot look up names.
    ...SHELLS.map((name): ImageRecipe => {
      return { name, packages: ["busybox", "libc6"], busybox: true, entrypoint: [] };
    }),
    {
      // Pods that use a volume together write with options of dd that busybox's does not have.
      name: "registry.k8s.io/e2e-test-images/jessie-dnsutils:1.7",
      packages: ["busybox", "coreutils", ...COREUTILS],
      busybox: true,
      entrypoint: [],
    },
    {
      name: "registry.k8s.io/e2e-test-images/agnhost:2.56",
      packages: ["busybox", "libc6"],
      busybox: true,
      files: { agnhost },
      entrypoint: ["/agnhost"],
    },
  ];
}

function upstreamRecipe(program: string): ImageRecipe {
  return {
    name: UPSTREAM_IMAGE,
    packages: [...PROGRAMS, ...LIBRARIES, "libc6", "libgcc-s1", "libstdc++6", "busybox"],
    busybox: true,
    files: { "bin/cinder-csi-plugin": program },
    entrypoint: ["/bin/cinder-csi-plugin"],
  };
}

/** What the driver's node part consists of. */
const SOURCES = ["csi", "csi-openstack", "cinder-csi", "foundation", "causeway/src/commands/run/csi"];

/** Of these sources: what is committed, and what is changed since. */
function revisionOf(root: string): string {
  const paths = [...SOURCES.map((name) => `packages/${name}`), "package-lock.json"];
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, maxBuffer: 256 * 1024 * 1024 });
  const hash = createHash("sha256").update(git("ls-tree", "HEAD", ...paths));
  return hash.update(git("diff", "HEAD", "--", ...paths)).digest("hex");
}
