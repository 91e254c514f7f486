/**
 * `npm run test:charts`: our Helm charts, linted and rendered by helm. With their own values those of deploy/NAME are exactly the objects of the plain manifests;
 * with all options on each document is valid, too. Builds helm with Go at first, from tools/helm, into the user's cache directory.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseAllDocuments } from "yaml";
import { buildMissing, cached, pinnedVersion, root } from "./kubernetes-programs.ts";

const MODULE = "helm.sh/helm/v3";
/** A helm that is built without its release script takes an old one for the cluster. */
const KUBERNETES = "1.34.0";
const TARGET = ["--namespace", "kube-system", "--kube-version", KUBERNETES];

interface Chart {
  readonly name: string;
  /** The folder below deploy whose manifests are the same objects. */
  readonly plain?: string;
  /** Values without which nothing is rendered. */
  readonly needed?: readonly string[];
  /** Values that turn every option on, and kinds that they add. */
  readonly options: readonly string[];
  readonly kinds: readonly string[];
}

const charts: readonly Chart[] = [
  {
    name: "cloud-controller-manager",
    needed: ["cloudConfig=[Global]"],
    options: ["serviceMonitor.enabled=true", "clusterCIDR=10.244.0.0/16"],
    kinds: ["ServiceMonitor"],
  },
  {
    name: "cinder-csi",
    plain: "cinder-csi",
    options: [
      "storageCapacity=true",
      "pvcAnnotations=true",
      "csi.snapshotter.groupSnapshots=true",
      "secret.create=true",
      "secret.data=[Global]",
      "storageClass.delete.isDefault=true",
      "controllerPlugin.priorityClassName=system-cluster-critical",
      "volumeSnapshotClasses[0].name=snap",
      "volumeGroupSnapshotClasses[0].name=group",
      "volumeGroupSnapshotClasses[0].parameters.group-type=consistent",
    ],
    kinds: ["Secret", "VolumeSnapshotClass", "VolumeGroupSnapshotClass"],
  },
  {
    name: "manila-csi",
    plain: "manila-csi",
    options: [
      "protocol=CEPHFS",
      "topologyAwarenessEnabled=true",
      "runtimeConfig=text",
      "volumeSnapshotClasses[0].name=snap",
    ],
    kinds: ["ConfigMap", "VolumeSnapshotClass"],
  },
];

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

/** What is wrong with the chart. */
function problemsOf(program: string, { name, plain, needed = [], options, kinds }: Chart): readonly string[] {
  const folder = join(root, "deploy/charts", name);
  const set = (values: readonly string[]) => values.flatMap((value) => ["--set", value]);
  const render = (values: readonly string[]) =>
    objectsOf(helm(program, ["template", "release", folder, ...TARGET, ...set(values)]));
  helm(program, ["lint", "--strict", folder, "--kube-version", KUBERNETES, ...set(needed)]);
  const own = render(needed);
  const all = render([...needed, ...options]);
  const missing = kinds.filter((kind) => ![...all.values()].some((each) => each.kind === kind));
  const problems = missing.map((kind) => `no ${kind} with every option on`);
  if (plain === undefined) return problems;
  const files = readdirSync(join(root, "deploy", plain)).filter((file) => file.endsWith(".yaml"));
  const expected = objectsOf(
    files.map((file) => readFileSync(join(root, "deploy", plain, file), "utf8")).join("\n---\n"),
  );
  const names = [...new Set([...own.keys(), ...expected.keys()])];
  const different = names.filter((key) => !isDeepStrictEqual(own.get(key), expected.get(key)));
  return [...problems, ...different.map((key) => `${key} is not as in deploy/${plain}`)];
}

async function main(): Promise<number> {
  const folder = join(root, "tools/helm");
  const program = { name: "helm", source: `${MODULE}/cmd/helm`, flags: "-s -w" };
  const built = await buildMissing([program], folder, cached(`helm-${pinnedVersion(folder, MODULE)}`));
  if ("reason" in built) {
    console.log(`skipped: no helm here: ${built.reason}\n0 passed, 0 failed, ${charts.length} skipped`);
    return 0;
  }
  let failed = 0;
  for (const chart of charts) {
    const problems = problemsOf(join(built.dir, "helm"), chart);
    failed += problems.length > 0 ? 1 : 0;
    console.log([`${chart.name}: ${problems.length === 0 ? "passed" : "failed"}`, ...problems].join("\n  "));
  }
  console.log(`${charts.length - failed} passed, ${failed} failed, 0 skipped`);
  return failed > 0 ? 1 : 0;
}

process.exitCode = await main();
