import { createHash } from "node:crypto";
import type { OpenStackDeploymentSpec } from "@causeway/api";

/** Packages that the image of a service has in addition. */
export type ImagePackages = NonNullable<NonNullable<OpenStackDeploymentSpec["services"]>[number]["packages"]>;

/** An image that has to be built, and pushed under the reference that pods expect. */
export interface ImageBuild {
  readonly image: string;
  /** The image that it extends. */
  readonly base: string;
  /** SHA-256 of the text of the Containerfile. */
  readonly digest: string;
  readonly containerfile: string;
}

/** Digits of the digest in a tag: no two builds of a deployment share them. */
const TAG_DIGITS = 16;
const LOCK = "/opt/causeway/requirements.txt";

/**
 * The build of an image with more packages: the same base and packages, in whatever order, make the same text, digest
 * and reference. Every file that pip installs is one of the given hashes, and it resolves no dependencies.
 *
 * @param repository Where the image is pushed, without a tag.
 */
export function overlayOf(
  packages: ImagePackages,
  { base, repository, tag }: { readonly base: string; readonly repository: string; readonly tag: string },
): ImageBuild {
  const lock = packages
    .map(({ name, version, hashes }) => ({ name, version, hashes: [...new Set(hashes)].toSorted() }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, version, hashes }) => [
      `${name}==${version} \\`,
      ...hashes.map((hash, at) => `    --hash=${hash}${at === hashes.length - 1 ? "" : " \\"}`),
    ]);
  const install = ["python3", "-m", "pip", "install", "--no-cache-dir", "--no-deps", "--require-hashes", "-r", LOCK];
  const containerfile = [
    `FROM ${base}`,
    "USER 0",
    // The quotes keep the builder from replacing anything in the lines below.
    `COPY <<'EOF' ${LOCK}`,
    ...lock,
    "EOF",
    "ENV PIP_BREAK_SYSTEM_PACKAGES=1",
    `RUN ${JSON.stringify(install)}`,
    "",
  ].join("\n");
  const digest = createHash("sha256").update(containerfile).digest("hex");
  return { image: `${repository}:${tag}-${digest.slice(0, TAG_DIGITS)}`, base, digest, containerfile };
}
