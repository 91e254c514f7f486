import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueCertificate } from "@causeway/foundation";
import type { Context } from "../interface.ts";
import { filesOf } from "./kubectl-files.ts";

const DAY = 86_400_000;
/** The outputs are of this minor version: others word some of them otherwise. */
const MINOR = 32;

/** Why kubectl cannot be held to recorded outputs here; undefined when it can. */
export function kubectlMissing(): string | undefined {
  try {
    const version = execFileSync("kubectl", ["version", "--client", "-o", "json"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const { minor } = (JSON.parse(version.toString()) as { clientVersion: { minor: string } }).clientVersion;
    return Number.parseInt(minor, 10) === MINOR ? undefined : `kubectl is of 1.${minor}, the outputs of 1.${MINOR}`;
  } catch {
    return "there is no kubectl on PATH";
  }
}

/** A folder with a kubeconfig and the files that scripts use. */
export interface Desk {
  run(command: string): Promise<string>;
  close(): void;
}

export async function openDesk({ target, namespace }: Context): Promise<Desk> {
  const dir = mkdtempSync(join(tmpdir(), "kubectl-"));
  const { certificate, key } = await issueCertificate(target.authority, {
    commonName: "kubectl-admin",
    organizations: ["system:masters"],
    usages: ["client"],
    lifetime: DAY,
  });
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: target.url, "certificate-authority-data": base64(target.ca) } }],
    users: [{ name: "u", user: { "client-certificate-data": base64(certificate), "client-key-data": base64(key) } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace } }],
    "current-context": "x",
  };
  writeFileSync(join(dir, "config"), JSON.stringify(config), { mode: 0o600 });
  for (const [name, text] of Object.entries(filesOf(namespace))) writeFileSync(join(dir, name), text);
  writeFileSync(join(dir, "editor"), `#!/bin/sh\nsed -i 's/color: red/color: green/' "$1"\n`);
  chmodSync(join(dir, "editor"), 0o755);
  const env = { ...process.env, KUBECONFIG: join(dir, "config"), HOME: dir, KUBE_EDITOR: join(dir, "editor") };
  return {
    run: (command) =>
      new Promise((resolve) => {
        const words = command.replaceAll("NAMESPACE", namespace).split(" ");
        const args = words.map((word) => word.replaceAll("~", " "));
        execFile("kubectl", args, { cwd: dir, env, timeout: 20_000 }, (error, out, err) => {
          resolve(settled(`${out}${err}${error ? `exit ${String(error.code)}` : ""}`, namespace));
        });
      }),
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** An output without what is another one each time: ids, times, revisions, widths of columns. */
function settled(output: string, namespace: string): string {
  return output
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UID")
    .replaceAll(/resourceVersion: "\d+"/g, 'resourceVersion: "N"')
    .replaceAll(/Resource Version: +\d+/g, "Resource Version: N")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "TIME")
    .replaceAll(/(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [^\n]*/g, "DATE")
    .replaceAll(/\b\d+m?\d*s\b/g, "AGE")
    .replaceAll(/(---|\+\+\+) [^\n]*|diff -u [^\n]*/g, "$1")
    .replaceAll(/[ \t]+/g, " ")
    .replaceAll(/ *\n/g, "\n")
    .replaceAll(namespace, "NAMESPACE")
    .trim();
}
