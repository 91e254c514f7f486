import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

/**
 * A root file system as a stranger's machine has it: the shell and the tools of a minimal Debian, npm with the Node
 * that this machine has outside the project, kubectl, and a user without rights. No compiler, no Python, no git, no
 * curl, and nothing that another suite installed.
 */
const DEBIAN =
  "bash dash coreutils grep sed findutils base-files ca-certificates libc6 libgcc-s1 libstdc++6 libatomic1 libtinfo6 " +
  "libselinux1 libpcre2-8-0 libacl1 libattr1 libgmp10 libssl3";
const USER = 1000;
/** The user's home folder, in the root. */
export const USER_HOME = "/home/user";

/** Variables that name the authorities of a registry behind a proxy, and files that say where the registry is. */
const TRUST = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"];
const NETWORK = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/usr/etc/npmrc", "/etc/npmrc"];

/** Whether this process may make and enter a root, on a machine whose packages are Debian's. */
export const rightsForRoot = (): boolean => process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");

/** Fills an empty folder; returns the environment of the user. Debian's packages come from the machine's mirror. */
export function fillCleanRoot(
  dir: string,
  { programs, npm }: { readonly programs: readonly string[]; readonly npm: string },
): NodeJS.ProcessEnv {
  unpackDebian(dir);
  for (const file of programs) copyFileSync(realpathSync(file), join(dir, "usr/bin", basename(file)));
  cpSync(dirname(dirname(realpathSync(npm))), join(dir, "usr/lib/node_modules/npm"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(dir, "usr/bin/npm"));
  const trust = TRUST.filter((name) => existsSync(process.env[name] ?? ""));
  for (const file of [...NETWORK, ...trust.map((name) => process.env[name] ?? "")]) copyInto(dir, file);
  for (const folder of ["proc", "dev", "tmp", USER_HOME]) mkdirSync(join(dir, folder), { recursive: true });
  chmodSync(join(dir, "tmp"), 0o1777);
  const user = `user:x:${USER}:${USER}::${USER_HOME}:/bin/bash`;
  writeFileSync(join(dir, "etc/passwd"), `root:x:0:0:root:/root:/bin/sh\n${user}\n`);
  writeFileSync(join(dir, "etc/group"), `root:x:0:\nuser:x:${USER}:\n`);
  giveToUser(join(dir, USER_HOME));
  shareCache(join(dir, USER_HOME, ".npm/_cacache"));
  const names = Object.fromEntries(trust.map((name) => [name, process.env[name]]));
  return { PATH: "/usr/bin:/bin", HOME: USER_HOME, LANG: "C.UTF-8", NO_COLOR: "1", ...names };
}

/**
 * What the registry gave before: a stranger has no such cache, and the registry is not under test. Its content is
 * linked where both are on one disk; the user cannot write to it.
 */
function shareCache(to: string): void {
  const from = join(process.env["npm_config_cache"] ?? join(homedir(), ".npm"), "_cacache");
  if (!existsSync(join(from, "content-v2"))) return;
  mkdirSync(to, { recursive: true });
  cpSync(join(from, "index-v5"), join(to, "index-v5"), { recursive: true });
  giveToUser(dirname(to));
  const content = ["--recursive", join(from, "content-v2"), to];
  try {
    execFileSync("cp", ["--link", ...content], { stdio: "ignore" });
  } catch {
    execFileSync("cp", ["--force", ...content]);
  }
  execFileSync("find", [to, "-type", "d", "-exec", "chown", `${USER}:${USER}`, "{}", "+"]);
}

/** Makes the user the owner of a folder and of all in it. */
export function giveToUser(folder: string): void {
  execFileSync("chown", ["-R", "-h", `${USER}:${USER}`, folder]);
}

/**
 * Runs scripts in a root. Each has a mount namespace of its own, so that nothing is left mounted, whatever is killed;
 * each program replaces the one before, so that signals reach the script.
 */
export function shellInRoot(
  dir: string,
  chroot: string,
): (script: string, folder: string) => readonly [string, readonly string[]] {
  const enter = [
    "set -e",
    'mount --rbind /dev "$1/dev"',
    'mount --rbind /proc "$1/proc"',
    `exec ${chroot} --userspec=${USER}:${USER} "$1" /bin/bash -c 'cd "$0" && eval "$1"' "$2" "$3"`,
  ].join("\n");
  return (script, folder) => [
    "unshare",
    ["--mount", "--propagation", "private", "sh", "-c", enter, "sh", dir, join(USER_HOME, folder), script],
  ];
}

function unpackDebian(dir: string): void {
  const work = mkdtempSync(join(tmpdir(), "debian-"));
  try {
    download(work);
    // The folders of a merged /usr, before a package makes a folder of one of them.
    for (const name of ["bin", "sbin", "lib", "lib64"]) {
      mkdirSync(join(dir, "usr", name), { recursive: true });
      symlinkSync(`usr/${name}`, join(dir, name));
    }
    for (const file of readdirSync(work)) {
      const input = execFileSync("dpkg-deb", ["--fsys-tarfile", join(work, file)], { maxBuffer: 1 << 28 });
      execFileSync("tar", ["--extract", "--keep-directory-symlink", "--directory", dir], { input });
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** A machine whose lists of packages are old, or that has none, gets them first. */
function download(work: string): void {
  const get = ["download", "-q", "-o", "APT::Sandbox::User=root", ...DEBIAN.split(" ")];
  try {
    execFileSync("apt-get", get, { cwd: work, stdio: "ignore" });
  } catch {
    execFileSync("apt-get", ["update", "-q"], { stdio: ["ignore", "ignore", "inherit"] });
    execFileSync("apt-get", get, { cwd: work, stdio: ["ignore", "ignore", "inherit"] });
  }
}

function copyInto(dir: string, file: string): void {
  if (!existsSync(file)) return;
  mkdirSync(join(dir, dirname(file)), { recursive: true });
  rmSync(join(dir, file), { force: true });
  copyFileSync(realpathSync(file), join(dir, file));
}
