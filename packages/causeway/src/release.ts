import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

interface Manifest {
  readonly name: string;
  readonly version: string;
  /** Of a published package: the commit that it was made of. */
  readonly gitHead?: string;
}

/** The version of this package. */
export function ownVersion(): string {
  return ownManifest()?.manifest.version ?? "unknown";
}

/** The commit that this program was made of: of a published package its gitHead, of a checkout what git reports. */
export function ownCommit(): string {
  const own = ownManifest();
  return own?.manifest.gitHead ?? (own && checkedOut(own.dir)) ?? "unknown";
}

/** The package.json of this package, from its sources, its published files, or a checkout's bundle. */
function ownManifest(): { readonly dir: string; readonly manifest: Manifest } | undefined {
  for (let dir = import.meta.dirname; ; dir = dirname(dir)) {
    const manifest = manifestAt(dir) ?? manifestAt(join(dir, "packages/causeway"));
    if (manifest) return { dir, manifest };
    if (dir === dirname(dir)) return undefined;
  }
}

function manifestAt(dir: string): Manifest | undefined {
  const path = join(dir, "package.json");
  if (!existsSync(path)) return undefined;
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest;
  return manifest.name === "@causeway/causeway" ? manifest : undefined;
}

function checkedOut(dir: string): string | undefined {
  const { stdout, status } = spawnSync("git", ["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"], {
    cwd: dir,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 5_000,
  });
  return status === 0 ? stdout.trim() : undefined;
}
