import { spawnSync, type SpawnSyncOptions } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Python } from "../support/stestr.ts";

export const tools = resolve(import.meta.dirname, "../../tools/openstacksdk");

/**
 * The virtual environment of tools/openstacksdk/requirements.txt, made once in the user's cache directory from PyPI; or
 * why there is none. Needs Python 3.11 with venv, as Debian 12 has it.
 */
export function sdkPython(): Python | { readonly reason: string } {
  const requirements = join(tools, "requirements.txt");
  const version = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const dir = join(cache, "causeway/openstacksdk", version);
  const python = join(dir, "bin/python");
  const complete = join(dir, "complete");
  if (!existsSync(complete)) {
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dirname(dir), { recursive: true, mode: 0o700 });
    console.log(`installing openstacksdk, once, into ${dir}`);
    const options: SpawnSyncOptions = { stdio: ["ignore", "inherit", "inherit"] };
    if (spawnSync("python3", ["-m", "venv", dir], options).status !== 0) return { reason: "python3 -m venv failed" };
    const install = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary", ":all:"];
    if (spawnSync(python, [...install, "-r", requirements], options).status !== 0)
      return { reason: "pip could not install tools/openstacksdk/requirements.txt" };
    writeFileSync(complete, "");
  }
  const asked = ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"];
  const packages = spawnSync(python, asked, { encoding: "utf8" }).stdout.trim();
  return { stestr: join(dir, "bin/stestr"), python, packages };
}
