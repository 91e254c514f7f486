/** Debian's packages at the versions of tools/openstack-images/packages.lock, from a folder that keeps them. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
}

/** How many packages are requested from apt at once. */
const BATCH = 100;

export function readLock(text: string): readonly LockedPackage[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [, name, version, sha256] = /^([^= ]+)=(\S+) ([0-9a-f]{64})$/.exec(line) ?? [];
      if (name === undefined || version === undefined || sha256 === undefined)
        throw new Error(`packages.lock: "${line}" is not NAME=VERSION SHA256`);
      return { name, version, sha256 };
    });
}

/**
 * Fetches what is missing in `folder`; the files, in the order of the lock. Throws where Debian has another file than
 * the lock says, or none.
 */
export function fetchPackages(lock: readonly LockedPackage[], folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  const fileOf = (sha256: string) => join(folder, `${sha256}.deb`);
  const missing = lock.filter(({ sha256 }) => !existsSync(fileOf(sha256)));
  for (let start = 0; start < missing.length; start += BATCH) {
    const wanted = missing.slice(start, start + BATCH).map(({ name, version }) => `${name}=${version}`);
    const work = mkdtempSync(join(folder, "download-"));
    try {
      execFileSync("apt-get", ["download", "-q", ...wanted], { cwd: work, stdio: ["ignore", "ignore", "inherit"] });
      for (const name of readdirSync(work)) {
        const sha256 = createHash("sha256")
          .update(readFileSync(join(work, name)))
          .digest("hex");
        renameSync(join(work, name), fileOf(sha256));
      }
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  const absent = lock.find(({ sha256 }) => !existsSync(fileOf(sha256)));
  if (absent)
    throw new Error(
      `Debian has no ${absent.name} ${absent.version} with the SHA-256 of packages.lock: run tools/openstack-images/pin`,
    );
  return lock.map(({ sha256 }) => fileOf(sha256));
}
