/**
 * `npm run openstack-schemas -- RELEASE...`: writes the options of releases of OpenStack with oslo's own generator,
 * from PyPI's packages at the versions of schemas/requirements-RELEASE.txt (Python 3.11 with venv, and a compiler). A
 * release between is written as its changes since the one before it: after an earlier one, write the later ones, too.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OPENSTACK_RELEASES } from "@causeway/api";
import { changed, changesBetween, type Changes, type Members } from "./changes.ts";

const folder = join(import.meta.dirname, "../../schemas");
const generated = (release: string) => join(import.meta.dirname, `schemas/${release}.generated.ts`);
/** Written as a whole: the first one, and the newest, which most deployments have. */
const WHOLE: readonly string[] = ["2022.2", "2025.1"];
const ORDER: readonly string[] = OPENSTACK_RELEASES.map(({ release }) => release);

async function main(releases: readonly string[]): Promise<void> {
  for (const release of releases) {
    const requirements = join(folder, `requirements-${release}.txt`);
    const environment = mkdtempSync(join(tmpdir(), "openstack-schemas-"));
    const python = join(environment, "bin/python");
    try {
      execFileSync("python3", ["-m", "venv", environment], { stdio: "inherit" });
      // The files have all packages: nothing is searched for.
      execFileSync(python, ["-m", "pip", "install", "-q", "--no-compile", "--no-deps", "-r", requirements], {
        stdio: "inherit",
      });
      const text = execFileSync(python, [join(folder, "generate.py"), release], {
        encoding: "utf8",
        maxBuffer: 64 * 1024 * 1024,
        stdio: ["ignore", "pipe", "inherit"],
      });
      writeFileSync(generated(release), WHOLE.includes(release) ? text : await changesOf(release, text));
    } finally {
      rmSync(environment, { recursive: true, force: true });
    }
  }
}

/** What a module that generate.py or this program wrote exports. */
async function exported(text: string): Promise<{ text?: string; changes?: string }> {
  return (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as { text?: string; changes?: string };
}

const before = (release: string): string => ORDER[ORDER.indexOf(release) - 1] ?? "";

async function schemaNow(release: string): Promise<Members> {
  const { text, changes = "{}" } = await exported(readFileSync(generated(release), "utf8"));
  return text === undefined
    ? changed(await schemaNow(before(release)), JSON.parse(changes) as Changes)
    : (JSON.parse(text) as Members);
}

async function changesOf(release: string, written: string): Promise<string> {
  const { text = "{}" } = await exported(written);
  const changes = changesBetween(await schemaNow(before(release)), JSON.parse(text) as Members);
  const [comment = ""] = written.split("\n", 1);
  return `${comment}\nexport const changes = ${JSON.stringify(JSON.stringify(changes))};\n`;
}

await main(process.argv.slice(2));
