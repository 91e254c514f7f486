import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Skipped {
  /** The folder of the go.mod that pins the module. */
  readonly folder: string;
  readonly module: string;
  /** Where in the module the tests are. */
  readonly tests: string;
  /** What the tests pass to t.Skip because upstream's CI lacks machines for them. */
  readonly reason: string;
  /** The copy; it is replaced. */
  readonly to: string;
}

/** The same source without the skips for this reason; lines keep their numbers. */
export const withoutSkips = (text: string, reason: string): string =>
  text.replaceAll(`t.Skip(${JSON.stringify(reason)})`, "");

/**
 * Copies the pinned module, with tests that upstream skips by their first line, since its CI cannot create clusters,
 * not skipped. Nothing else of them is changed.
 */
export function copyWithoutSkips({ folder, module, tests, reason, to }: Skipped): void {
  const args = ["list", "-mod=mod", "-m", "-f", "{{.Dir}}", module];
  const listed = spawnSync("go", args, { cwd: folder, encoding: "utf8" });
  if (listed.status !== 0) throw new Error(`go list -m ${module}: ${listed.stderr}`);
  rmSync(to, { recursive: true, force: true });
  cpSync(listed.stdout.trim(), to, { recursive: true });
  for (const file of ["go.mod", "go.sum"]) chmodSync(join(to, file), 0o644);
  for (const name of readdirSync(join(to, tests))) {
    if (!name.endsWith("_test.go")) continue;
    const file = join(to, tests, name);
    const text = readFileSync(file, "utf8");
    if (withoutSkips(text, reason) === text) continue;
    chmodSync(file, 0o644);
    writeFileSync(file, withoutSkips(text, reason));
  }
}
