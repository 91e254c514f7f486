/** The container image, built from Debian's packages, and run as its user without a container engine. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { buildImage, type Image } from "../../scripts/image/build.ts";

const root = resolve(import.meta.dirname, "../..");
const canDownload = spawnSync("apt-get", ["download", "--print-uris", "libc6"]).status === 0;
const canRun = process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), "causeway-image-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(!canDownload || !canRun)("the image (needs Debian's registry, and root for chroot)", () => {
  let image: Image;

  test("is the same for the same sources, byte for byte", () => {
    image = buildImage(root, join(folder, "one"));
    expect(buildImage(root, join(folder, "two")).digest).toBe(image.digest);
  });

  test("answers `causeway version` as its user, with its entry point and by the name that pods start it by", () => {
    const index = JSON.parse(readFileSync(join(image.layout, "index.json"), "utf8")) as {
      readonly manifests: readonly { readonly digest: string }[];
    };
    const blob = (digest: string) =>
      JSON.parse(readFileSync(join(image.layout, "blobs", digest.replace(":", "/")), "utf8")) as Record<
        string,
        unknown
      >;
    const manifest = blob(index.manifests[0]?.digest ?? "");
    const { config } = blob((manifest["config"] as { digest: string }).digest) as {
      config: { User: string; Entrypoint: string[] };
    };
    expect(config.User).toBe("65532:65532");
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
    const env = { HOME: "/tmp", PATH: "/usr/sbin:/usr/bin" };
    for (const command of [config.Entrypoint, ["causeway"]]) {
      const args = [`--userspec=${config.User}`, image.rootfs, ...command, "version"];
      const { stdout, stderr, status } = spawnSync("chroot", args, { encoding: "utf8", env });
      expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
      expect(stdout).toContain(commit);
    }
  });

  test("lists every package of Debian and npm in its SBOM", () => {
    const { packages } = JSON.parse(readFileSync(image.sbom, "utf8")) as { packages: { name: string }[] };
    const names = packages.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["libc6", "ca-certificates", "node", "@causeway/causeway", "undici"]));
  });
});
