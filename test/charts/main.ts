/**
 * `npm run test:charts`: our Helm charts, linted and rendered by helm. With their own values those of deploy/NAME are
 * exactly the objects of the plain manifests; with all options on each document is valid, too. Each is then installed,
 * upgraded, rolled back and removed on a real kube-apiserver and on ours, which also take all plain manifests of
 * deploy/. Names on the command line choose charts and folders. Builds helm, kubectl and kube-apiserver with Go at
 * first, into the user's cache directory.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseAllDocuments } from "yaml";
import { everyChart, TEXT, type Chart } from "./charts.ts";
import { definitionProblems, installProblems, manifestProblems } from "./install.ts";
import type { ServerName } from "../contracts/kubernetes/interface.ts";
import { startServer } from "../programs/servers.ts";
import { buildMissing, cached, kubernetesBinaries, pinnedVersion, root } from "../../scripts/kubernetes-programs.ts";

const MODULE = "helm.sh/helm/v3";
/** A helm that is built without its release script takes an old one for the cluster. */
const KUBERNETES = "1.34.0";
const NAMESPACE = "kube-system";

/** Names on the command line: only these charts and folders of manifests. */
const chosen = process.argv.slice(2);
const isChosen = (name: string): boolean => chosen.length === 0 || chosen.includes(name);
const charts = everyChart.filter(({ name }) => isChosen(name));

interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const keyOf = ({ kind, metadata }: Named) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;

function objectsOf(text: string): ReadonlyMap<string, Named> {
  const documents = parseAllDocuments(text, { merge: true });
  const broken = documents.flatMap(({ errors }) => errors.map(({ message }) => message));
  if (broken.length > 0) throw new Error(broken.join("\n"));
  const objects = documents.map((each) => each.toJS() as Named | null).filter((each) => each !== null);
  return new Map(objects.map((each) => [keyOf(each), each]));
}

function helm(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`helm ${args[0] ?? ""}: ${stderr}${stdout}`);
  return stdout;
}

/** The texts of the plain manifests in a folder below deploy. */
function manifestsOf(folder: string, without: readonly string[] = []): readonly string[] {
  const all = readdirSync(join(root, "deploy", folder)).filter((file) => file.endsWith(".yaml"));
  const files = all.filter((file) => !without.includes(file));
  return files.map((file) => readFileSync(join(root, "deploy", folder, file), "utf8"));
}

const othersThan = (folder: string, file: string): readonly string[] =>
  readdirSync(join(root, "deploy", folder)).filter((other) => other !== file);

/**
 * A static pod and a file of kube-apiserver's are put on a host; rules for Prometheus need its operator's CRDs
 * (test:alerts).
 */
const left = ["barbican-kms", "monitoring"];
const plainFolders = readdirSync(join(root, "deploy")).filter(
  (folder) => isChosen(folder) && !left.includes(folder) && manifestsOf(folder).length > 0,
);

/** What is wrong with the chart. */
function problemsOf(
  program: string,
  { name, plain, optional = [], namespace = NAMESPACE, needed = [], options, kinds, texts = [], absent = [] }: Chart,
): readonly string[] {
  const folder = join(root, "deploy/charts", name);
  const set = (values: readonly string[]) =>
    values.flatMap((value) => (value.startsWith(TEXT) ? ["--set-string", value.slice(TEXT.length)] : ["--set", value]));
  const render = (values: readonly string[]) =>
    objectsOf(
      helm(program, [
        "template",
        "release",
        folder,
        "--namespace",
        namespace,
        "--kube-version",
        KUBERNETES,
        ...set(values),
      ]),
    );
  helm(program, ["lint", "--strict", folder, "--kube-version", KUBERNETES, ...set(needed)]);
  const own = render(needed);
  const all = render([...needed, ...options]);
  const missing = kinds.filter((kind) => ![...all.values()].some((each) => each.kind === kind));
  const text = JSON.stringify([...all.values()]);
  const problems = [
    ...missing.map((kind) => `no ${kind} with every option on`),
    ...texts.filter((each) => !text.includes(each)).map((each) => `no ${each} with every option on`),
    ...absent.filter((each) => text.includes(each)).map((each) => `${each} with every option on`),
  ];
  if (plain === undefined) return problems;
  const expected = new Map(objectsOf(manifestsOf(plain, optional).join("\n---\n")));
  // helm makes it with --create-namespace.
  expected.delete(`Namespace /${namespace}`);
  const names = [...new Set([...own.keys(), ...expected.keys()])];
  const different = names.filter((key) => !isDeepStrictEqual(own.get(key), expected.get(key)));
  for (const [key, object] of objectsOf(
    optional.flatMap((file) => manifestsOf(plain, othersThan(plain, file))).join("\n---\n"),
  ))
    if (!isDeepStrictEqual(all.get(key), object)) different.push(key);
  return [...problems, ...different.map((key) => `${key} is not as in deploy/${plain}`)];
}

const servers: readonly ServerName[] = ["kube-apiserver", "causeway"];

/** Every chart on the server: its name there, and what is wrong. */
async function installAll(
  server: ServerName,
  helm: string,
  kubernetes: string,
): Promise<[string, readonly string[]][]> {
  const { name, kubeconfig, dir, close } = await startServer(server);
  const stage = { helm, kubectl: join(kubernetes, "kubectl"), kubeconfig, dir };
  try {
    const results: [string, readonly string[]][] = [];
    // Whether rights on a custom resource are granted is known only where the server has it.
    const problems = charts.some(({ crds }) => crds) ? await definitionProblems(stage, join(root, "deploy/crds")) : [];
    if (problems.length > 0) results.push([`deploy/crds on ${name}`, problems]);
    for (const chart of charts) {
      const installed = { ...chart, needed: chart.needed ?? [], folder: join(root, "deploy/charts", chart.name) };
      results.push([`${chart.name} on ${name}`, await installProblems(stage, installed)]);
    }
    for (const folder of plainFolders) {
      results.push([`deploy/${folder} on ${name}`, await manifestProblems(stage, manifestsOf(folder))]);
    }
    return results;
  } finally {
    await close();
  }
}

function report(what: string, problems: readonly string[]): boolean {
  console.log([`${what}: ${problems.length === 0 ? "passed" : "failed"}`, ...problems].join("\n  "));
  return problems.length === 0;
}

async function main(): Promise<number> {
  const folder = join(root, "tools/helm");
  const all = charts.length * (1 + servers.length) + plainFolders.length * servers.length;
  const program = { name: "helm", source: `${MODULE}/cmd/helm`, flags: "-s -w" };
  const built = await buildMissing([program], folder, cached(`helm-${pinnedVersion(folder, MODULE)}`));
  if ("reason" in built) {
    console.log(`skipped: no helm here: ${built.reason}\n0 passed, 0 failed, ${all} skipped`);
    return 0;
  }
  const helm = join(built.dir, "helm");
  const results = charts.map((chart) => report(chart.name, problemsOf(helm, chart)));
  const kubernetes = await kubernetesBinaries(["etcd", "kube-apiserver", "kubectl"]);
  if ("reason" in kubernetes) console.log(`skipped: nothing to install on here: ${kubernetes.reason}`);
  else {
    process.env["CAUSEWAY_KUBERNETES_BINARIES"] = kubernetes.dir;
    for (const server of servers)
      for (const [what, problems] of await installAll(server, helm, kubernetes.dir))
        results.push(report(what, problems));
  }
  const passed = results.filter(Boolean).length;
  console.log(`${passed} passed, ${results.length - passed} failed, ${all - results.length} skipped`);
  return passed < results.length ? 1 : 0;
}

process.exitCode = await main();
