import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeLayout } from "./oci.ts";
import { HOME, makeRootfs, USER } from "./rootfs.ts";
import { spdx } from "./sbom.ts";

/** An image in a folder: `rootfs/`, the layout `oci/`, and `sbom.spdx.json`. */
export interface Image {
  readonly rootfs: string;
  readonly layout: string;
  readonly sbom: string;
  /** Of the manifest: equal for equal sources. */
  readonly digest: string;
}

/** Builds the image of this checkout from Debian's packages and npm's, without a registry of images. */
export function buildImage(root: string, out: string): Image {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const { version } = JSON.parse(readFileSync(join(root, "packages/causeway/package.json"), "utf8")) as {
    readonly version: string;
  };
  const facts = { version, commit: git("rev-parse", "HEAD"), epoch: Number(git("log", "-1", "--format=%ct")) };
  const rootfs = join(out, "rootfs");
  rmSync(out, { recursive: true, force: true });
  mkdirSync(rootfs, { recursive: true });
  const components = makeRootfs(root, rootfs);
  const sbom = join(out, "sbom.spdx.json");
  writeFileSync(sbom, `${JSON.stringify(spdx(components, facts), null, 2)}\n`);
  const layout = join(out, "oci");
  const config = {
    User: `${USER}:${USER}`,
    WorkingDir: `/${HOME}`,
    Entrypoint: ["/usr/bin/node", "--max-semi-space-size=1", "/usr/bin/causeway"],
    Env: ["PATH=/usr/bin", "HOME=/tmp", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt", "NODE_ENV=production"],
    Labels: { "org.opencontainers.image.version": version, "org.opencontainers.image.revision": facts.commit },
  };
  // podman reads the first name of a loaded image, and containerd the second, with which docker loads.
  const annotations = {
    "org.opencontainers.image.ref.name": `causeway:${version}`,
    "io.containerd.image.name": `docker.io/library/causeway:${version}`,
  };
  return { rootfs, layout, sbom, digest: writeLayout(rootfs, layout, { epoch: facts.epoch, config, annotations }) };
}
