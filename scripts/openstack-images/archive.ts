/**
 * An archive of one image with many names, as `ctr images import` reads it. The layer is not compressed: it remains on
 * this machine.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface NamedImage {
  readonly names: readonly string[];
  readonly env: readonly string[];
  /** Seconds, of all files and of the image. */
  readonly epoch: number;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";

/** Writes `file` from the root file system, by way of `work`; the digest of the image's manifest. */
export async function writeArchive(rootfs: string, work: string, file: string, image: NamedImage): Promise<string> {
  const blobs = join(work, "blobs/sha256");
  mkdirSync(blobs, { recursive: true });
  const json = (mediaType: string, value: object): Descriptor => {
    const bytes = Buffer.from(JSON.stringify(value));
    const hex = createHash("sha256").update(bytes).digest("hex");
    writeFileSync(join(blobs, hex), bytes);
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
  };
  const layer = await writeLayer(rootfs, blobs, image.epoch);
  const config = json("application/vnd.oci.image.config.v1+json", {
    created: new Date(image.epoch * 1000).toISOString(),
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    os: "linux",
    config: { Env: image.env },
    rootfs: { type: "layers", diff_ids: [layer.digest] },
  });
  const manifest = json(MANIFEST, { schemaVersion: 2, mediaType: MANIFEST, config, layers: [layer] });
  const manifests = image.names.map((name) => {
    return {
      ...manifest,
      annotations: { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name },
    };
  });
  writeFileSync(join(work, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }));
  writeFileSync(join(work, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  execFileSync("tar", ["-c", "-f", `${file}.${process.pid}`, "-C", work, "."]);
  renameSync(`${file}.${process.pid}`, file);
  rmSync(work, { recursive: true, force: true });
  return manifest.digest;
}

async function writeLayer(rootfs: string, blobs: string, epoch: number): Promise<Descriptor> {
  const half = join(blobs, "layer");
  const owner = ["--owner=0", "--group=0", "--numeric-owner"];
  const order = ["--sort=name", `--mtime=@${epoch}`, "--format=posix", "--pax-option=delete=atime,delete=ctime"];
  execFileSync("tar", ["-c", "-f", half, ...order, ...owner, "-C", rootfs, "."]);
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(half)) hash.update(chunk as Buffer);
  const hex = hash.digest("hex");
  renameSync(half, join(blobs, hex));
  const mediaType = "application/vnd.oci.image.layer.v1.tar";
  return { mediaType, digest: `sha256:${hex}`, size: statSync(join(blobs, hex)).size };
}
