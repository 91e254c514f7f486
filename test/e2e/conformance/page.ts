/** docs/reference/conformance.md, from the records, around the sections that people write there. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { wrapMarkdown } from "../../../scripts/docs/wrap.ts";
import { PLANES, type PlaneName } from "./interface.ts";
import { readNames, readReasons, readRecord, reference, type PlaneRecord } from "./record.ts";

const HEAD = `# Kubernetes' conformance specs

\`npm run test:e2e:conformance -- plain|process|pods\`, which writes this page, runs the specs of Kubernetes' own e2e suite
that are marked \`[Conformance]\`, unchanged, each time on two workers of tools/node: containerd, runc and kubelets in
network namespaces.

- **plain**: etcd, kube-apiserver, kube-controller-manager and kube-scheduler, started by the test with the flags of
  kubeadm, on a network where the API server has routes to nodes and pods.
- **process**: a tenant of \`causeway up --runtime process\` on tools/devcloud: its workers are servers, the API server
  reaches them by the reverse tunnel alone.
- **pods**: a tenant of runtime Pods: its control plane is in a namespace of a service cluster, in pods that a played
  node runs as processes (test/programs); the API server reaches the workers by the reverse tunnel alone.

kube-proxy and CoreDNS are the built-in add-ons in all three. The suite's images are made of Debian's packages and
programs of Kubernetes' module (\`scripts/node/conformance-images.ts\`).

\`--focus RE\` runs the specs that match, \`--missing\` those without a record here, \`--failed\` those that failed,
\`--minutes N\` begins no further spec after that time, \`--at-once N\` (3) says how many run at a time, and \`--load N\` that
a second one waits while the machine's load is N or more. Slow specs run after the others, Serial ones alone and last.
A run that receives SIGTERM begins no further spec, either. \`--hold\` only starts the cluster, and \`--kubeconfig FILE\` runs specs on one that was started so. \`--page\` only writes
the page. A record is replaced when its spec runs again.
`;

type Records = Readonly<Record<PlaneName, PlaneRecord>>;

const file = join(reference, "conformance.md");
/** Where the written sections begin and end. */
const [FIRST, AFTER] = ["## What was run", "## Totals"];

/** Writes the page; what people wrote of the runs remains as it is. */
export function writePage(): void {
  const before = readFileSync(file, "utf8");
  const written = before.slice(before.indexOf(FIRST), before.indexOf(AFTER)).trimEnd();
  writeFileSync(file, wrapMarkdown(page(written)));
}

function page(written: string): string {
  const records = Object.fromEntries(PLANES.map((plane) => [plane, readRecord(plane)])) as Records;
  const reasons = readReasons();
  const known = new Set([...readNames(), ...PLANES.flatMap((plane) => Object.keys(records[plane].specs))]);
  const names = [...known].sort();
  const stateOf = (plane: PlaneName, name: string): string => records[plane].specs[name]?.state ?? "not run";
  const differs = names.filter((name) => {
    const states = PLANES.map((plane) => stateOf(plane, name)).filter((state) => state !== "not run");
    return new Set(states).size > 1;
  });
  const alike = names.filter((name) => !differs.includes(name) && PLANES.some((p) => isFailure(stateOf(p, name))));
  const version = PLANES.map((plane) => records[plane].version).find((text) => text !== "") ?? "";
  const why = (name: string): string => {
    const said = PLANES.map((plane) => records[plane].specs[name]?.failure).find((text) => text !== undefined);
    return reasons[name] ?? (said === undefined ? "" : said.slice(0, 200));
  };
  const row = (name: string): string => {
    const cells = PLANES.map((plane) => cell(records[plane], name));
    return `| ${plain(name.replace(" [Conformance]", ""))} | ${cells.join(" | ")} |`;
  };
  const list = (of: readonly string[]): string[] =>
    of.map(
      (name) => `- ${plain(name)}: ${PLANES.map((p) => `${p} ${stateOf(p, name)}`).join(", ")}. ${plain(why(name))}`,
    );
  return [
    HEAD,
    written,
    "",
    AFTER,
    "",
    `Of the ${names.length} specs of Kubernetes ${version}:`,
    "",
    "| control plane | run | passed | failed | skipped themselves | not run | dates |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...PLANES.map((plane) => totals(plane, records[plane], names)),
    "",
    "## Specs that differ",
    "",
    ...(differs.length === 0 ? ["None."] : list(differs)),
    "",
    "## Specs that fail wherever they ran",
    "",
    ...(alike.length === 0 ? ["None."] : list(alike)),
    "",
    "## All",
    "",
    "The seconds that a spec took, where it passed.",
    "",
    `| spec | ${PLANES.join(" | ")} |`,
    `| --- | ${PLANES.map(() => "---").join(" | ")} |`,
    ...names.map(row),
    "",
  ].join("\n");
}

function isFailure(state: string): boolean {
  return !["passed", "skipped", "not run"].includes(state);
}

function cell({ specs }: PlaneRecord, name: string): string {
  const found = specs[name];
  if (found === undefined) return "not run";
  return found.state === "passed" ? `${found.seconds}` : found.state;
}

function totals(plane: PlaneName, { specs }: PlaneRecord, names: readonly string[]): string {
  const all = Object.values(specs);
  const count = (is: (state: string) => boolean): number => all.filter(({ state }) => is(state)).length;
  const dates = [...new Set(all.map(({ date }) => date))].sort();
  const numbers = [
    all.length,
    count((s) => s === "passed"),
    count(isFailure),
    count((s) => s === "skipped"),
    names.length - all.length,
  ];
  return `| ${plane} | ${numbers.join(" | ")} | ${[...new Set([dates[0], dates.at(-1)])].join(" to ")} |`;
}

/** As text of Markdown. */
function plain(text: string): string {
  return text
    .replaceAll(/[<>|*_`\\]/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}
