/**
 * The root file system of the images: Debian's packages, what their scripts would do at an installation, and compiled
 * Python.
 */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { IPTABLES_LINKS } from "../node/iptables-links.ts";

/**
 * What no process reads, or only one of a kind that is not run: clients of Amazon and of VMware, firmware, static
 * libraries, tests.
 */
const UNUSED = [
  "./usr/share/doc/*",
  "./usr/share/man/*",
  "./usr/share/locale/*",
  "./usr/share/lintian/*",
  "./usr/share/bash-completion/*",
  "./usr/share/OVMF/*",
  "./usr/share/ovmf/*",
  "./usr/share/ieee-data/*",
  "./usr/lib/*/*.a",
  "./usr/lib/python3/dist-packages/botocore/*",
  "./usr/lib/python3/dist-packages/mypy/*",
  "./usr/lib/python3/dist-packages/mypyc/*",
  "./usr/lib/python3/dist-packages/numpy/*",
  "./usr/lib/python3/dist-packages/networkx/tests",
  "./usr/lib/python3/dist-packages/*/tests/unit",
  "./usr/lib/python3/dist-packages/*/tests/functional",
];
/** Folders that Debian has one level below /usr, with links to them. */
const MERGED = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];
const PYTHON = "/usr/lib/python3/dist-packages";
const DASHBOARD = "usr/lib/python3/dist-packages/openstack_dashboard";

/** What is not from packages. */
export interface Additions {
  /** A folder that is laid over what the packages have. */
  readonly files: string;
  /** Files and where they come. */
  readonly drivers: readonly (readonly [from: string, to: string])[];
}

/** Fills an empty folder. */
export function makeRootfs(debs: readonly string[], { files, drivers }: Additions, dir: string): void {
  for (const name of MERGED) {
    mkdirSync(join(dir, "usr", name), { recursive: true });
    symlinkSync(`usr/${name}`, join(dir, name));
  }
  const excluded = UNUSED.map((path) => `--exclude=${path}`);
  const unpack = `while read -r deb; do dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner "$@" || exit; done`;
  execFileSync("sh", ["-c", unpack, "sh", "-C", dir, ...excluded], { input: debs.map((deb) => `${deb}\n`).join("") });
  authorities(dir);
  cpSync(files, dir, { recursive: true, verbatimSymlinks: true });
  for (const [from, to] of drivers) copyFileSync(from, join(dir, to));
  for (const [path, target] of LINKS) {
    rmSync(join(dir, path), { recursive: true, force: true });
    symlinkSync(target, join(dir, path));
  }
  for (const [from, to] of COPIES) copyFileSync(join(dir, from), join(dir, to));
  for (const path of FOLDERS) mkdirSync(join(dir, path), { recursive: true });
  execFileSync("/usr/sbin/ldconfig", ["-r", dir]);
  rmSync(join(dir, "var/cache/ldconfig"), { recursive: true, force: true });
  compilePython(dir);
  collectStatic(dir);
}

/** What Debian's scripts would link. */
const LINKS: readonly (readonly [string, string])[] = [
  ...IPTABLES_LINKS,
  ["usr/bin/awk", "mawk"],
  ["usr/sbin/ovs-vswitchd", "../lib/openvswitch-switch/ovs-vswitchd"],
  ["var/run", "/run"],
  ["usr/bin/uwsgi_python3", "uwsgi-core"],
  ["usr/lib/uwsgi/plugins/python3_plugin.so", "python311_plugin.so"],
  [`${DASHBOARD}/conf`, "/etc/openstack-dashboard/policy"],
  [`${DASHBOARD}/themes`, "/usr/share/openstack-dashboard/themes"],
];
/** Files that Debian's scripts copy from /usr/share. */
const COPIES: readonly (readonly [string, string])[] = [
  ["usr/share/barbican-common/barbican-api-paste.ini", "etc/barbican/barbican-api-paste.ini"],
  ["usr/share/cinder-common/api-paste.ini", "etc/cinder/api-paste.ini"],
  ["usr/share/designate-common/api-paste.ini", "etc/designate/api-paste.ini"],
  ["usr/share/glance-common/glance-api-paste.ini", "etc/glance/glance-api-paste.ini"],
  ["usr/share/manila-common/api-paste.ini", "etc/manila/api-paste.ini"],
  ["usr/share/neutron-common/api-paste.ini", "etc/neutron/api-paste.ini"],
  ["usr/share/nova-common/api-paste.ini", "etc/nova/api-paste.ini"],
];
/** What pods mount or write, so that a container with a read-only root has it. */
const FOLDERS = [
  "programs",
  "run/credentials",
  "run/openvswitch",
  "run/ovn",
  "var/lock",
  "etc/openvswitch",
  "var/lib/ovn",
  // A package of Python without modules: no dashboards of an administrator.
  `${DASHBOARD}/local/enabled`,
];

function authorities(dir: string): void {
  const folder = join(dir, "usr/share/ca-certificates/mozilla");
  const all = readdirSync(folder)
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8"));
  mkdirSync(join(dir, "etc/ssl/certs"), { recursive: true });
  writeFileSync(join(dir, "etc/ssl/certs/ca-certificates.crt"), all.join(""));
}

/**
 * The dashboard's styles and scripts, as its pods serve them: compressed, with a list of what replaces what. The
 * place is that of packages/openstack-operator/programs/local_settings.py.
 */
function collectStatic(dir: string): void {
  const settings = join(dir, DASHBOARD, "local/local_settings.py");
  const place = ["/usr/share/openstack-dashboard/static", "/static/"];
  writeFileSync(
    settings,
    `SECRET_KEY = "of no process"\nSTATIC_ROOT, STATIC_URL = ${JSON.stringify(place)}\nCOMPRESS_OFFLINE = True\n`,
  );
  const env = { PYTHONHASHSEED: "0", PYTHONDONTWRITEBYTECODE: "1", PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8" };
  const manage = ["/usr/bin/python3", "-W", "ignore", "/usr/share/openstack-dashboard/manage.py"];
  for (const words of [
    ["collectstatic", "--noinput", "-v", "0"],
    ["compress", "--force", "-v", "0"],
  ])
    execFileSync("/usr/sbin/chroot", [dir, ...manage, ...words], { env, stdio: ["ignore", "ignore", "inherit"] });
  rmSync(settings);
}

/**
 * A root that cannot be written keeps no byte code: without it each start would compile all that it imports. The files
 * do not depend on times.
 */
function compilePython(dir: string): void {
  const compile = ["-m", "compileall", "-q", "-j", "1", "--invalidation-mode", "unchecked-hash"];
  const env = { PYTHONHASHSEED: "0", PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8" };
  const skip = String.raw`/(tests|tests_.*|test)/|lib2to3|idlelib`;
  for (const folder of [PYTHON, "/usr/lib/python3.11"])
    // Packages have files for other versions of Python, which cannot be compiled: the status says nothing.
    try {
      execFileSync("/usr/sbin/chroot", [dir, "/usr/bin/python3", ...compile, "-x", skip, folder], {
        env,
        stdio: ["ignore", "ignore", "ignore"],
      });
    } catch (error) {
      if ((error as { status?: number }).status !== 1) throw error;
    }
}
