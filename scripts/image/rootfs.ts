/**
 * The root file system of the image: libraries from Debian's packages, Node, and the published packages of Causeway.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packAll } from "../pack/pack.ts";

/** What Node is linked with, the authorities that it trusts, and the time zones of CronJobs. */
const DEBIAN = ["libc6", "libgcc-s1", "libstdc++6", "libatomic1", "ca-certificates", "tzdata"];
/** Folders of Debian's packages that no program of the image reads. */
const UNUSED = ["usr/share/doc", "usr/share/man", "usr/share/lintian", "usr/sbin", "usr/share/locale"];
/** Who runs in the image. */
export const USER = 65532;

/** Where a container begins, and keeps the state folder: a volume, where it must outlive the container. */
export const HOME = "var/lib/causeway";

/** The image has no /usr/bin/env, by which the package's own command finds Node: pods name this one. */
const COMMAND = `#!/usr/bin/node --max-semi-space-size=1
import "/usr/lib/causeway/node_modules/@causeway/causeway/dist/start.js";
`;

/** A package that is in the image. */
export interface Component {
  readonly name: string;
  readonly version: string;
  readonly from: "debian" | "npm";
}

/** Fills an empty folder; returns what is in it. */
export function makeRootfs(root: string, dir: string): Component[] {
  const work = mkdtempSync(join(tmpdir(), "causeway-image-"));
  try {
    return [...debian(work, dir), ...node(dir), ...causeway(root, { work, dir })];
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function debian(work: string, dir: string): Component[] {
  // As root: the folder is not the download user's.
  const options = ["-q", "-o", "APT::Sandbox::User=root"];
  execFileSync("apt-get", ["download", ...options, ...DEBIAN], { cwd: work, stdio: ["ignore", "ignore", "inherit"] });
  const found = readdirSync(work).filter((file) => file.endsWith(".deb"));
  for (const file of found) execFileSync("dpkg-deb", ["-x", join(work, file), dir]);
  authorities(dir);
  for (const folder of UNUSED) rmSync(join(dir, folder), { recursive: true, force: true });
  for (const folder of ["tmp", HOME]) writable(join(dir, folder));
  mkdirSync(join(dir, "etc"), { recursive: true });
  writeFileSync(join(dir, "etc/passwd"), `causeway:x:${USER}:${USER}:causeway:/tmp:/sbin/nologin\n`);
  writeFileSync(join(dir, "etc/group"), `causeway:x:${USER}:\n`);
  return found.map((file) => {
    const [name = "", version = ""] = file.split("_");
    return { name, version: decodeURIComponent(version), from: "debian" };
  });
}

/** As /tmp is: the layer's files all belong to root, and containers run as another user. */
function writable(folder: string): void {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o1777);
}

/** The bundle that update-ca-certificates makes where the package is installed. */
function authorities(dir: string): void {
  const folder = join(dir, "usr/share/ca-certificates/mozilla");
  const all = readdirSync(folder).sort();
  mkdirSync(join(dir, "etc/ssl/certs"), { recursive: true });
  const bundle = all.map((file) => readFileSync(join(folder, file), "utf8")).join("");
  writeFileSync(join(dir, "etc/ssl/certs/ca-certificates.crt"), bundle);
}

function node(dir: string): Component[] {
  mkdirSync(join(dir, "usr/bin"), { recursive: true });
  copyFileSync(process.execPath, join(dir, "usr/bin/node"));
  return [{ name: "node", version: process.versions.node, from: "npm" }];
}

function causeway(root: string, { work, dir }: { readonly work: string; readonly dir: string }): Component[] {
  const packed = packAll(root, join(work, "tarballs"));
  const dependencies = Object.fromEntries(packed.map(({ manifest, tarball }) => [manifest.name, `file:${tarball}`]));
  const home = join(dir, "usr/lib/causeway");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, dependencies }));
  const args = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--omit=optional", "--ignore-scripts"];
  execFileSync("npm", [...args, "--no-package-lock"], { cwd: home, stdio: ["ignore", "ignore", "inherit"] });
  const lock = JSON.parse(readFileSync(join(home, "node_modules/.package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly version: string }>>;
  };
  // Both name the folder that the tarballs were in.
  rmSync(join(home, "node_modules/.package-lock.json"));
  writeFileSync(join(home, "package.json"), '{"private":true}\n');
  const command = join(dir, "usr/bin/causeway");
  writeFileSync(command, COMMAND);
  chmodSync(command, 0o755);
  return Object.entries(lock.packages).map(([path, { version }]) => {
    return { name: path.replace(/^.*node_modules\//, ""), version, from: "npm" };
  });
}
