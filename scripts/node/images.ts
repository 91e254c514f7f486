/** Images for machines with a real kubelet where no registry can be reached: made of Debian's packages and of programs built here. */
import { execFileSync } from "node:child_process";
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

/** How one image is made. */
export interface ImageRecipe {
  /** The name that pods ask for. */
  readonly name: string;
  /** Debian's packages whose files it has. */
  readonly packages: readonly string[];
  /** Files of this host by their path in the image. */
  readonly files?: Readonly<Record<string, string>>;
  /** Links by their path in the image. */
  readonly links?: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
}

/** A fixed time for all files, so that an image's digest depends on its content alone. */
const EPOCH = 1_700_000_000;

/** Writes the archive of an image, which `ctr images import` reads, to `file`, unless it is there. Throws what apt or tar say. */
export function makeImage(recipe: ImageRecipe, file: string): void {
  if (existsSync(file)) return;
  const work = mkdtempSync(join(tmpdir(), "causeway-node-image-"));
  try {
    const [rootfs, debs, layout] = [join(work, "rootfs"), join(work, "debs"), join(work, "oci")];
    for (const dir of [rootfs, debs]) mkdirSync(dir);
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
    for (const [path, target] of Object.entries(recipe.links ?? {})) {
      mkdirSync(dirname(join(rootfs, path)), { recursive: true });
      symlinkSync(target, join(rootfs, path));
    }
    mkdirSync(join(rootfs, "tmp"), { recursive: true, mode: 0o1777 });
    const config = { Entrypoint: recipe.entrypoint, Env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"] };
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

/** The programs built here that images are made of, in one folder. */
export const PROGRAMS = ["kube-proxy", "agnhost", "coredns"] as const;

const NFT = ["nftables", "libnftables1", "libedit2", "libc6", "libgmp10", "libjansson4", "libmnl0", "libnftnl11"];
const NFT_TOO = ["libxtables12", "libtinfo6", "libbsd0", "libmd0"];
const APPLETS = [
  "sh",
  "cat",
  "echo",
  "sleep",
  "wget",
  "timeout",
  "printf",
  "httpd",
  "nslookup",
  "hostname",
  "sha256sum",
  "dd",
  "nc",
  "ls",
  "mkdir",
];

/** What each machine needs, what a cluster's add-ons need, and for tests a web server and the programs of busybox. */
export function recipes(programs: string, kubernetes: string): readonly ImageRecipe[] {
  const of = (name: (typeof PROGRAMS)[number]) => join(programs, name);
  return [
    {
      name: "registry.k8s.io/pause:3.10",
      packages: ["tini", "busybox-static"],
      entrypoint: ["/usr/bin/tini-static", "--", "/bin/busybox", "sleep", "infinity"],
    },
    {
      name: `registry.k8s.io/kube-proxy:${kubernetes}`,
      packages: [...NFT, ...NFT_TOO],
      files: { "usr/local/bin/kube-proxy": of("kube-proxy") },
      entrypoint: ["/usr/local/bin/kube-proxy"],
    },
    {
      name: "registry.k8s.io/coredns/coredns:v1.12.1",
      packages: [],
      files: { coredns: of("coredns") },
      entrypoint: ["/coredns"],
    },
    {
      name: "registry.k8s.io/e2e-test-images/agnhost:2.53",
      // Not the static one: that cannot look up names.
      packages: ["busybox", "libc6"],
      files: { agnhost: of("agnhost") },
      links: Object.fromEntries(APPLETS.map((applet) => [`bin/${applet}`, "busybox"])),
      entrypoint: ["/agnhost"],
    },
  ];
}
