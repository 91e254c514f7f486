/**
 * Images of releases after Debian 12's, for upgrades: services of PyPI over the image that scripts/openstack-images
 * builds. One archive has all releases of a test, so that what they share is in there once.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { cached, root } from "../kubernetes-programs.ts";
import { openStackImages, REGISTRY } from "../openstack-images/build.ts";
import { fetchWheels, makeLayer } from "./layer.ts";

/** Each can be reached from the one before it. */
export const LATER_RELEASES = ["2023.1", "2024.1", "2025.1"] as const;
type LaterRelease = (typeof LATER_RELEASES)[number];
/** Programs that are Debian's in every release, and the images of what PyPI may have. */
const OF_DEBIAN = ["mariadb", "memcached", "openvswitch", "ovn", "rabbitmq"];
const OF_PYPI: Readonly<Record<string, readonly string[]>> = {
  glance: ["glance"],
  keystone: ["keystone"],
  neutron: ["neutron"],
  nova: ["nova", "nova-compute"],
  "openstack-placement": ["placement"],
};
const EPOCH = 1_700_000_000;
const sources = join(root, "tools/openstack-releases");

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

interface Config {
  readonly rootfs: { readonly type: string; readonly diff_ids: readonly string[] };
}

/** A folder with the archive of some releases, built unless it is there for the same packages. */
export async function openStackReleases(releases: readonly LaterRelease[] = LATER_RELEASES): Promise<string> {
  const base = await openStackImages();
  const [baseArchive = ""] = readdirSync(base.folder).filter((name) => name.endsWith(".tar"));
  const folder = cached(`openstack-releases/${releases.join("-")}`);
  const file = join(folder, `openstack-releases-${revision(baseArchive, releases)}.tar`);
  if (existsSync(file)) return folder;
  for (const other of readdirSync(folder)) if (other.endsWith(".tar")) rmSync(join(folder, other));
  const work = mkdtempSync(join(folder, "build-"));
  try {
    console.log(`building images of ${releases.join(", ")}, once, into ${file}`);
    const image = join(work, "image");
    mkdirSync(image);
    execFileSync("tar", ["-x", "-f", join(base.folder, baseArchive), "-C", image]);
    const index = JSON.parse(readFileSync(join(image, "index.json"), "utf8")) as { manifests: Descriptor[] };
    const [first] = index.manifests;
    if (!first) throw new Error(`${baseArchive} has no image`);
    const manifests = releases.flatMap((release) => addRelease(release, image, first));
    writeFileSync(join(image, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }));
    execFileSync("tar", ["-c", "-f", join(work, "archive"), "-C", image, "."]);
    renameSync(join(work, "archive"), file);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

/** Adds the blobs of a release; its manifest under each of its names. */
function addRelease(release: string, image: string, base: Descriptor): Descriptor[] {
  const blobs = join(image, "blobs/sha256");
  const read = <T>({ digest }: Descriptor): T => JSON.parse(readFileSync(join(blobs, hexOf(digest)), "utf8")) as T;
  const manifest = read<Manifest>(base);
  const config = read<Config>(manifest.config);
  const layer = writeLayer(release, dirname(image), blobs);
  const json = ({ mediaType }: Descriptor, value: object): Descriptor => {
    const bytes = Buffer.from(JSON.stringify(value));
    const hex = createHash("sha256").update(bytes).digest("hex");
    writeFileSync(join(blobs, hex), bytes);
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
  };
  const rootfs = { ...config.rootfs, diff_ids: [...config.rootfs.diff_ids, layer.digest] };
  const described = json(base, {
    ...manifest,
    config: json(manifest.config, { ...config, rootfs }),
    layers: [...manifest.layers, { ...manifest.layers[0], ...layer }],
  });
  return imagesOf(release).map((name) => {
    const full = `${REGISTRY}/${name}:${release}`;
    const annotations = { "io.containerd.image.name": full, "org.opencontainers.image.ref.name": full };
    return { ...described, annotations };
  });
}

/** Images of the services that a release's file has. */
function imagesOf(release: string): string[] {
  const lines = readFileSync(join(sources, `${release}.txt`), "utf8").split("\n");
  return [...OF_DEBIAN, ...lines.flatMap((line) => OF_PYPI[line.split("==")[0] ?? ""] ?? [])];
}

function writeLayer(release: string, work: string, blobs: string): { digest: string; size: number } {
  const wheels = fetchWheels(join(sources, `${release}.txt`), cached(`openstack-wheels/${release}`));
  const dir = join(work, release);
  makeLayer(wheels, dir);
  const half = join(work, `${release}.tar`);
  const order = ["--sort=name", `--mtime=@${EPOCH}`, "--format=posix", "--pax-option=delete=atime,delete=ctime"];
  execFileSync("tar", ["-c", "-f", half, ...order, "--owner=0", "--group=0", "--numeric-owner", "-C", dir, "."]);
  rmSync(dir, { recursive: true, force: true });
  const bytes = readFileSync(half);
  const hex = createHash("sha256").update(bytes).digest("hex");
  renameSync(half, join(blobs, hex));
  return { digest: `sha256:${hex}`, size: bytes.length };
}

const hexOf = (digest: string): string => digest.replace("sha256:", "");

function revision(base: string, releases: readonly string[]): string {
  const hash = createHash("sha256").update(base).update(JSON.stringify(releases));
  const others = LATER_RELEASES.filter((release) => !releases.includes(release)).map((release) => `${release}.txt`);
  for (const folder of [sources, import.meta.dirname])
    for (const name of readdirSync(folder).toSorted())
      if (!name.endsWith(".md") && !others.includes(name)) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest("hex").slice(0, 12);
}
