/** An OCI image layout of one layer, whose bytes depend on the content of the files alone. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const LARGEST_LAYER = 1024 ** 3;

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** What a layout says of its image. */
export interface ImageFacts {
  /** Seconds, of all files and of the image. */
  readonly epoch: number;
  /** How its containers run: User, Entrypoint, Cmd, Env, Labels. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Of the image's entry in the index, such as its name. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** Writes the layout to `out`; returns the digest of the image's manifest. */
export function writeLayout(rootfs: string, out: string, { epoch, config: run, annotations }: ImageFacts): string {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(join(out, "blobs/sha256"), { recursive: true });
  const put = (mediaType: string, bytes: Buffer): Descriptor => {
    const digest = sha256(bytes);
    writeFileSync(join(out, "blobs", digest.replace(":", "/")), bytes);
    return { mediaType, digest, size: bytes.length };
  };
  const json = (mediaType: string, value: object) => put(mediaType, Buffer.from(JSON.stringify(value)));
  const owner = ["--owner=0", "--group=0", "--numeric-owner"];
  const order = ["--sort=name", `--mtime=@${epoch}`, "--format=posix", "--pax-option=delete=atime,delete=ctime"];
  const tar = execFileSync("tar", ["-c", ...order, ...owner, "-C", rootfs, "."], { maxBuffer: LARGEST_LAYER });
  const layer = put("application/vnd.oci.image.layer.v1.tar+gzip", gzipSync(tar, { level: 6 }));
  const created = new Date(epoch * 1000).toISOString();
  const config = json("application/vnd.oci.image.config.v1+json", {
    created,
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    os: "linux",
    config: run,
    rootfs: { type: "layers", diff_ids: [sha256(tar)] },
  });
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = json(mediaType, { schemaVersion: 2, mediaType, config, layers: [layer] });
  writeFileSync(
    join(out, "index.json"),
    JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }),
  );
  writeFileSync(join(out, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  return manifest.digest;
}

function sha256(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
