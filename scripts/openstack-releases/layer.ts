/**
 * Services of one release from PyPI, as a layer over the image of Debian 12's packages: what is
 * below /usr/local comes first for Debian's Python.
 */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../kubernetes-programs.ts";

const PACKAGES = "usr/local/lib/python3.11/dist-packages";
const PROGRAMS = "usr/local/bin";
const FAKE_DRIVER = join(root, "tools/openstack-releases/fake-driver.py");
/** Extensions are compiled for this one: Debian 12's. */
const PYTHON = "3.11";

/** Wheels of all packages of a file with exact versions, in a folder that keeps them. */
export function fetchWheels(requirements: string, folder: string): string[] {
  const version = execFileSync("python3", ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"], {
    encoding: "utf8",
  }).trim();
  if (version !== PYTHON) throw new Error(`python3 is ${version}, and the images have ${PYTHON}: use Debian 12`);
  const done = join(folder, "done");
  const wanted = readFileSync(requirements, "utf8");
  if (!existsSync(done) || readFileSync(done, "utf8") !== wanted) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    getWheels(requirements, folder);
    writeFileSync(done, wanted);
  }
  return readdirSync(folder)
    .filter((name) => name.endsWith(".whl"))
    .toSorted()
    .map((name) => join(folder, name));
}

const ATTEMPTS = 4;

/** A registry that responds once without a package that it has is queried again; what was fetched is not again. */
function getWheels(requirements: string, folder: string): void {
  const command = ["-m", "pip", "wheel", "-q", "--no-deps", "-f", folder, "-w", folder, "-r", requirements];
  for (let attempt = 1; ; attempt++) {
    try {
      execFileSync("python3", command, { stdio: ["ignore", "inherit", "inherit"] });
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      console.log(`pip failed; attempt ${attempt + 1} of ${ATTEMPTS} for ${requirements}`);
    }
  }
}

/** Fills an empty folder with what is laid over the image. */
export function makeLayer(wheels: readonly string[], dir: string): void {
  const packages = join(dir, PACKAGES);
  mkdirSync(packages, { recursive: true });
  const install = ["-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-compile", "--target", packages];
  execFileSync("python3", [...install, ...wheels], { stdio: ["ignore", "inherit", "inherit"] });
  mkdirSync(join(dir, PROGRAMS), { recursive: true });
  for (const name of readdirSync(join(packages, "bin"))) {
    const text = readFileSync(join(packages, "bin", name), "utf8");
    if (!text.startsWith("#!")) continue;
    writeFileSync(join(dir, PROGRAMS, name), text.replace(/^#!.*/, "#!/usr/bin/python3"));
    chmodSync(join(dir, PROGRAMS, name), 0o755);
  }
  rmSync(join(packages, "bin"), { recursive: true });
  // Wheels have their files of /etc next to their modules.
  if (existsSync(join(packages, "etc"))) cpSync(join(packages, "etc"), join(dir, "etc"), { recursive: true });
  if (existsSync(join(packages, "share"))) renameSync(join(packages, "share"), join(dir, "usr/local/share"));
  const fakeDriver = join(packages, "nova/virt/fake.py");
  if (existsSync(fakeDriver)) appendFileSync(fakeDriver, readFileSync(FAKE_DRIVER));
  // A root that cannot be written keeps no byte code.
  const compile = ["-m", "compileall", "-q", "-j", "1", "--invalidation-mode", "unchecked-hash"];
  const places = ["-s", packages, "-p", `/${PACKAGES}`, "-x", "/tests?/"];
  try {
    execFileSync("python3", [...compile, ...places, packages], { env: { ...process.env, PYTHONHASHSEED: "0" } });
  } catch (error) {
    // Packages have files for other versions of Python.
    if ((error as { status?: number }).status !== 1) throw error;
  }
}
