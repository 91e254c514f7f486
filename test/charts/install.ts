/** Installs a chart with helm on a server, upgrades it, takes that back, and removes it: what is wrong on the way. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments, stringify } from "yaml";
import { execute } from "../programs/run.ts";

const NAMESPACE = "kube-system";
const RELEASE = "release";

/** What the ServiceAccount of a chart may do, and what it may not: "verb resource[.group][/subresource]". */
export interface Rights {
  readonly account: string;
  readonly granted: readonly string[];
  readonly refused: readonly string[];
}

export interface Installed {
  /** The chart's folder. */
  readonly folder: string;
  /** Without which nothing is rendered (`--set`). */
  readonly needed: readonly string[];
  /** What an upgrade changes. */
  readonly upgrade: readonly string[];
  readonly rights: readonly Rights[];
}

export interface Stage {
  /** Program files. */
  readonly helm: string;
  readonly kubectl: string;
  readonly kubeconfig: string;
  /** A folder of the test's own. */
  readonly dir: string;
}

/** Every step's problem, in order; none when the chart works. */
export async function installProblems(stage: Stage, chart: Installed): Promise<readonly string[]> {
  const problems: string[] = [];
  const target = ["--namespace", NAMESPACE, "--kubeconfig", stage.kubeconfig];
  const step = async (what: string, program: string, args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await execute(program, [...args, ...target]);
    if (code !== 0) problems.push(`${what}: ${stderr.trim() || stdout.trim()}`);
    return stdout;
  };
  const helm = (...args: string[]) => step(`helm ${args[0] ?? ""}`, stage.helm, args);
  const set = (values: readonly string[]) => values.flatMap((value) => ["--set", value]);
  const revisions = async () => JSON.parse(await helm("history", RELEASE, "-o", "json")) as { status: string }[];

  await helm("install", RELEASE, chart.folder, ...set(chart.needed));
  if (problems.length > 0) return problems;
  const manifest = join(stage.dir, "manifest.yaml");
  const kept = await helm("get", "manifest", RELEASE);
  writeFileSync(manifest, kept);
  await step("kubectl get of what was installed", stage.kubectl, ["get", "-f", manifest, "-o", "name"]);
  for (const each of chart.rights) problems.push(...(await wrongRights(stage, each)));
  await helm("upgrade", RELEASE, chart.folder, ...set([...chart.needed, ...chart.upgrade]));
  if ((await helm("get", "manifest", RELEASE)) === kept) problems.push("an upgrade with other values changed nothing");
  await helm("rollback", RELEASE, "1");
  const last = (await revisions()).map(({ status }) => status);
  if (last.join(" ") !== "superseded superseded deployed") problems.push(`revisions are ${last.join(", ")}`);
  if ((await helm("get", "manifest", RELEASE)) !== kept) problems.push("a rollback is not as the first revision");
  await helm("uninstall", RELEASE, "--wait");
  const left = await execute(stage.kubectl, ["get", "-f", manifest, "-o", "name", "--ignore-not-found", ...target]);
  if (left.stdout.trim() !== "")
    problems.push(`left behind by uninstall: ${left.stdout.trim().split("\n").join(", ")}`);
  if (objectCount(kept) === 0) problems.push("the manifest is empty");
  return problems;
}

const objectCount = (text: string): number => parseAllDocuments(text).filter((each) => each.toJS() !== null).length;

async function wrongRights({ kubectl, kubeconfig }: Stage, rights: Rights): Promise<string[]> {
  const asked = [...rights.granted.map((right) => [right, "yes"]), ...rights.refused.map((right) => [right, "no"])];
  const as = `system:serviceaccount:${NAMESPACE}:${rights.account}`;
  const wrong = asked.map(async ([right = "", expected]) => {
    const everywhere = right.includes(" --namespace ") ? [] : ["-A"];
    const args = ["auth", "can-i", ...right.split(" "), "--as", as, ...everywhere, "--kubeconfig", kubeconfig];
    const { stdout } = await execute(kubectl, args);
    return stdout.trim() === expected
      ? []
      : [`${rights.account} and "${right}": ${stdout.trim()}, not ${expected ?? ""}`];
  });
  return (await Promise.all(wrong)).flat();
}

/** Applies the CRDs of a folder, and waits until they are served; what is wrong. */
export async function definitionProblems({ kubectl, kubeconfig }: Stage, folder: string): Promise<readonly string[]> {
  const given = ["-f", folder, "--kubeconfig", kubeconfig];
  const applied = await execute(kubectl, ["apply", "--server-side", ...given]);
  const served = await execute(kubectl, ["wait", "--for=condition=Established", "--timeout=60s", ...given]);
  return [applied, served].filter(({ code }) => code !== 0).map(({ stderr }) => stderr.trim());
}

/** What no API server takes: files for programs, and a kind whose CRD comes with its operator. */
const notForServers = ["EncryptionConfiguration", "Config", "OpenStackDeployment"];

/** What a server says against the plain manifests of a folder, which it validates strictly; they are removed again. */
export async function manifestProblems(stage: Stage, texts: readonly string[]): Promise<readonly string[]> {
  const documents = texts.flatMap((text) =>
    parseAllDocuments(text, { merge: true }).map((each) => each.toJS() as Kind | null),
  );
  const objects = documents.filter((each) => each !== null && !notForServers.includes(each.kind));
  const namespaces = objects.filter((each) => each?.kind === "Namespace");
  const others = objects.filter((each) => each?.kind !== "Namespace");
  const given = (name: string, all: typeof objects): string[] => {
    const file = join(stage.dir, name);
    writeFileSync(file, all.map((each) => stringify(each)).join("---\n"));
    return ["-f", file, "--kubeconfig", stage.kubeconfig];
  };
  const all = given("plain.yaml", [...namespaces, ...others]);
  const applied = await execute(stage.kubectl, ["apply", "--validate=strict", ...all]);
  // No controller ends a namespace that is deleted here, and another folder may have the same.
  const rest = given("rest.yaml", others);
  const removed = await execute(stage.kubectl, ["delete", "--ignore-not-found", "--wait=false", ...rest]);
  const failed = [applied, removed].filter(({ code }) => code !== 0);
  return objects.length === 0 ? ["there is no manifest"] : failed.map(({ stderr }) => stderr.trim());
}

interface Kind {
  readonly kind: string;
}
