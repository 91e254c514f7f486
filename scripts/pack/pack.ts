/** Packs every package of packages/ as it is published. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { stage, type Staged } from "./stage.ts";

export interface Packed extends Staged {
  readonly tarball: string;
}

/** Compiles the packages and writes a tarball of each into `out`. */
export function packAll(root: string, out: string): Packed[] {
  const run = (file: string, ...args: string[]) =>
    execFileSync(file, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const bin = join(root, "node_modules/.bin");
  const names = readdirSync(join(root, "packages"));
  run(join(bin, "tsc"), "-b", ...names.map((name) => `packages/${name}`), "--emitDeclarationOnly", "false");
  const commit = run("git", "rev-parse", "HEAD").trim();
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const staged = names.map((name) => stage(root, name, commit));
  run("npm", "pack", "--silent", "--pack-destination", out, ...staged.map(({ dir }) => dir));
  return staged.map((one) => {
    const { name, version } = one.manifest;
    return { ...one, tarball: join(out, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`) };
  });
}
