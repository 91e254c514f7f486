/**
 * Images for machines with a real kubelet where no registry can be reached: made of Debian's packages and of programs
 * built here.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { writeLayout } from "../image/oci.ts";
import { IPTABLES_LINKS } from "./iptables-links.ts";

/** How one image is made. */
export interface ImageRecipe {
  /** The name that pods ask for. */
  readonly name: string;
  /** Debian's packages whose files it has. */
  readonly packages: readonly string[];
  /** Files of this host by their path in the image. */
  readonly files?: Readonly<Record<string, string>>;
  /** Links by their path in the image, which Debian's packages make where they are installed. */
  readonly links?: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  /** Arguments of the entrypoint where a pod names none. */
  readonly cmd?: readonly string[];
  readonly env?: readonly string[];
  /** Fills the root file system first. */
  readonly base?: (rootfs: string) => void;
  /** Differs when `base` fills in something else. */
  readonly revision?: string;
  /** Each program of the image's busybox has a link in /bin. */
  readonly busybox?: true;
}

/** A fixed time for all files, so that an image's digest depends on its content alone. */
const EPOCH = 1_700_000_000;

/** Keeps a folder with the archives of these images and no others. A recipe that changed has another archive. */
export function makeImages(recipes: readonly ImageRecipe[], folder: string): void {
  const files = recipes.map((recipe) => {
    const digest = createHash("sha256").update(JSON.stringify(recipe)).digest("hex").slice(0, 8);
    const file = `${recipe.name.replace(/[^a-z0-9.]+/g, "-")}-${digest}.tar`;
    makeImage(recipe, join(folder, file));
    return file;
  });
  for (const file of readdirSync(folder)) if (!files.includes(file)) rmSync(join(folder, file));
}

/**
 * Writes the archive of an image, which `ctr images import` reads, to `file`, unless it is there. Throws what apt or
 * tar say.
 */
function makeImage(recipe: ImageRecipe, file: string): void {
  if (existsSync(file)) return;
  const work = mkdtempSync(join(tmpdir(), "causeway-node-image-"));
  try {
    const [rootfs, debs, layout] = [join(work, "rootfs"), join(work, "debs"), join(work, "oci")];
    for (const dir of [rootfs, debs]) mkdirSync(dir);
    recipe.base?.(rootfs);
    if (recipe.packages.length > 0)
      execFileSync("apt-get", ["download", "-q", ...recipe.packages], {
        cwd: debs,
        stdio: ["ignore", "ignore", "inherit"],
      });
    for (const deb of readdirSync(debs)) execFileSync("dpkg-deb", ["-x", join(debs, deb), rootfs]);
    for (const [path, source] of Object.entries(recipe.files ?? {})) {
      mkdirSync(dirname(join(rootfs, path)), { recursive: true });
      copyFileSync(source, join(rootfs, path));
      chmodSync(join(rootfs, path), 0o755);
    }
    for (const [path, target] of Object.entries(recipe.links ?? {})) symlinkSync(target, join(rootfs, path));
    if (recipe.busybox) linkApplets(rootfs);
    mkdirSync(join(rootfs, "tmp"), { recursive: true, mode: 0o1777 });
    const env = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", ...(recipe.env ?? [])];
    const config = { Entrypoint: recipe.entrypoint, Env: env, ...(recipe.cmd && { Cmd: recipe.cmd }) };
    writeLayout(rootfs, layout, {
      epoch: EPOCH,
      config,
      annotations: { "io.containerd.image.name": recipe.name, "org.opencontainers.image.ref.name": recipe.name },
    });
    mkdirSync(dirname(file), { recursive: true });
    execFileSync("tar", ["-c", "-f", `${file}.${process.pid}`, "-C", layout, "."]);
    renameSync(`${file}.${process.pid}`, file);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function linkApplets(rootfs: string): void {
  const applets = execFileSync(join(rootfs, "bin/busybox"), ["--list"], { encoding: "utf8" });
  for (const applet of applets.split("\n"))
    if (applet !== "" && !existsSync(join(rootfs, "bin", applet))) symlinkSync("busybox", join(rootfs, "bin", applet));
}

/** The programs built here that images are made of, in one folder. */
export const PROGRAMS = ["kube-proxy", "agnhost", "coredns", "flanneld"] as const;

const NFT = ["nftables", "libnftables1", "libedit2", "libc6", "libgmp10", "libjansson4", "libmnl0", "libnftnl11"];
const NFT_TOO = ["libxtables12", "libtinfo6", "libbsd0", "libmd0"];
const IPTABLES = ["iptables", "libip4tc2", "libip6tc2", "libnetfilter-conntrack3", "libnfnetlink0"];
/** The process that keeps a pod's namespaces. */
export const pauseRecipe: ImageRecipe = {
  name: "registry.k8s.io/pause:3.10",
  packages: ["tini", "busybox-static"],
  entrypoint: ["/usr/bin/tini-static", "--", "/bin/busybox", "sleep", "infinity"],
};

/**
 * kube-proxy of one release, with the programs of both its modes. It has /etc/protocols (netbase): without it nft
 * prints protocol 6 where kube-proxy wrote "tcp", and a kube-proxy that starts again deletes all Services as not its
 * own.
 */
export const kubeProxyRecipe = (program: string, kubernetes: string): ImageRecipe => ({
  name: `registry.k8s.io/kube-proxy:${kubernetes}`,
  packages: [...NFT, ...NFT_TOO, ...IPTABLES, "netbase"],
  links: Object.fromEntries(IPTABLES_LINKS),
  files: { "usr/local/bin/kube-proxy": program },
  entrypoint: ["/usr/local/bin/kube-proxy"],
});

/** The release that the add-on MetricsServer names. */
export const metricsServerRecipe = (programs: string): ImageRecipe => ({
  name: "registry.k8s.io/metrics-server/metrics-server:v0.8.0",
  packages: [],
  files: { "metrics-server": join(programs, "metrics-server") },
  entrypoint: ["/metrics-server"],
});

/**
 * What each machine needs, what a cluster's add-ons need (`tunnel` is the folder of konnectivity's agent), and for
 * tests a web server and the programs of busybox.
 */
export function recipes(programs: string, kubernetes: string, tunnel: string): readonly ImageRecipe[] {
  const of = (name: (typeof PROGRAMS)[number]) => join(programs, name);
  return [
    pauseRecipe,
    kubeProxyRecipe(of("kube-proxy"), kubernetes),
    {
      name: "registry.k8s.io/coredns/coredns:v1.12.1",
      packages: [],
      files: { coredns: of("coredns") },
      entrypoint: ["/coredns"],
    },
    {
      name: "ghcr.io/flannel-io/flannel:v0.28.4",
      packages: [...NFT, ...NFT_TOO, "busybox"],
      busybox: true,
      files: { "opt/bin/flanneld": of("flanneld") },
      entrypoint: ["/opt/bin/flanneld"],
    },
    {
      name: "registry.k8s.io/kas-network-proxy/proxy-agent:v0.34.0",
      packages: [],
      files: { "proxy-agent": join(tunnel, "proxy-agent") },
      entrypoint: ["/proxy-agent"],
    },
    {
      name: "registry.k8s.io/e2e-test-images/agnhost:2.53",
      // Not the static one: that cannot look up names.
      packages: ["busybox", "libc6"],
      files: { agnhost: of("agnhost") },
      busybox: true,
      entrypoint: ["/agnhost"],
    },
  ];
}
