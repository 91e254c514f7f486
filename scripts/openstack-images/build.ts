/**
 * The images of packages/openstack-operator's components: one root file system of Debian 12's packages under many
 * names.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { cached, root } from "../kubernetes-programs.ts";
import { writeArchive } from "./archive.ts";
import { fetchPackages, readLock } from "./packages.ts";
import { makeRootfs } from "./rootfs.ts";

/** The registry that the images are named after. Nothing is fetched from it. */
export const REGISTRY = "registry.causeway.invalid/openstack";
/** The release of Debian 12. */
export const RELEASE = "2022.2";
const EPOCH = 1_700_000_000;
const DAY = 24 * 3600 * 1000;
const sources = join(root, "tools/openstack-images");
/** Drivers of the devcloud, by their place in the images: without machines nova-compute has network namespaces. */
const DRIVERS: readonly (readonly [string, string])[] = [
  ["tools/devcloud/lib/devcloud_compute.py", "usr/lib/python3/dist-packages/nova/virt/devcloud_compute.py"],
];

export interface OpenStackImages {
  /** A folder with the archive alone. */
  readonly folder: string;
}

/** Builds the archive, unless it is there for the same packages, files and programs. */
export async function openStackImages(): Promise<OpenStackImages> {
  const all = cached("openstack-images");
  const digestOfAll = revision();
  const folder = join(all, digestOfAll);
  const file = join(folder, `openstack-${RELEASE}-${digestOfAll}.tar`);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(file)) {
    console.log(`building images of OpenStack ${RELEASE}, once, into ${file}`);
    const digest = await buildArchive(file);
    console.log(`image ${digest}`);
  }
  utimesSync(folder, new Date(), new Date());
  removeUnused(all);
  return { folder };
}

/** Other checkouts of this repository have images of their own: only those that none has used for a day are removed. */
function removeUnused(all: string): void {
  for (const name of readdirSync(all)) {
    const folder = join(all, name);
    const { mtimeMs = Infinity } = statSync(folder, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > DAY) rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes the archive; the digest of the image. */
export async function buildArchive(file: string): Promise<string> {
  const lock = readLock(readFileSync(join(sources, "packages.lock"), "utf8"));
  const debs = fetchPackages(lock, cached("openstack-debs"));
  const work = mkdtempSync(join(cached("openstack-images"), "build-"));
  try {
    const rootfs = join(work, "rootfs");
    mkdirSync(rootfs);
    makeRootfs(
      debs,
      { files: join(sources, "files"), drivers: DRIVERS.map(([from, to]) => [join(root, from), to]) },
      rootfs,
    );
    const env = ["PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "PYTHONUNBUFFERED=1"];
    return await writeArchive(rootfs, join(work, "oci"), file, { names: imageNames(), env, epoch: EPOCH });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The images of components (packages/openstack-operator/src/catalogue) whose programs are among the packages. */
const IMAGES = [
  "barbican",
  "cinder",
  "designate",
  "glance",
  "heat",
  "horizon",
  "keystone",
  "manila",
  "mariadb",
  "memcached",
  "neutron",
  "nova",
  "nova-compute",
  "octavia",
  "openvswitch",
  "ovn",
  "placement",
  "rabbitmq",
];

const imageNames = (): string[] => IMAGES.map((image) => `${REGISTRY}/${image}:${RELEASE}`);

/** Of all that the archive depends on. */
function revision(): string {
  const hash = createHash("sha256").update(JSON.stringify(imageNames()));
  for (const [from] of DRIVERS) hash.update(readFileSync(join(root, from)));
  for (const folder of [sources, join(root, "scripts/openstack-images")])
    for (const path of readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => join(each.parentPath, each.name))
      .toSorted())
      if (!path.endsWith(".md")) hash.update(path.slice(root.length)).update(readFileSync(path));
  return hash.digest("hex").slice(0, 12);
}
